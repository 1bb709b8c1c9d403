#include "calls/repeat_by_ints.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "arrays/array_libraries.hpp"
#include "arrays/results.hpp"
#include "calls/call_key.hpp"
#include "calls/recorded_calls.hpp"
#include "plan/host_plan.hpp"
#include "plan/passes.hpp"
#include "rules/verify.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

bool read_times(PyObject* x, int64_t& to) { return exact_int(x, to) && to >= 1; }

// Reads the arguments of repeat_interleave. dim: None to flatten x.
bool read_each(PyObject* times, PyObject* dim, ArrayView& x, Repeats& to) {
  int64_t given = 0, at = 0;
  if (!read_times(times, given) || x.ndim < 1) return false;
  if (dim == Py_None) {
    if (!x.contiguous()) return false;
    x.shape[0] = x.n_values(), x.stride[0] = x.dtype->itemsize, x.ndim = 1;
  } else if (!exact_int(dim, at) || at < -x.ndim || at >= x.ndim) {
    return false;
  }
  to.ndim = x.ndim, to.each = true;
  std::fill_n(to.times, to.ndim, 1);
  to.times[at < 0 ? at + x.ndim : at] = given;
  return true;
}

// Reads the arguments of repeat and tile: one int for each dim. With more ints, dims of length 1 are put in front of x.
bool read_all(PyObject* const* args, Py_ssize_t n, bool may_be_fewer, ArrayView& x, Repeats& to) {
  const Sequence alone(args[0]);
  const bool one = n == 1 && alone.size() >= 0;
  const Py_ssize_t given = one ? alone.size() : n;
  if (given > max_read_dims || (given < x.ndim && !may_be_fewer)) return false;
  const int front = std::max(0, int(given) - x.ndim);
  to.ndim = x.ndim + front, to.each = false;
  if (front) {
    std::copy_backward(x.shape, x.shape + x.ndim, x.shape + to.ndim);
    std::copy_backward(x.stride, x.stride + x.ndim, x.stride + to.ndim);
    std::fill_n(x.shape, front, 1), std::fill_n(x.stride, front, 0);
    x.ndim = to.ndim;
  }
  std::fill_n(to.times, to.ndim, 1);
  for (int k = 0; k < given; ++k)
    if (!read_times(one ? alone[k] : args[k], to.times[to.ndim - int(given) + k])) return false;
  return to.ndim > 0;
}

// Returns false where Python must plan or refuse the call.
bool read(const CoreCall& call, Repeats& to) {
  ArrayView from = call.from;
  if (call.n < 1 || from.device != on_cpu) return false;
  if (call.names->has(Argument::repeats)) {
    if (call.find(Argument::output_size) != Py_None) return false;
    if (!read_each(call.find(Argument::repeats), call.find(Argument::dim), from, to)) return false;
  } else {
    const bool may_be_fewer = call.names->has(Argument::dims);
    const Py_ssize_t first = call.names->at(may_be_fewer ? Argument::dims : Argument::sizes);
    if (call.n <= first || !read_all(call.args + first, call.n - first, may_be_fewer, from, to)) return false;
  }
  int64_t n_out = 1;
  for (int d = 0; d < to.ndim; ++d) {
    to.shape[d] = from.shape[d], to.stride[d] = from.shape[d] > 1 ? from.stride[d] : 0;
    if (__builtin_mul_overflow(to.shape[d], to.times[d], to.shape_out + d)) return false;
    if (__builtin_mul_overflow(n_out, to.shape_out[d], &n_out)) return false;
  }
  if (n_out < 1 || n_out > most_planned_bytes() / from.dtype->itemsize) return false;
  to.bytes_out = n_out * from.dtype->itemsize;
  return true;
}

void set_copy(const Repeats& by, int64_t itemsize, CopyTask& task) {
  CopyAxis axes[2 * max_read_dims];
  int n_axes = 0;
  for (int d = 0; d < by.ndim; ++d) {
    const int64_t n = by.shape[d], times = by.times[d];
    if (by.each && times > 1 && n > 1) {
      axes[n_axes++] = {CopyAxis::every, n, n * times, by.stride[d], times, nullptr};
    } else {
      if (times > 1) axes[n_axes++] = {CopyAxis::affine, times, times, 0, 1, nullptr};
      axes[n_axes++] = {CopyAxis::affine, n, n, by.stride[d], 1, nullptr};
    }
  }
  copy_pass(itemsize, axes, n_axes, task);
}

// Runs a repeat without a plan.
Outcome copied(PyObject* x, const ArrayView& from, const Repeats& by, const Target* target) {
  CopyTask task{};
  set_copy(by, from.dtype->itemsize, task);
  task.src = from.data;
  return make_result(x, from, by.shape_out, by.ndim, target, [&](char* to, int threads, bool stream) {
    task.dst = to, task.stream = stream;
    if constexpr (verifies) verify(task);
    kernels().copy(task, threads);
  });
}

// The plan of a repeat.
std::unique_ptr<HostPlan> copies_of(const ArrayView& from, const Repeats& by) {
  auto made = std::make_unique<HostPlan>();
  const int64_t itemsize = from.dtype->itemsize;
  PlannedArray x{{}, -1, itemsize, false, Rounding::once};
  int64_t n_in = 1;
  for (int d = 0; d < by.ndim; ++d) {
    const int64_t n = by.shape[d], times = by.times[d];
    n_in *= n;
    if (times > 1) {
      auto map = std::make_unique<AxisMap>();
      map->set_repeat(by.each ? n : 1, times);
      x.dims.push_back({map->n_in, by.each ? by.stride[d] : 0, map.get()});
      made->keep(std::move(map));
      if (by.each) continue;
    }
    x.dims.push_back({n, by.stride[d]});
  }
  made->add(plan_passes(std::move(x), host, Buffer::input, Buffer::output, [](double) {}));
  made->set_result(by.shape_out, by.ndim, nullptr, itemsize, std::max(n_in, by.bytes_out / itemsize), itemsize);
  return made;
}

// The plan of the transpose: from the gradient g of the result to the gradient of x. shape, ndim: of x. Null where
// Python must plan it.
std::unique_ptr<HostPlan> sums_of(const ArrayView& g, const Repeats& by, const int64_t* shape, int ndim) {
  const bool is_complex = g.dtype->code == complex_code;
  const int64_t size = g.dtype->itemsize / (is_complex ? 2 : 1);
  const int dtype = is_complex ? int(size == 8 ? Dtype::f64 : size == 4 ? Dtype::f32 : Dtype::f16) : g.dtype->number;
  if (g.device != on_cpu || !is_float_number(dtype)) return nullptr;
  auto made = std::make_unique<HostPlan>();
  PlannedArray x{{}, dtype, g.dtype->itemsize, is_complex, Rounding::once};
  int64_t n_out = 1;
  for (int d = 0; d < by.ndim; ++d) {
    const int64_t n = g.shape[d], stride = n > 1 ? g.stride[d] : 0, block = by.each ? 1 : by.shape[d];
    n_out *= by.shape[d];
    if (by.times[d] == 1) {
      x.dims.push_back({n, stride});
      continue;
    }
    // All sums along an expanded dim are equal: the planner makes one of an expanded dim without a map.
    const int64_t equal = by.each && stride == 0 ? by.shape[d] : 1;
    if (equal > 1) x.dims.push_back({equal, 0});
    auto map = std::make_unique<AxisMap>();
    map->set_equal_sums(n / block / equal, by.times[d]);
    x.dims.push_back({n / block / equal, stride * block, map.get()});
    if (block > 1) x.dims.push_back({block, stride});
    made->keep(std::move(map));
  }
  made->add(plan_passes(std::move(x), host, Buffer::input, Buffer::output, [](double) {}));
  if (made->scratch() > most_planned_bytes() - n_out * g.dtype->itemsize) return nullptr;
  made->set_result(shape, ndim, nullptr, g.dtype->itemsize, by.bytes_out / g.dtype->itemsize, g.dtype->itemsize);
  return made;
}

struct RecordedRepeat : PlannedCall {
  Repeats by;
  int ndim_in;
  int64_t shape_in[max_read_dims];

  PyObject* operands() const override {
    const Owned shape(shape_tuple(by.shape, by.ndim)), given(shape_tuple(shape_in, ndim_in));
    const Owned times(shape_tuple(by.times, by.ndim)), itemsize(PyLong_FromLong(dtype->itemsize));
    if (!shape || !given || !times || !itemsize) return nullptr;
    PyObject* const each = by.each ? Py_True : Py_False;
    return PyTuple_Pack(6, itemsize.get(), Py_None, shape.get(), given.get(), times.get(), each);
  }
  std::unique_ptr<HostPlan> make_plan(const ArrayView& from) const override { return copies_of(from, by); }
  std::unique_ptr<HostPlan> make_adjoint(const ArrayView& from) const override {
    return sums_of(from, by, shape_in, ndim_in);
  }
};

Outcome recorded(PyObject* x, const ArrayView& from, const Repeats& by, const CachedPlan& cached) {
  auto made = std::unique_ptr<RecordedRepeat>(new (std::nothrow) RecordedRepeat);
  if (!made) return PyErr_NoMemory(), Outcome::failed();
  made->by = by, made->ndim_in = from.ndim;
  std::copy_n(from.shape, from.ndim, made->shape_in);
  return record(x, from, by.shape_out, by.ndim, cached, std::move(made));
}

}  // namespace

bool is_repeat(const CallArguments& names) {
  return names.has(Argument::repeats) || names.has(Argument::sizes) || names.has(Argument::dims);
}

Outcome repeat_by_ints(const CoreCall& call, const CachedPlan& cached) {
  Repeats by;
  if (!read(call, by)) return Outcome::declined();
  if (call.wants_grad) return recorded(call.x, call.from, by, cached);
  if (!cached.caches) return copied(call.x, call.from, by, call.target);
  return cached.run(call.x, call.from, call.target, [&] { return copies_of(call.from, by); });
}

}  // namespace tenter
