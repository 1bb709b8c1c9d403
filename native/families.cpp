#include "families.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "byte_step.hpp"
#include "inputs.hpp"
#include "memory.hpp"
#include "new_map.hpp"
#include "new_picking.hpp"
#include "results.hpp"
#include "window_step.hpp"

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
        src_(from.data),
        reverses_(family.transposed && given.boxes.turned) {
    if (!f_.in_parts || !sums()) return;
    sum_size_ = itemsize_ /= 2;  // complex numbers as pairs
    from_.shape[ndim_] = 2, from_.stride[ndim_] = itemsize_;
    pass_.n_dims = ++ndim_;
  }

  bool sums() const { return f_.transposed || f_.axes[0].formula < 0; }

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
    if (n_in_ < 1 || n_out_ < 1 || n_in_ > most_length || n_out_ > most_bytes / itemsize_) return false;
    small_ = std::max(n_in_, n_out_) * sum_size_ < small_bytes;
    return !target_ || target_->takes(shape_, f_.ndim, f_.order);
  }

  PyObject* sum(PyObject* x) {
    turned_ = f_.channels_last && channels_together(from_.shape[f_.order[1]], n_in_, n_out_);
    if (!make_maps() || !weigh_inputs()) return nullptr;
    const bool gathers = std::any_of(made_, made_ + f_.n_axes, [](const NewMap& m) { return !m.order.empty(); });
    if (f_.in_bytes && !gathers) return sum_bytes(x);
    for (int k = 0; k < pass_.count && f_.in_bytes; ++k) maps_[k]->use_floats(dims_[pass_.first + k].n);
    const bool rows_first = f_.in_bytes && pillow_takes_rows();
    OwnedMap* maps[most_together];
    Deciding deciding[most_together];
    for (int k = 0; k < pass_.count; ++k)
      if (pass_.count > 1 && !maps_[k]->make_tables()) return nullptr;
    crop();
    if (!fits_laid_out()) return nullptr;
    for (int k = 0; k < pass_.count; ++k) {
      maps[k] = &*maps_[k]->map, deciding[k] = {read_along(pass_.first + k), maps[k]};
    }
    WindowTask task{};
    int64_t n_plane = 1;
    task.in = task.out = f_.dtype, task.acc = f_.acc, task.saturate = f_.in_bytes;
    if (!plan([&] { return window_pass(pass_, maps, deciding, rows_first, task, n_plane); })) return nullptr;
    return result(x, [&](char* to, int threads, bool stream) {
      run_step(WindowStep(task, n_plane, maps, pass_.count), to, threads, stream);
    });
  }

  // Of a family whose outputs are inputs. Copies of any form have the same bits.
  PyObject* pick(PyObject* x) {
    std::optional<Picking> picked[most_together];
    std::vector<int64_t> tables[most_together];
    const Picking* computed_by = nullptr;
    CopyAxis axes[max_read_dims];
    for (int k = 0; k < ndim_; ++k) {
      const int d = f_.order[k];
      const int64_t n = from_.shape[d], stride = n > 1 ? from_.stride[d] : 0;
      axes[k] = {CopyAxis::affine, n, n, stride, 1, nullptr};
      for (int a = 0; a < f_.n_axes; ++a) {
        if (f_.axes[a].dim != d) continue;
        const int64_t made = shape_[d];
        if (!(picked[a] = picking(a, n, made))) return nullptr;
        Picking& p = *picked[a];
        if ((p.goes_on() || !p.reads_all()) && made > most_weights) return nullptr;
        if (!p.reads_all()) {
          weights_[a].assign(size_t(made), 0.0);
          std::fill(weights_[a].begin() + p.begin, weights_[a].begin() + p.end, 1.0);
          p.begin = 0, p.end = made;  // the others are filled
        }
        axes[k] = copy_axis(p, f_.axes[a].fold, stride, f_.n_axes == 1, tables[a]);
        if (axes[k].kind == CopyAxis::computed) computed_by = &p;
      }
    }
    CopyTask task{};
    copy_pass(itemsize_, axes, ndim_, task);
    int computed = -1;
    for (int k = 0; k < task.n_axes; ++k)
      if (task.axis[k].kind == CopyAxis::computed) computed = k;
    return result(x, [&](char* to, int threads, bool stream) {
      task.src = from_.data, task.dst = to, task.stream = stream;
      if constexpr (verifies) verify(task);
      work([&] {
        if (computed < 0) kernels().copy(task, threads);
        else kernels().picked(task, computed, *computed_by, threads);
      });
    });
  }

 private:
  int placed(int k) const { return k == f_.ndim ? k : f_.order[!turned_ || k == 0 ? k : k + 1 < ndim_ ? k + 1 : 1]; }

  // Whether PyTorch takes its kernels that compute one formula whatever the axes (tenter._rules.torch_quirks).
  bool direct() const {
    constexpr int64_t few = 128;  // output rows and columns
    const int64_t* const made = f_.transposed ? from_.shape : shape_;
    if (f_.n_axes == 2 && made[f_.axes[0].dim] + made[f_.axes[1].dim] <= few) return true;
    return f_.strides_decide && given_.channels_last;
  }
  std::optional<Picking> picking(int axis, int64_t n, int64_t made) const {
    return NewPicking{n, made, given_.part(axis), scale(axis, n, made), direct()}.make(f_.axes[axis]);
  }
  const Scale* scale(int axis, int64_t n, int64_t made) const {
    const Family::Axis& a = f_.axes[axis];
    return a.follows && !(a.keeps && n == made) ? &given_.scales.of(axis).scale : nullptr;
  }

  // Where what lies outside has a value.
  bool weigh_inputs() {
    for (int a = 0; a < f_.n_axes && f_.outside.kind != Outside::none; ++a) {
      const int64_t n = from_.shape[f_.axes[a].dim], made = shape_[f_.axes[a].dim];
      if (!made_[a].weigh(f_.axes[a], n, made, given_.part(a), scale(a, n, made), weights_[a])) return false;
    }
    return true;
  }
  // The result's dims as they lie.
  void set_result_dims(Outside::Dim* to) const {
    for (int k = 0; k < f_.ndim; ++k) to[k] = {shape_[f_.order[k]], nullptr};
    for (int a = 0; a < f_.n_axes; ++a)
      for (int k = 0; k < f_.ndim; ++k)
        if (f_.order[k] == f_.axes[a].dim && !weights_[a].empty()) to[k].inside = weights_[a].data();
  }

  // Inputs that a map reads, once what it gathers is laid out.
  int64_t read_along(int k) const { return orders_[k] ? int64_t(orders_[k]->size()) : dims_[k].n; }
  // Whether axes whose inputs are laid out go together: these are not twice as many as inputs or outputs.
  bool fits_laid_out() {
    double given = 1, made = 1, read = 1;
    bool some = false;
    for (int k = pass_.first; k < pass_.first + pass_.count; ++k) {
      NewMap& map = *maps_[k - pass_.first];
      if (!map.order.empty()) orders_[k] = &map.order, some = true;
      given *= double(dims_[k].n), made *= double(map.map->map.n_out), read *= double(read_along(k));
    }
    return !some || pass_.count == 1 || read <= 2 * std::max(given, made);
  }

  // So that kernels are given what is read alone.
  void crop() {
    for (int k = 0; k < pass_.count; ++k) {
      Dim& dim = dims_[pass_.first + k];
      const auto [first, n] = maps_[k]->crop(dim.n);
      src_ += first * dim.stride;
      n_in_ = n_in_ / dim.n * n, dim.n = n;
    }
  }

  bool make_map(int axis, int d) {
    const int64_t n_in = f_.transposed ? shape_[d] : from_.shape[d], n_out = f_.transposed ? from_.shape[d] : shape_[d];
    const Family::Axis& a = f_.axes[axis];
    if (a.formula < 0) return made_[axis].make(f_, a, n_in, n_out, given_.part(axis), scale(axis, n_in, n_out));
    std::optional<Picking> of = picking(axis, n_in, n_out);
    return of && made_[axis].make_sums(std::move(*of), a);
  }
  bool make_maps() {
    for (int k = 0; k < ndim_; ++k) {
      const int d = placed(k);
      dims_[k] = {from_.shape[d], from_.shape[d] > 1 ? from_.stride[d] : 0};
      for (int a = 0; a < f_.n_axes; ++a) {
        if (f_.axes[a].dim != d) continue;
        if (!make_map(a, d)) return false;
        if (made_[a].is_identity) continue;
        if (pass_.count == 0) pass_.first = k;
        else if (pass_.first + pass_.count != k) return false;
        maps_[pass_.count++] = made_ + a;
      }
    }
    return pass_.count > 0;
  }

  bool pillow_takes_rows() const {
    const int row = pass_.first, column = row + 1;
    return pass_.count == 2 && rows_before(dims_[row].n, shape_[placed(row)], dims_[column].n, shape_[placed(column)]);
  }

  PyObject* sum_bytes(PyObject* x) {
    if (pass_.count > 2) return nullptr;
    const bool rows_first = pillow_takes_rows();  // of axes that are not cropped
    crop();
    for (int k = 0; k < pass_.count; ++k) {
      maps_[k]->byte_map.emplace(dims_[pass_.first + k].n, std::move(maps_[k]->rows));
    }
    OwnedByteMap* const last = &*maps_[pass_.count - 1]->byte_map;
    OwnedByteMap* row = pass_.count == 2 ? &*maps_[0]->byte_map : nullptr;
    ByteTask task{};
    bool columns = false;
    if (!plan([&] { return byte_pass(pass_, rows_first, task, columns); })) return nullptr;
    if (!columns) row = last;
    return result(x, [&](char* to, int threads, bool stream) {
      run_step(ByteStep(task, row, columns ? last : nullptr), to, threads, stream);
    });
  }

  // by: whether a kernel reads dims_ as they are; else the input is made contiguous for it.
  template <class F>
  bool plan(F&& by) {
    const bool laid_out = std::any_of(orders_, orders_ + ndim_, [](const auto* order) { return order; });
    packs_ = f_.widens() || laid_out || !by();
    if (packs_) {
      std::copy_n(dims_, ndim_, unpacked_);
      n_in_ = 1;
      for (int k = 0; k < ndim_; ++k) n_in_ *= dims_[k].n = read_along(k);
      set_contiguous(dims_, ndim_, sum_size_);
      if (!by()) return false;
    }
    if (packs_ && n_in_ > most_bytes / sum_size_) return false;
    const int64_t between = (n_in_ * packs_ + n_out_ * (puts_in_order() + f_.widens())) * sum_size_;
    const bool few = target_ || laid_out || f_.widens();  // of which Python's code takes some at a time
    return between <= (few ? most_between : most_bytes - n_out_ * itemsize_);
  }

  // Whether a kernel may want more than one thread: asking how many there are costs as much as small work. Kernels of
  // a few taps count 16 bytes a value at most, those of a filter as its weights take.
  bool shares() const {
    const bool filtered = pass_.count && maps_[0]->sampling && maps_[0]->sampling->is_filtered_signal();
    return !small_ && (filtered || f_.in_bytes || std::max(n_in_, n_out_) * 16 >= tuning.parallel_bytes);
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

  void fill_outside(char* to) const {
    if (f_.outside.kind != Outside::filled) return;
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

  // What kernels read: dims_ at src_, or memory that these describe.
  const char* read(Room& packed, Room& wide, int threads) const {
    if (!packs_) return src_;
    char* const room = packed.get(n_in_ * itemsize_);
    work([&] { pack(unpacked_, ndim_, itemsize_, orders_, src_, room, threads); });
    if (!f_.widens()) return room;
    char* const widened = wide.get(n_in_ * sum_size_);
    work([&] { widen(f_.given, room, reinterpret_cast<double*>(widened), n_in_); });
    return widened;
  }

  template <class Step>
  void run_step(const Step& step, char* to, int threads, bool stream) const {
    Room packed, wide, held, sums;
    const char* const src = read(packed, wide, threads);
    char* const summed = f_.widens() ? sums.get(n_out_ * sum_size_) : to;
    char* const dst = puts_in_order() ? held.get(n_out_ * sum_size_) : summed;
    const bool added = f_.outside.kind == Outside::added;
    const auto source = reinterpret_cast<uintptr_t>(src), target = reinterpret_cast<uintptr_t>(dst);
    if (small_) step.run_here(source, target);
    else step.run(source, target, threads, stream && !puts_in_order() && !added);
    if (puts_in_order()) {
      Dim made[max_read_dims], in_order[max_read_dims];
      for (int k = 0; k < ndim_; ++k) made[k].n = shape_[placed(k)];
      set_contiguous(made, ndim_, sum_size_);
      for (int k = 0; k < ndim_; ++k) in_order[k] = made[!turned_ || k == 0 ? k : k == 1 ? ndim_ - 1 : k - 1];
      const char* from = dst;
      for (int k = 0; k < f_.ndim; ++k) {
        if (!reverses_ || !given_.boxes.reverses(f_.order[k])) continue;
        from += (in_order[k].n - 1) * in_order[k].stride, in_order[k].stride *= -1;
      }
      work([&] { pack(in_order, ndim_, sum_size_, nullptr, from, summed, threads); });
    }
    if (!added) return;
    Outside::Dim dims[max_read_dims];
    set_result_dims(dims);
    work([&] { f_.outside.add(dims, f_.ndim, f_.dtype, f_.given, from_.tensor, summed, to); });
  }

  const Family& f_;
  ArrayView from_;
  const Given& given_;
  const Target* target_;  // null for fresh memory
  int ndim_;
  int64_t itemsize_, sum_size_;  // of values, and of those that are summed
  const char* src_;              // of the first input that is read
  bool reverses_;
  int64_t shape_[max_read_dims], n_in_ = 1, n_out_ = 1;
  bool small_ = false, turned_ = false, packs_ = false;  // turned_: channels last between dims_ and the result
  Dim dims_[max_read_dims], unpacked_[max_read_dims];
  Pass pass_{dims_, ndim_, -1, 0};
  const std::vector<int64_t>* orders_[max_read_dims] = {};
  std::vector<double> weights_[most_together];  // of inputs in each output, by axes; empty where that is one
  NewMap made_[most_together];
  NewMap* maps_[most_together];
};

}  // namespace

PyObject* Family::run(PyObject* x, const ArrayView& from, const Given& given, const Target* target) const {
  if (given.boxes.count && given.boxes.count != n_axes) return nullptr;
  NewCall call(*this, from, given, target);
  if (!call.set_sizes()) return nullptr;
  if (from.tensor && holds(x, *from.dtype, from.extent()) != 1) return nullptr;
  return call.sums() ? call.sum(x) : call.pick(x);
}

}  // namespace tenter
