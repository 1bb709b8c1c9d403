#include "families.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "new_map.hpp"
#include "new_passes.hpp"
#include "results.hpp"
#include "tuning.hpp"

namespace tenter {
namespace {

// A call of a family, which is made once.
class NewCall {
 public:
  NewCall(const Family& family, const ArrayView& from, const Given& given, const Target* target)
      : f_(family),
        from_(from),
        given_(given),
        target_(target),
        ndim_(family.ndim),
        itemsize_(from.dtype->itemsize),
        sum_size_(family.widens() ? 8 : itemsize_),
        sums_(family.sums()),
        reverses_(family.transposed && given.boxes.turned),
        passes_(family) {
    if (!f_.in_parts || !sums_) return;
    sum_size_ = itemsize_ /= 2;  // complex numbers as pairs
    from_.shape[ndim_] = 2, from_.stride[ndim_] = itemsize_;
    ++ndim_;
  }

  // False where Python's code shall plan it, as all of the following that say so.
  bool set_sizes() {
    const Boxes& boxes = given_.boxes;
    std::copy_n(from_.shape, ndim_, shape_);
    for (int k = 0; k < f_.n_axes; ++k) {
      if (boxes.count && boxes.each[k].dim != f_.axes[k].dim) return false;
      shape_[f_.axes[k].dim] = given_.sizes[k];
    }
    for (int d = 0; d < ndim_; ++d)
      if (__builtin_mul_overflow(n_in_, from_.shape[d], &n_in_) || __builtin_mul_overflow(n_out_, shape_[d], &n_out_))
        return false;
    if (n_in_ < 1 || n_out_ < 1 || n_in_ > most_length || n_out_ > tuning.planned_bytes / itemsize_) return false;
    small_ = std::max(n_in_, n_out_) * sum_size_ < tuning.small_bytes;
    return !target_ || target_->takes(shape_, f_.ndim, f_.order);
  }

  PyObject* make(PyObject* x) {
    passes_.n_dims = ndim_, passes_.itemsize = sum_size_, passes_.given_itemsize = itemsize_, passes_.src = from_.data;
    turned_ = sums_ && f_.channels_last && channels_together(from_.shape[f_.order[1]], n_in_, n_out_);
    if (!make_maps() || !passes_.prepare()) return nullptr;
    const int64_t between = passes_.bytes_between() + n_out_ * sum_size_ * (puts_in_order() + f_.widens());
    const bool few = target_ || passes_.takes_little();
    if (between > (few ? tuning.scratch_bytes : tuning.planned_bytes - n_out_ * itemsize_)) return nullptr;
    return result(x, [&](char* to, int threads, bool stream) { run(to, threads, stream); });
  }

 private:
  int placed(int k) const { return k == f_.ndim ? k : f_.order[!turned_ || k == 0 ? k : k + 1 < ndim_ ? k + 1 : 1]; }

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
  bool make_map(int axis, int d) {
    const int64_t n_in = f_.transposed ? shape_[d] : from_.shape[d], n_out = f_.transposed ? from_.shape[d] : shape_[d];
    const Family::Axis& a = f_.axes[axis];
    AxisNumbers by = numbers(axis);
    const Arithmetic how = a.rule->settled(n_in, n_out, call_, by);
    if (by.box && n_out > most_part_outputs) return false;
    if (!a.rule->picks()) {
      if (!made_[axis].make(f_, *a.rule, n_in, n_out, by, how)) return false;
      return f_.outside.kind == OutsideKind::none || made_[axis].weigh(a.weighs, by);
    }
    std::optional<Picking> of = a.rule->picking(n_in, n_out, by, how);
    if (!of) return false;
    return f_.transposed ? made_[axis].make_sums(std::move(*of)) : made_[axis].make_copy(std::move(*of));
  }
  bool make_maps() {
    call_ = axis_call();
    for (int k = 0; k < ndim_; ++k) {
      const int d = placed(k);
      passes_.dims[k] = {from_.shape[d], from_.shape[d] > 1 ? from_.stride[d] : 0};
      for (int a = 0; a < f_.n_axes; ++a) {
        if (f_.axes[a].dim != d) continue;
        if (!make_map(a, d)) return false;
        if (!made_[a].is_identity) passes_.maps[k] = made_ + a;
      }
    }
    return true;
  }

  // Whether a kernel may want more than one thread: asking how many there are costs as much as small work. Kernels of
  // a few taps count 16 bytes a value at most, those of a filter as its weights take.
  bool shares() const {
    return !small_ &&
           (passes_.is_filtered_signal() || f_.in_bytes || std::max(n_in_, n_out_) * 16 >= tuning.parallel_bytes);
  }

  // Fresh memory, or the caller's, that `write` fills: (address, threads, with streaming stores).
  template <class F>
  PyObject* result(PyObject* x, F&& write) {
    const int threads = shares() ? thread_count() : 1;
    if (!threads) return nullptr;
    auto written = [&](char* at, bool past) {
      write(at, threads, past);
      fill_outside(at);
    };
    if (target_) return target_->fill(f_.order, written);
    char* to;
    bool stream;
    Owned y(result_of(x, from_, shape_, f_.ndim, n_out_ * itemsize_, to, stream, f_.order_tuple.get()));
    return y && no_exception([&] { written(to, stream); }) ? y.release() : nullptr;
  }

  // The result's dims as they lie.
  void set_result_dims(Outside::Dim* to) const {
    for (int k = 0; k < f_.ndim; ++k) to[k] = {shape_[f_.order[k]], nullptr};
    for (int a = 0; a < f_.n_axes; ++a)
      for (int k = 0; k < f_.ndim; ++k)
        if (f_.order[k] == f_.axes[a].dim && !made_[a].inside.empty()) to[k].inside = made_[a].inside.data();
  }
  void fill_outside(char* to) const {
    if (f_.outside.kind != OutsideKind::filled) return;
    Outside::Dim dims[max_read_dims];
    set_result_dims(dims);
    work([&] { f_.outside.fill(dims, f_.ndim, from_.dtype->itemsize, to); });
  }

  template <class F>
  void work(F&& f) const {
    if (small_) f();
    else without_gil(f);
  }

  // Whether results are, after they are made: channels, and gradients of axes that were reversed.
  bool puts_in_order() const { return turned_ || reverses_; }

  void run(char* to, int threads, bool stream) {
    const bool added = f_.outside.kind == OutsideKind::added;
    Room held, sums;
    char* const summed = f_.widens() ? sums.get(n_out_ * sum_size_) : to;
    char* const made = puts_in_order() ? held.get(n_out_ * sum_size_) : summed;
    passes_.run(made, small_, threads, stream && !puts_in_order() && !added);
    if (puts_in_order()) put_in_order(made, summed, threads);
    if (!added) return;
    Outside::Dim dims[max_read_dims];
    set_result_dims(dims);
    work([&] { f_.outside.add(dims, f_.ndim, f_.dtype, f_.given, from_.tensor, summed, to); });
  }
  void put_in_order(const char* from, char* to, int threads) const {
    Dim lying[max_read_dims], in_order[max_read_dims];
    for (int k = 0; k < ndim_; ++k) lying[k].n = shape_[placed(k)];
    set_contiguous(lying, ndim_, sum_size_);
    for (int k = 0; k < ndim_; ++k) in_order[k] = lying[!turned_ || k == 0 ? k : k == 1 ? ndim_ - 1 : k - 1];
    for (int k = 0; k < f_.ndim; ++k) {
      if (!reverses_ || !given_.boxes.reverses(f_.order[k])) continue;
      from += (in_order[k].n - 1) * in_order[k].stride, in_order[k].stride *= -1;
    }
    work([&] { pack(in_order, ndim_, sum_size_, from, to, threads); });
  }

  const Family& f_;
  ArrayView from_;
  const Given& given_;
  const Target* target_;  // null for fresh memory
  int ndim_;
  int64_t itemsize_, sum_size_;  // of values, and of those that are summed
  int64_t shape_[max_read_dims], n_in_ = 1, n_out_ = 1;
  bool sums_, reverses_;
  bool small_ = false, turned_ = false;  // turned_: channels last between the passes' dims and the result
  AxisCall call_;
  NewPasses passes_;
  NewMap made_[max_read_dims];
};

}  // namespace

PyObject* Family::run(PyObject* x, const ArrayView& from, const Given& given, const Target* target) const {
  if (given.boxes.count && given.boxes.count != n_axes) return nullptr;
  NewCall call(*this, from, given, target);
  if (!call.set_sizes()) return nullptr;
  return call.make(x);
}

}  // namespace tenter
