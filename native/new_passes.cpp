#include "new_passes.hpp"

#include <algorithm>

#include "byte_step.hpp"
#include "inputs.hpp"
#include "tuning.hpp"
#include "verify.hpp"
#include "window_step.hpp"

namespace tenter {
namespace {

template <class F>
void work(bool small, F&& f) {
  if (small) f();
  else without_gil(f);
}

template <class Step>
void run_step(const Step& step, const char* src, char* dst, bool small, int threads, bool stream) {
  const auto source = reinterpret_cast<uintptr_t>(src), target = reinterpret_cast<uintptr_t>(dst);
  if (small) step.run_here(source, target);
  else step.run(source, target, threads, stream);
}

}  // namespace

char* NewPasses::Memory::get(int64_t n) {
  if (n > size) at = room.get(n), size = n;
  return at;
}

bool NewPasses::is_filtered_signal() const {
  for (int k = 0; k < n_dims; ++k)
    if (maps[k] && maps[k]->sampling && maps[k]->sampling->is_filtered_signal()) return true;
  return false;
}

bool NewPasses::prepare() {
  in_bytes_ = f_.in_bytes && std::none_of(maps, maps + n_dims, [](const NewMap* m) { return m && m->map; });
  group();
  for (int p = 0; p < n_passes_; ++p) {
    const Each& each = passes_[p];
    if (each.copies || in_bytes_) continue;
    for (int k = each.first; k < each.first + each.count; ++k) {
      if (f_.in_bytes) maps[k]->use_floats();
      if (each.count > 1 && !maps[k]->make_tables()) return false;
      if (n_windows_ > 1) maps[k]->map->make_tables();
    }
  }
  const bool gathers = std::any_of(maps, maps + n_dims, [](const NewMap* m) { return m && m->gathers(); });
  if (gathers && n_passes_ > 1) return false;
  crop();
  sort();
  if ((gathers || f_.widens()) && !lay_out()) return false;
  packs_ = !passes_[0].copies && !plan(passes_[0], dims, f_.dtype, f_.dtype, first_);
  return true;
}

// Inputs in the order in which maps read them, or as wider values. Axes of which several are laid out go together if
// these are not twice as many as inputs or outputs.
bool NewPasses::lay_out() {
  double given = 1, made = 1, read = 1;
  int mapped = 0;
  std::copy_n(dims, n_dims, given_);
  for (int k = 0; k < n_dims; ++k) {
    if (!maps[k]) continue;
    if (maps[k]->gathers()) orders_[k] = &maps[k]->order, dims[k].n = maps[k]->n_read();
    ++mapped, given *= double(given_[k].n), made *= double(maps[k]->n_out), read *= double(dims[k].n);
  }
  const bool gathers = std::any_of(orders_, orders_ + n_dims, [](const auto* order) { return order; });
  if (gathers && mapped > 1 && read > 2 * std::max(given, made)) return false;
  double bytes = double(itemsize);
  for (int k = 0; k < n_dims; ++k) bytes *= double(dims[k].n);
  set_contiguous(dims, n_dims, itemsize);
  return apart_ = bytes <= double(tuning.planned_bytes);
}

// Copies first, and the last windows together if they are neighbors.
void NewPasses::group() {
  int windows[max_read_dims], together = 1;
  bool copies = false;
  for (int k = 0; k < n_dims; ++k) {
    if (maps[k] && maps[k]->copies()) copies = true;
    else if (maps[k]) windows[n_windows_++] = k;
  }
  const int n = n_windows_;
  if (copies || !n) passes_[n_passes_++] = {true, 0, n_dims};
  if (!n) return;
  for (int some = 2; some <= std::min(n, most_together); ++some)
    if (windows[n - 1] - windows[n - some] == some - 1) together = some;
  for (int k = 0; k < n - together; ++k) passes_[n_passes_++] = {false, windows[k], 1};
  passes_[n_passes_++] = {false, windows[n - together], together};
  if (!f_.in_bytes || n != 2) return;
  const NewMap &row = *maps[windows[0]], &column = *maps[windows[1]];
  rows_first_ = rows_before(row.n_in, row.n_out, column.n_in, column.n_out);
}

// What shrinks most first; 8-bit values in Pillow's order of axes.
void NewPasses::sort() {
  auto cost = [&](const Each& each) {
    int64_t n[most_together], n_out[most_together];
    for (int k = 0; k < each.count; ++k) n[k] = dims[each.first + k].n, n_out[k] = maps[each.first + k]->n_out;
    return pass_cost(n, n_out, each.count);
  };
  Each* const first = passes_ + (n_passes_ && passes_[0].copies);
  Each* const end = passes_ + n_passes_;
  if (end - first < 2) return;
  if (f_.in_bytes && first == passes_) {
    if (!rows_first_) std::reverse(first, end);
    return;
  }
  std::stable_sort(first, end, [&](const Each& a, const Each& b) { return cost(a) < cost(b); });
}

// So that kernels are given what is read alone.
void NewPasses::crop() {
  for (int k = 0; k < n_dims; ++k) {
    if (!maps[k] || maps[k]->copies()) continue;
    const auto [first, n] = maps[k]->crop(dims[k].n);
    src += first * dims[k].stride, dims[k].n = n;
    if (in_bytes_) maps[k]->byte_map.emplace(maps[k]->gathers() ? maps[k]->n_read() : n, std::move(maps[k]->rows));
  }
}

bool NewPasses::plan(const Each& each, const Dim* lying, Dtype in, Dtype out, Tasks& to) const {
  const Pass pass{lying, n_dims, each.first, each.count};
  if (in_bytes_) return byte_pass(pass, rows_first_ && each.count == 2, to.bytes, to.columns);
  Deciding deciding[most_together];
  for (int k = 0; k < each.count; ++k) {
    to.maps[k] = &*maps[each.first + k]->map, deciding[k] = {lying[each.first + k].n, to.maps[k]};
  }
  to.window.in = in, to.window.out = out, to.window.acc = f_.acc;
  to.window.saturate = f_.in_bytes;
  return window_pass(pass, to.maps, deciding, rows_first_ && each.count == 2, to.window, to.n_plane);
}

int64_t NewPasses::size_after(const Each& each) const {
  if (each.copies || in_bytes_) return itemsize;
  return f_.acc == Accumulate::f64 ? 8 : 4;
}

int64_t NewPasses::largest_between(const Dim* some) const {
  int64_t values = 1, most = 0;
  for (int k = 0; k < n_dims; ++k) values *= some[k].n;
  for (int p = 0; p + 1 < n_passes_; ++p) {
    for (int k = 0; k < n_dims; ++k)
      if (passes_[p].has(k, maps[k])) values = values / some[k].n * maps[k]->n_out;
    most = std::max(most, values * size_after(passes_[p]));
  }
  return most;
}

int64_t NewPasses::bytes_between() const {
  const int64_t largest = largest_between(dims);
  int64_t least = largest;  // of one slice
  for (int k = 0; k < n_dims && !maps[k]; ++k) least /= dims[k].n;
  return 2 * std::max(least, std::min(tuning.slice_bytes, largest)) + (packs_ || apart_ ? bytes_of(dims) : 0);
}

int64_t NewPasses::bytes_of(const Dim* some) const {
  int64_t bytes = itemsize;
  for (int k = 0; k < n_dims; ++k) bytes *= some[k].n;
  return bytes;
}

void NewPasses::run(char* to, bool small, int threads, bool stream) {
  const Call call{small, threads, stream};
  Room packed, wide;
  Dim some[max_read_dims];
  std::copy_n(dims, n_dims, some);
  run_slices(some, 0, apart_ ? read(packed, wide, call) : src, to, call);
}

const char* NewPasses::read(Room& packed, Room& wide, const Call& call) {
  const int64_t n = bytes_of(dims) / itemsize;
  char* const room = packed.get(n * given_itemsize);
  work(call.small, [&] { pack(given_, n_dims, given_itemsize, src, room, call.threads, orders_); });
  if (!f_.widens()) return room;
  char* const widened = wide.get(n * itemsize);
  work(call.small, [&] { widen(f_.given, room, reinterpret_cast<double*>(widened), n); });
  return widened;
}

// Leading dims without a map are independent, so they go a few at a time, and what lies between passes stays in cache.
void NewPasses::run_slices(Dim* some, int d, const char* from, char* to, const Call& call) {
  if (maps[d] || largest_between(some) <= tuning.slice_bytes) return run_passes(some, from, to, call);
  const int64_t n = std::exchange(some[d].n, 1),
                step = std::max<int64_t>(1, tuning.slice_bytes / largest_between(some));
  int64_t made = itemsize;
  for (int k = 0; k < n_dims; ++k) made *= maps[k] ? maps[k]->n_out : some[k].n;
  for (int64_t at = 0; at < n; at += step) {
    some[d].n = std::min(step, n - at);
    run_slices(some, d + 1, from + at * some[d].stride, to + at * made, call);
  }
  some[d].n = n;
}

void NewPasses::run_passes(const Dim* given, const char* from, char* to, const Call& call) {
  Dim lying[max_read_dims];
  std::copy_n(given, n_dims, lying);
  Dtype in = f_.dtype;
  for (int p = 0; p < n_passes_; ++p) {
    const Each& each = passes_[p];
    const bool last = p + 1 == n_passes_;
    const Dtype summed = in_bytes_ ? f_.dtype : f_.acc == Accumulate::f64 ? Dtype::f64 : Dtype::f32;
    const Dtype out = last || each.copies ? f_.dtype : summed;
    const int64_t size = last ? itemsize : size_after(each);
    Dim made[max_read_dims];
    int64_t bytes = size;
    for (int k = 0; k < n_dims; ++k) {
      made[k].n = each.has(k, maps[k]) && maps[k] ? maps[k]->n_out : lying[k].n;
      bytes *= made[k].n;
    }
    set_contiguous(made, n_dims, size);
    char* const dst = last ? to : between_[p % 2].get(bytes);
    const Call its{call.small, call.threads, call.stream && last};
    if (each.copies) copy(each, lying, from, dst, its);
    else sum(each, lying, in, out, from, dst, its);
    std::copy_n(made, n_dims, lying);
    from = dst, in = out;
  }
}

void NewPasses::copy(const Each& each, const Dim* lying, const char* from, char* dst, const Call& call) {
  CopyAxis axes[max_read_dims];
  const Picking* computed_by = nullptr;
  int n_copies = 0, computed = -1;
  for (int k = 0; k < n_dims; ++k) n_copies += each.has(k, maps[k]);
  for (int k = 0; k < n_dims; ++k) {
    const Dim& d = lying[k];
    if (!each.has(k, maps[k])) axes[k] = {CopyAxis::affine, d.n, d.n, d.stride, 1, nullptr};
    else axes[k] = copy_axis(*maps[k]->picking, d.stride, n_copies == 1, maps[k]->table);
    if (axes[k].kind == CopyAxis::computed) computed_by = &*maps[k]->picking;
  }
  CopyTask task{};
  copy_pass(itemsize, axes, n_dims, task);
  for (int k = 0; k < task.n_axes; ++k)
    if (task.axis[k].kind == CopyAxis::computed) computed = k;
  task.src = from, task.dst = dst, task.stream = call.stream;
  if constexpr (verifies) verify(task);
  work(call.small, [&] {
    if (computed < 0) kernels().copy(task, call.threads);
    else kernels().picked(task, computed, *computed_by, call.threads);
  });
}

void NewPasses::sum(const Each& each, const Dim* given, Dtype in, Dtype out, const char* from, char* dst,
                    const Call& call) {
  const bool planned = n_passes_ == 1 && !packs_;
  Tasks fresh;
  Tasks& tasks = planned ? first_ : fresh;
  if (!planned && !plan(each, given, in, out, tasks)) {
    const int64_t bytes = bytes_of(given);
    char* const room = packed_.get(bytes);
    work(call.small, [&] { pack(given, n_dims, itemsize, from, room, call.threads); });
    Dim lying[max_read_dims];
    std::copy_n(given, n_dims, lying);
    set_contiguous(lying, n_dims, itemsize);
    tasks = {};
    plan(each, lying, in, out, tasks);
    from = room;
  }
  if (!in_bytes_) {
    const WindowStep step(tasks.window, tasks.n_plane, tasks.maps, each.count);
    return run_step(step, from, dst, call.small, call.threads, call.stream);
  }
  OwnedByteMap* const last = &*maps[each.first + each.count - 1]->byte_map;
  OwnedByteMap* const row = each.count == 2 ? &*maps[each.first]->byte_map : tasks.columns ? nullptr : last;
  const ByteStep step(tasks.bytes, row, tasks.columns ? last : nullptr);
  run_step(step, from, dst, call.small, call.threads, call.stream);
}

}  // namespace tenter
