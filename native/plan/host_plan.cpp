#include "plan/host_plan.hpp"

#include <algorithm>
#include <optional>

#include "arrays/array_libraries.hpp"
#include "arrays/results.hpp"
#include "plan/byte_step.hpp"
#include "plan/copy_step.hpp"
#include "plan/byte_taps_step.hpp"
#include "plan/window_step.hpp"
#include "system/memory.hpp"
#include "system/threads.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

// The step that copies dims. Maps of some dims say which inputs to take.
std::unique_ptr<KernelCall> copy_step(const std::vector<MappedDim>& dims, int64_t itemsize) {
  std::vector<CopyAxis> axes;
  axes.reserve(dims.size());
  const bool alone = std::count_if(dims.begin(), dims.end(), [](const MappedDim& d) { return d.map; }) == 1;
  const SourceIndex* source_index = nullptr;
  for (const MappedDim& d : dims) {
    CopyAxis axis{CopyAxis::affine, d.n, d.n, d.stride, 1, nullptr};
    if (d.map) axis = d.map->copy_axis(d.stride, alone);
    if (axis.kind == CopyAxis::computed) source_index = d.map->source_index();
    if constexpr (verifies) verify(axis);
    axes.push_back(axis);
  }
  return std::make_unique<CopyStep>(itemsize, axes.data(), int(axes.size()), source_index);
}

// The step that interpolates 8-bit values in fixed point. of: the dims of the task. row, column: the maps, borrowed.
std::unique_ptr<KernelCall> taps_step(const ByteTask& of, AxisMap* row, AxisMap* column) {
  TapsTask t{};
  t.n_outer = of.n_outer;
  std::copy_n(of.outer_shape, of.n_outer, t.outer_shape), std::copy_n(of.outer_stride, of.n_outer, t.outer_stride);
  t.n_row = of.n_row, t.row_stride = of.row_stride, t.n_column = of.n_column, t.column_stride = of.column_stride;
  t.inner = of.inner, t.inner_stride = of.inner_stride;
  t.rounds_products = row->linear_steps();
  auto axis = [](AxisMap* m) {
    return m->linear_steps() ? TapsAxis(*m->linear_steps(), m->n_in, m->n_out) : TapsAxis(m->sums(true).map);
  };
  return std::make_unique<TapsStep>(t, axis(row), axis(column));
}

}  // namespace

void HostPlan::add(std::unique_ptr<KernelCall> call, const Buffer& source, const Buffer& target,
                   const PlannedPass* pass) {
  steps_.push_back({std::move(call), source.memory, target.memory, source.at, target.at, pass});
}

void HostPlan::use(int memory, int64_t bytes) { use_temporary(temporaries_, memory, bytes, host.alignment); }

void HostPlan::add_before(Passes&& passes) {
  before_ = std::move(passes);
  for (size_t k = 0; k < before_.temporaries.size(); ++k)
    if (before_.temporaries[k]) use(Buffer::temporary + int(k), before_.temporaries[k]);
  for (const std::vector<PlannedPass>* some : {&before_.passes, &before_.after})
    for (const PlannedPass& pass : *some) add_pass(pass, before_);
}

void HostPlan::add(Passes&& passes) {
  passes_ = std::move(passes);
  is_long = is_long || passes_.is_filtered_signal || passes_.rounding == Rounding::integers;
  for (size_t k = 0; k < passes_.temporaries.size(); ++k)
    if (passes_.temporaries[k]) use(Buffer::temporary + int(k), passes_.temporaries[k]);
  const auto add_all = [&](const std::vector<PlannedPass>& some) {
    const size_t begin = steps_.size();
    for (const PlannedPass& pass : some) add_pass(pass, passes_);
    return Range{begin, steps_.size()};
  };
  main_ = add_all(passes_.passes), last_ = add_all(passes_.last);
  add_all(passes_.after);
}

void HostPlan::add_pass(const PlannedPass& pass, const Passes& of) {
  if (pass.copies) return add(copy_step(pass.dims, pass.source.itemsize), pass.source, pass.target, &pass);
  Dim dims[max_axes];
  for (size_t k = 0; k < pass.dims.size(); ++k) dims[k] = {pass.dims[k].n, pass.dims[k].stride};
  if (add_sums(pass, of, pass.source, dims, true)) return;
  std::vector<MappedDim> whole;
  int64_t n = 1;
  for (const MappedDim& d : pass.dims) whole.push_back({d.n, d.stride}), n *= d.n;
  const Buffer packed{pass.spare, 0, pass.source.dtype, pass.source.itemsize};
  use(packed.memory, n * packed.itemsize);
  add(copy_step(whole, packed.itemsize), pass.source, packed, &pass);
  set_contiguous(dims, int(pass.dims.size()), packed.itemsize);
  add_sums(pass, of, packed, dims, false);
}

// Adds the step of a pass that sums. Returns false if the input must be made contiguous first; also, if it `may_pack`,
// where that is faster.
bool HostPlan::add_sums(const PlannedPass& p, const Passes& of, const Buffer& source, const Dim* dims, bool may_pack) {
  const Pass pass{dims, int(p.dims.size()), p.first, p.count};
  const MappedDim* const axes = &p.dims[size_t(p.first)];
  const bool rows_first = of.rows_first && p.count == 2;
  if (of.rounding == Rounding::integers) {
    ByteTask task;
    bool columns;
    if (!byte_pass(pass, rows_first, task, columns)) return false;
    OwnedByteMap* const last = &axes[p.count - 1].map->bytes();
    OwnedByteMap* const row = p.count == 2 ? &axes[0].map->bytes() : columns ? nullptr : last;
    add(std::make_unique<ByteStep>(task, row, columns ? last : nullptr), source, p.target, &p);
    return true;
  }
  if (of.rounding == Rounding::fixed_point && p.count == 2) {
    ByteTask task;
    bool columns;
    if (!byte_pass(pass, false, task, columns)) return false;
    add(taps_step(task, axes[0].map, axes[1].map), source, p.target, &p);
    return true;
  }
  OwnedMap* maps[most_together];
  Deciding deciding[most_together];
  for (int k = 0; k < p.count; ++k) {
    maps[k] = &axes[k].map->sums(p.count > 1);
    if (p.count == 1) continue;
    // The whole of a gather is what it sums after its inputs have been put in order, even if the part needs no order.
    AxisMap* const whole = axes[k].whole ? &axes[k].whole->as_sums() : nullptr;
    deciding[k] = whole ? Deciding(whole->n_spanned(), whole->sums(true)) : Deciding(axes[k].n_deciding(), *maps[k]);
  }
  WindowTask task{};
  task.in = Dtype(source.dtype), task.out = Dtype(p.target.dtype), task.acc = of.acc,
  task.clamps = of.rounding == Rounding::clamped;
  int64_t n_plane;
  if (!window_pass(pass, maps, deciding, rows_first, task, n_plane)) return false;
  const int64_t n_rows = WindowStep::n_rows_of(task, n_plane);
  if (may_pack && decide(Choice::packed, p.count == 1 && packs_rows(task, *maps[0], n_rows))) return false;
  add(std::make_unique<WindowStep>(task, n_plane, maps, p.count), source, p.target, &p);
  return true;
}

void HostPlan::set_result(const int64_t* shape, int ndim, const int* order, int64_t itemsize, int64_t values,
                          int64_t bytes_each) {
  bytes_ = itemsize, values_ = values, bytes_each_ = bytes_each, in_order_ = !order;
  for (int d = 0; d < ndim; ++d) bytes_ *= shape[d];
  if (ndim > max_read_dims) return;
  ndim_ = ndim;
  for (int d = 0; d < ndim; ++d) {
    shape_[d] = shape[d];
    order_[d] = order ? order[d] : d;
  }
}

int64_t HostPlan::scratch() const {
  int64_t bytes = 0;
  for (const int64_t n : temporaries_) bytes += n;
  return bytes;
}

std::vector<const HostPlan::Step*> HostPlan::steps() const {
  std::vector<const Step*> found;
  for (size_t k = 0; k < steps_.size(); ++k)
    if (k < last_.begin || k >= last_.end) found.push_back(&steps_[k]);
  return found;
}

int64_t HostPlan::positions() const {
  int64_t n = 0;
  for (const AxisMap* map : maps_) n += map->positions();
  for (int k = 0; k < n_own_maps_; ++k) n += own_maps_[k]->positions();
  for (const Step& step : steps_) n += step.call->positions();
  return n;
}

// Computed in doubles: the bytes of a broadcast array may exceed int64.
bool HostPlan::small() const {
  return double(values_) * double(bytes_each_) < double(tuning.small_bytes) && scratch() <= tuning.small_bytes;
}

// Asking for the number of threads costs as much as small work. The threshold counts at least 16 bytes per value. Long
// work, as with filters whose weights are computed, always asks.
int HostPlan::threads() const {
  if (small()) return 1;
  const bool shares = is_long || values_ >= tuning.parallel_bytes / std::max<int64_t>(16, bytes_each_);
  return shares ? thread_count() : 1;
}

Outcome HostPlan::run(PyObject* x, const ArrayView& from, const Target* target, bool recorded) const {
  if (ndim_ < 0 || (target && !target->takes(shape_, ndim_, order_))) return Outcome::declined();
  const int n_threads = threads();
  if (!n_threads) return Outcome::failed();
  if (target && target->normalization.each) return run_normalized(x, from, *target, n_threads);
  if (target)
    return target->fill(order_, n_threads, [&](char* to, bool stream) { run(from.data, to, n_threads, stream); });
  Fresh y = result_of(x, from, shape_, ndim_, bytes_, in_order_ ? nullptr : order_, recorded);
  if (y.is_made() && !no_exception([&] { run(from.data, y.data, n_threads, y.stream); })) return Outcome::failed();
  return std::move(y.array);
}

// One step may store its rows as normalized floats. Other results are made first.
Outcome HostPlan::run_normalized(PyObject* x, const ArrayView& from, Target target, int threads) const {
  Owned made_here;
  if (!target.object) {
    ArrayView like = from;
    for (const ArrayDtype& d : torch.dtypes)
      if (d.number == int(Dtype::f32)) like.dtype = &d;
    Fresh y = result_of(x, like, shape_, ndim_, bytes_ / from.dtype->itemsize * like.dtype->itemsize);
    if (!y.is_made()) return std::move(y.array);
    made_here = std::move(y.array).result();
    if (const Reading found = target.read(made_here.get(), from); found != Reading::readable)
      return Outcome::unread(found);
  }
  NormalizeTask task;
  if (!target.float_rows(shape_, ndim_, in_order_ ? nullptr : order_, task.to)) return Outcome::declined();
  const DeferredSignals deferred;
  const bool made = no_exception([&] {
    if (!bytes_) return;
    if (steps_.size() == 1 && steps_[0].target == Buffer::output &&
        steps_[0].call->run_to_floats(reinterpret_cast<uintptr_t>(from.data) + uintptr_t(steps_[0].source_at), task.to,
                                      threads))
      return;
    Room room;
    task.dtype = Dtype(from.dtype->number);
    const bool in_place = task.dtype == Dtype::f32 && !task.to.interleaved;
    char* const to = in_place ? target.view.data : room.get(bytes_);
    run(from.data, to, threads, false);
    task.src = to, task.n_rows = target.view.n_values() / task.to.width();
    run_unlocked(bytes_, [&] { kernels().bytes->normalize(task, threads); });
  });
  return made ? Outcome::done(Owned(Py_NewRef(target.object))) : Outcome::failed();
}

void HostPlan::run(const char* from, char* to, int threads, bool stream) const {
  run_steps(from, to, small() ? 0 : threads, stream);
}

void HostPlan::run_here(const char* from, char* to) const { run_steps(from, to, 0, false); }

bool HostPlan::any_thread() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.call->any_thread(); });
}

const WindowStep* HostPlan::only_rows() const {
  const auto* const step = steps_.size() == 1 ? dynamic_cast<const WindowStep*>(steps_[0].call.get()) : nullptr;
  return step && step->makes_rows() ? step : nullptr;
}

void HostPlan::run_steps(const char* from, char* to, int threads, bool stream) const {
  uintptr_t memories[Buffer::filtered + 1];
  memories[Buffer::input] = reinterpret_cast<uintptr_t>(from),
  memories[Buffer::output] = reinterpret_cast<uintptr_t>(to);
  Lease lease;
  Room room;
  if (const int64_t bytes = scratch()) {
    char* at = small() ? lease->staging.get<char>(bytes) : room.get(bytes);
    for (size_t k = 0; k < temporaries_.size(); at += temporaries_[k++])
      memories[Buffer::temporary + k] = reinterpret_cast<uintptr_t>(at);
  }
  stream = stream && !reads_result;
  run_range({0, main_.begin}, memories, threads, stream);
  const Chunks& chunks = passes_.chunks;
  int64_t n_loops = 1;
  for (const Chunks::Loop& loop : chunks.loops) n_loops *= loop.n;
  const uintptr_t source = memories[chunks.source], target = memories[chunks.target];
  std::optional<Polling> polling;  // a chunk may be too short for the loops of its kernels to poll
  if (interrupted && threads) polling.emplace();
  for (int64_t i = 0; i < n_loops; ++i) {
    int64_t source_at = 0, target_at = 0, index = i;
    for (size_t k = chunks.loops.size(); k-- > 0; index /= chunks.loops[k].n) {
      const Chunks::Loop& loop = chunks.loops[k];
      source_at += index % loop.n * loop.source_step, target_at += index % loop.n * loop.target_step;
    }
    for (int64_t at = 0; at < chunks.n; at += chunks.each) {
      memories[chunks.source] = source + uintptr_t(source_at + at * chunks.source_step);
      memories[chunks.target] = target + uintptr_t(target_at + at * chunks.target_step);
      run_range(chunks.n - at < chunks.each ? last_ : main_, memories, threads, stream);
      if (polling && polling->due() && interrupted()) throw Interrupted();
    }
  }
  memories[chunks.source] = source, memories[chunks.target] = target;
  run_range({last_.end, steps_.size()}, memories, threads, stream);
}

void HostPlan::run_range(const Range& range, const uintptr_t* memories, int threads, bool stream) const {
  for (size_t k = range.begin; k < range.end; ++k) {
    const Step& step = steps_[k];
    const uintptr_t source = memories[step.source] + uintptr_t(step.source_at),
                    target = memories[step.target] + uintptr_t(step.target_at);
    if (!threads) step.call->run_here(source, target);
    else step.call->run(source, target, threads, stream && step.target == Buffer::output);
    if (tuning.notes_kernels) tuning.ran |= int64_t(1) << int(step.call->kernel());
  }
}

}  // namespace tenter
