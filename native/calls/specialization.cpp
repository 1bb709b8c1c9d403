#include "calls/specialization.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "arrays/results.hpp"
#include "maps/ruled_axis.hpp"
#include "plan/copy_step.hpp"
#include "plan/host_plan.hpp"
#include "plan/inputs.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// A step that converts integers to float64, in which they are summed.
struct WidenStep final : KernelCall {
  Dtype from;
  int64_t n;

  WidenStep(Dtype from, int64_t n) : from(from), n(n) {}
  void run_here(uintptr_t src, uintptr_t dst) const override {
    widen(from, reinterpret_cast<const char*>(src), reinterpret_cast<double*>(dst), n);
  }
  void run(uintptr_t src, uintptr_t dst, int, bool) const override {
    without_gil([&] { run_here(src, dst); });
  }
  Kernel kernel() const override { return Kernel::widen; }
  Work work() const override { return {.bytes = double(n * (size_of(from) + 8))}; }
};

// A step that puts the fill value into a result, or adds it to the sums.
//   dims, inside  dims of the result from slowest to fastest in memory; `inside` owns the weights that dims point to
//   sums, dtype   of the sums and of the result
struct FillValueStep final : KernelCall {
  const FillValue fill;
  int n_dims;
  FillValue::ResultDim dims[max_read_dims];
  std::vector<double> inside[max_read_dims];
  Dtype sums, dtype;
  int64_t itemsize;
  bool is_complex;

  explicit FillValueStep(const FillValue& of) : fill(of) {}
  void run_here(uintptr_t src, uintptr_t dst) const override {
    if (fill.kind == FillKind::filled) return fill.fill(dims, n_dims, itemsize, reinterpret_cast<char*>(dst));
    fill.add(dims, n_dims, sums, dtype, is_complex, reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst));
  }
  void run(uintptr_t src, uintptr_t dst, int, bool) const override {
    without_gil([&] { run_here(src, dst); });
  }
  Kernel kernel() const override { return Kernel::fill_value; }
  Work work() const override {
    double bytes = double(itemsize + (fill.kind == FillKind::filled ? 0 : size_of(sums)));
    for (int d = 0; d < n_dims; ++d) bytes *= double(dims[d].n);
    return {.bytes = bytes};
  }
};

// Whether x has PyTorch's channels-last layout and more than three channels, as
// tenter._specs.interpolate_arguments._channels_last decides.
bool is_channels_last(const ArrayView& x) {
  if (x.shape[1] <= 3) return false;
  int64_t step = x.dtype->itemsize;
  auto is_next = [&](int d) {
    const bool found = x.shape[d] == 1 || x.stride[d] == step;
    return step *= x.shape[d], found;
  };
  bool found = is_next(1);
  for (int d = x.ndim - 1; d > 1; --d) found = is_next(d) && found;
  return is_next(0) && found;
}

struct Declined {};  // thrown where Python must plan the call

// Makes the plan of one call: first the maps of its axes, then their passes.
class SpecializedPlan {
 public:
  SpecializedPlan(const Specialization& specialization, const ArrayView& from, const DynamicArguments& dynamic,
                  const Target* target)
      : f_(specialization), from_(from), dynamic_(dynamic), target_(target) {}

  // Here and below, false or null means that Python must plan the call.
  bool set_sizes() {
    const Boxes& boxes = dynamic_.boxes;
    std::copy_n(from_.shape, f_.ndim, shape_);
    for (int k = 0; k < f_.n_axes; ++k) {
      if (boxes.count && boxes.each[k].dim != f_.axes[k].dim) return false;
      shape_[f_.axes[k].dim] = dynamic_.sizes[k];
    }
    for (int d = 0; d < f_.ndim; ++d)
      if (__builtin_mul_overflow(n_in_, from_.shape[d], &n_in_) || __builtin_mul_overflow(n_out_, shape_[d], &n_out_))
        return false;
    if (n_in_ < 1 || n_out_ < 1 || n_in_ > most_length) return false;
    if (n_out_ > most_planned_bytes() / from_.dtype->itemsize) return false;
    return !target_ || target_->takes(shape_, f_.ndim, f_.order);
  }

  std::unique_ptr<HostPlan> plan() {
    const int64_t itemsize = f_.widens() ? 8 : from_.dtype->itemsize;  // bytes of a value that is summed or copied
    PlannedArray x{{}, int(f_.dtype), itemsize, f_.is_complex, f_.rounding};
    if (!make_dims(x.dims)) return nullptr;
    auto made = std::make_unique<HostPlan>();
    int source = Buffer::input, target = Buffer::output;
    if (f_.widens()) source = widened(x, *made), target = Buffer::sums;
    if (f_.sums_apart()) target = Buffer::sums;
    if (reverses()) target = Buffer::packed;
    const int64_t size = f_.sums_apart() ? (f_.is_complex ? 8 : 4) : itemsize;  // sums of 16-bit floats are float32
    if (target != Buffer::output) made->use(target, n_out_ * size);
    try {
      made->add(plan_passes(std::move(x), host, source, target, [](double bytes) {
        if (bytes > double(tuning.table_bytes)) throw Declined();
      }));
    } catch (const Declined&) { return nullptr; }
    if (reverses()) add_reversed(*made);
    if (f_.fill.kind != FillKind::none) add_fill_value(target, *made);
    const bool few = f_.widens() || f_.sums_apart();  // Python converts the input one chunk at a time
    const int64_t most = few ? tuning.scratch_bytes : most_planned_bytes() - n_out_ * from_.dtype->itemsize;
    if (made->scratch() > most) return nullptr;
    made->set_result(shape_, f_.ndim, f_.in_order ? nullptr : f_.order, from_.dtype->itemsize, std::max(n_in_, n_out_),
                     itemsize);
    for (int a = 0; a < f_.n_axes; ++a)
      if (axes_[a].map) made->keep(std::move(axes_[a].map));
    return made;
  }

 private:
  AxisNumbers numbers(int axis) const {
    return {f_.axes[axis].follows ? &dynamic_.scales.of(axis).scale : nullptr, dynamic_.box(axis)};
  }
  // For gradients, the numbers of the forward call: both must use the same formulas.
  AxisCall axis_call() const {
    const int64_t* const made = f_.transposed ? from_.shape : shape_;
    AxisCall call{.n_axes = f_.n_axes,
                  .sum_of_sizes = 0,
                  .keeps_lengths = true,
                  .channels_last = f_.strides_decide && dynamic_.channels_last,
                  .doubles = f_.doubles,
                  .rounding = f_.rounding,
                  .bytes = f_.dtype == Dtype::u8 && !f_.transposed};
    for (int a = 0; a < f_.n_axes; ++a) {
      const int d = f_.axes[a].dim;
      call.sum_of_sizes += double(made[d]), call.keeps_lengths = call.keeps_lengths && shape_[d] == from_.shape[d];
    }
    return call;
  }
  bool make_map(int axis, const AxisCall& call) {
    const Specialization::Axis& a = f_.axes[axis];
    int64_t n_in = from_.shape[a.dim], n_out = shape_[a.dim];
    if (f_.transposed) std::swap(n_in, n_out);
    AxisNumbers by = numbers(axis);
    const Arithmetic how = a.rule->settled(n_in, n_out, call, by);
    if (by.box && n_out > most_part_outputs) return false;
    const AxisSums sums{f_.dtype, f_.transposed, f_.fill.kind == FillKind::filled};
    if (!axes_[axis].make(sums, *a.rule, n_in, n_out, by, how)) return false;
    return a.rule->is_nearest() || f_.fill.kind == FillKind::none || axes_[axis].add_weights(a.weight_rule, by);
  }
  bool make_dims(std::vector<MappedDim>& to) {
    const AxisCall call = axis_call();
    to.reserve(size_t(f_.ndim) + 1);  // one more for the parts of complex numbers
    for (int k = 0; k < f_.ndim; ++k) {
      const int d = f_.order[k];
      to.push_back({from_.shape[d], from_.shape[d] > 1 ? from_.stride[d] : 0});
      for (int a = 0; a < f_.n_axes; ++a) {
        if (f_.axes[a].dim != d) continue;
        if (!make_map(a, call)) return false;
        to.back().map = axes_[a].map.get();
      }
    }
    return true;
  }

  // Adds steps that convert the input to contiguous float64, and returns that memory.
  int widened(PlannedArray& x, HostPlan& to) const {
    const int64_t itemsize = from_.dtype->itemsize;
    std::vector<CopyAxis> axes;
    int64_t step = itemsize;
    bool contiguous = true;
    for (size_t k = x.dims.size(); k-- > 0; step *= x.dims[k].n)
      contiguous = contiguous && (x.dims[k].n == 1 || x.dims[k].stride == step);
    for (const MappedDim& d : x.dims) axes.push_back({CopyAxis::affine, d.n, d.n, d.stride, 1, nullptr});
    Buffer source{Buffer::input, 0, int(f_.input), itemsize};
    if (!contiguous) {
      const Buffer packed{Buffer::packed, 0, int(f_.input), itemsize};
      to.use(packed.memory, n_in_ * itemsize);
      to.add(std::make_unique<CopyStep>(itemsize, axes.data(), int(axes.size()), nullptr), source, packed);
      source = packed;
    }
    to.use(Buffer::widened, n_in_ * x.itemsize);
    to.add(std::make_unique<WidenStep>(f_.input, n_in_), source, {Buffer::widened, 0, x.dtype, x.itemsize});
    step = x.itemsize;
    for (size_t k = x.dims.size(); k-- > 0; step *= x.dims[k].n) x.dims[k].stride = step;
    return Buffer::widened;
  }

  // Whether the plan computes gradients of axes that were flipped: a last step then flips the result.
  bool reverses() const { return f_.transposed && dynamic_.boxes.flipped && f_.sums(); }
  void add_reversed(HostPlan& to) const {
    const int64_t itemsize = from_.dtype->itemsize;
    CopyAxis axes[max_read_dims];
    Buffer source{Buffer::packed, 0, -1, itemsize};
    int64_t step = itemsize;
    for (int k = f_.ndim - 1; k >= 0; --k) {
      const int64_t n = shape_[f_.order[k]];
      axes[k] = {CopyAxis::affine, n, n, step, 1, nullptr};
      if (dynamic_.boxes.flips(f_.order[k])) source.at += (n - 1) * step, axes[k].stride = -step;
      step *= n;
    }
    to.add(std::make_unique<CopyStep>(itemsize, axes, f_.ndim, nullptr), source, {Buffer::output, 0, -1, itemsize});
  }

  void add_fill_value(int sums, HostPlan& to) {
    auto step = std::make_unique<FillValueStep>(f_.fill);
    step->n_dims = f_.ndim, step->sums = f_.sums_apart() ? Dtype::f32 : f_.dtype, step->dtype = f_.input;
    step->is_complex = f_.is_complex;
    step->itemsize = from_.dtype->itemsize;
    for (int k = 0; k < f_.ndim; ++k) {
      step->dims[k] = {shape_[f_.order[k]], nullptr, f_.order[k]};
      for (int a = 0; a < f_.n_axes; ++a)
        if (f_.order[k] == f_.axes[a].dim) step->inside[k] = std::move(axes_[a].inside);
      if (!step->inside[k].empty()) step->dims[k].inside = step->inside[k].data();
    }
    to.reads_result = f_.fill.kind == FillKind::added && sums == Buffer::output;
    to.add(std::move(step), {sums, 0, int(f_.dtype), 0}, {Buffer::output, 0, int(f_.input), 0});
  }

  const Specialization& f_;
  const ArrayView& from_;
  const DynamicArguments& dynamic_;
  const Target* target_;  // null for fresh memory
  int64_t shape_[max_read_dims], n_in_ = 1, n_out_ = 1;
  RuledAxis axes_[max_read_dims];
};

}  // namespace

bool Specialization::read(PyObject* size, const ArrayView& x, DynamicArguments& dynamic) const {
  if (strides_decide) dynamic.channels_last = is_channels_last(x);
  if (!dynamic.scales.count && !dynamic.read_sizes(size, n_axes)) return false;
  if (!by_dims) {
    const DynamicArguments by_call = dynamic;
    for (int k = 0; k < n_axes; ++k) {
      dynamic.sizes[k] = by_call.sizes[axes[k].at];
      if (dynamic.scales.count > 1) dynamic.scales.each[k] = by_call.scales.each[axes[k].at];
    }
  }
  if (!dynamic.scales.count && policy == Policy::stretch) return true;
  int64_t lengths[max_read_dims];
  for (int k = 0; k < n_axes; ++k) lengths[k] = x.shape[axes[k].dim];
  if (!dynamic.scales.count) return dynamic.fit_sizes(lengths, n_axes, policy);
  return dynamic.round_sizes(lengths, n_axes, length_rounding);
}

std::unique_ptr<HostPlan> Specialization::plan(const ArrayView& from, const DynamicArguments& dynamic,
                                               const Target* target) const {
  if (dynamic.boxes.count && dynamic.boxes.count != n_axes) return nullptr;
  if (ndim + is_complex > max_read_dims) return nullptr;  // the parts of complex numbers are a dim
  SpecializedPlan call(*this, from, dynamic, target);
  return call.set_sizes() ? call.plan() : nullptr;
}

}  // namespace tenter
