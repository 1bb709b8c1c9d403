#include "families.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "copy_step.hpp"
#include "host_plan.hpp"
#include "inputs.hpp"
#include "results.hpp"
#include "ruled_axis.hpp"
#include "tuning.hpp"

namespace tenter {
namespace {

// Integers as float64, in which they are summed.
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
  const char* name() const override { return "widen"; }
};

// What is past the edges, put into a result or added to its sums.
struct OutsideStep final : KernelCall {
  const Outside outside;
  int n_dims;
  Outside::Dim dims[max_read_dims];
  std::vector<double> inside[max_read_dims];  // by the dims in memory
  Dtype sums, dtype;
  int64_t itemsize;
  bool tensor;

  explicit OutsideStep(const Outside& of) : outside(of) {}
  void run_here(uintptr_t src, uintptr_t dst) const override {
    if (outside.kind == OutsideKind::filled) return outside.fill(dims, n_dims, itemsize, reinterpret_cast<char*>(dst));
    outside.add(dims, n_dims, sums, dtype, tensor, reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst));
  }
  void run(uintptr_t src, uintptr_t dst, int, bool) const override {
    without_gil([&] { run_here(src, dst); });
  }
  const char* name() const override { return "outside"; }
};

struct Declined {};

// A call of a family: its maps, and the plan for its array.
class NewCall {
 public:
  NewCall(const Family& family, const ArrayView& from, const Given& given, const Target* target)
      : f_(family), from_(from), given_(given), target_(target) {}

  // False where Python's code shall plan it, as all of the following that say so.
  bool set_sizes() {
    const Boxes& boxes = given_.boxes;
    std::copy_n(from_.shape, f_.ndim, shape_);
    for (int k = 0; k < f_.n_axes; ++k) {
      if (boxes.count && boxes.each[k].dim != f_.axes[k].dim) return false;
      shape_[f_.axes[k].dim] = given_.sizes[k];
    }
    for (int d = 0; d < f_.ndim; ++d)
      if (__builtin_mul_overflow(n_in_, from_.shape[d], &n_in_) || __builtin_mul_overflow(n_out_, shape_[d], &n_out_))
        return false;
    if (n_in_ < 1 || n_out_ < 1 || n_in_ > most_length) return false;
    if (n_out_ > most_planned_bytes() / from_.dtype->itemsize) return false;
    return !target_ || target_->takes(shape_, f_.ndim, f_.order);
  }

  std::unique_ptr<HostPlan> plan() {
    const int64_t itemsize = f_.widens() ? 8 : from_.dtype->itemsize;  // of what is summed or copied
    PlannedArray x{{}, int(f_.dtype), itemsize, f_.in_parts, f_.in_bytes};
    if (!make_dims(x.dims)) return nullptr;
    auto made = std::make_unique<HostPlan>();
    int source = Buffer::input, target = Buffer::output;
    if (f_.widens()) source = widened(x, *made), target = Buffer::sums;
    if (reverses()) target = Buffer::packed;
    if (target != Buffer::output) made->use(target, n_out_ * itemsize);
    try {
      made->add(plan_passes(std::move(x), host, source, target, [](double bytes) {
        if (bytes > double(tuning.table_bytes)) throw Declined();
      }));
    } catch (const Declined&) { return nullptr; }
    if (reverses()) add_reversed(*made);
    if (f_.outside.kind != OutsideKind::none) add_outside(target, *made);
    const bool few = target_ || f_.widens();  // Python's code widens some of the input at a time
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
    return {f_.axes[axis].follows ? &given_.scales.of(axis).scale : nullptr, given_.part(axis)};
  }
  // Gradients are made by the rules of what they are gradients of.
  AxisCall axis_call() const {
    const int64_t* const made = f_.transposed ? from_.shape : shape_;
    AxisCall call{f_.n_axes, 0, false, f_.strides_decide && given_.channels_last, f_.doubles, false, f_.in_bytes};
    for (int a = 0; a < f_.n_axes; ++a) call.sum_of_sizes += double(made[f_.axes[a].dim]);
    return call;
  }
  bool make_map(int axis, const AxisCall& call) {
    const Family::Axis& a = f_.axes[axis];
    int64_t n_in = from_.shape[a.dim], n_out = shape_[a.dim];
    if (f_.transposed) std::swap(n_in, n_out);
    AxisNumbers by = numbers(axis);
    const Arithmetic how = a.rule->settled(n_in, n_out, call, by);
    if (by.box && n_out > most_part_outputs) return false;
    if (!axes_[axis].make({f_.dtype, f_.in_bytes, f_.transposed}, *a.rule, n_in, n_out, by, how)) return false;
    return a.rule->picks() || f_.outside.kind == OutsideKind::none || axes_[axis].weigh(a.weighs, by);
  }
  bool make_dims(std::vector<MappedDim>& to) {
    const AxisCall call = axis_call();
    to.reserve(size_t(f_.ndim) + 1);  // and the parts of complex numbers
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

  // The input in float64, in memory of its own.
  int widened(PlannedArray& x, HostPlan& to) const {
    const int64_t given = from_.dtype->itemsize;
    std::vector<CopyAxis> axes;
    int64_t step = given;
    bool contiguous = true;
    for (size_t k = x.dims.size(); k-- > 0; step *= x.dims[k].n)
      contiguous = contiguous && (x.dims[k].n == 1 || x.dims[k].stride == step);
    for (const MappedDim& d : x.dims) axes.push_back({CopyAxis::affine, d.n, d.n, d.stride, 1, nullptr});
    Buffer source{Buffer::input, 0, int(f_.given), given};
    if (!contiguous) {
      const Buffer packed{Buffer::packed, 0, int(f_.given), given};
      to.use(packed.memory, n_in_ * given);
      to.add(std::make_unique<CopyStep>(given, axes.data(), int(axes.size()), nullptr), source, packed);
      source = packed;
    }
    to.use(Buffer::widened, n_in_ * x.itemsize);
    to.add(std::make_unique<WidenStep>(f_.given, n_in_), source, {Buffer::widened, 0, x.dtype, x.itemsize});
    step = x.itemsize;
    for (size_t k = x.dims.size(); k-- > 0; step *= x.dims[k].n) x.dims[k].stride = step;
    return Buffer::widened;
  }

  // Whether gradients are of axes that were reversed.
  bool reverses() const { return f_.transposed && given_.boxes.turned && f_.sums(); }
  void add_reversed(HostPlan& to) const {
    const int64_t itemsize = from_.dtype->itemsize;
    CopyAxis axes[max_read_dims];
    Buffer source{Buffer::packed, 0, -1, itemsize};
    int64_t step = itemsize;
    for (int k = f_.ndim - 1; k >= 0; --k) {
      const int64_t n = shape_[f_.order[k]];
      axes[k] = {CopyAxis::affine, n, n, step, 1, nullptr};
      if (given_.boxes.reverses(f_.order[k])) source.at += (n - 1) * step, axes[k].stride = -step;
      step *= n;
    }
    to.add(std::make_unique<CopyStep>(itemsize, axes, f_.ndim, nullptr), source, {Buffer::output, 0, -1, itemsize});
  }

  void add_outside(int sums, HostPlan& to) {
    auto step = std::make_unique<OutsideStep>(f_.outside);
    step->n_dims = f_.ndim, step->sums = f_.dtype, step->dtype = f_.given, step->tensor = from_.tensor;
    step->itemsize = from_.dtype->itemsize;
    for (int k = 0; k < f_.ndim; ++k) {
      step->dims[k] = {shape_[f_.order[k]], nullptr};
      for (int a = 0; a < f_.n_axes; ++a)
        if (f_.order[k] == f_.axes[a].dim) step->inside[k] = std::move(axes_[a].inside);
      if (!step->inside[k].empty()) step->dims[k].inside = step->inside[k].data();
    }
    to.reads_result = f_.outside.kind == OutsideKind::added && sums == Buffer::output;
    to.add(std::move(step), {sums, 0, int(f_.dtype), 0}, {Buffer::output, 0, int(f_.given), 0});
  }

  const Family& f_;
  const ArrayView& from_;
  const Given& given_;
  const Target* target_;  // null for fresh memory
  int64_t shape_[max_read_dims], n_in_ = 1, n_out_ = 1;
  RuledAxis axes_[max_read_dims];
};

}  // namespace

std::unique_ptr<HostPlan> Family::plan(const ArrayView& from, const Given& given, const Target* target) const {
  if (given.boxes.count && given.boxes.count != n_axes) return nullptr;
  NewCall call(*this, from, given, target);
  return call.set_sizes() ? call.plan() : nullptr;
}

}  // namespace tenter
