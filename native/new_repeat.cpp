#include "new_repeat.hpp"

#include <algorithm>

#include "call_key.hpp"
#include "new_map.hpp"
#include "results.hpp"

namespace tenter {
namespace {

// Each position of a dim some times in a row, or a dim over and over.
struct Repeats {
  int ndim = 0;
  int64_t times[max_read_dims];
  bool each;
};

constexpr const char *interleave = "repeat_interleave", *numpy_repeat = "numpy.repeat", *repeat = "repeat",
                     *tile = "tile", *numpy_tile = "numpy.tile";

bool is(PyObject* call, const char* name) { return PyUnicode_CompareWithASCIIString(call, name) == 0; }

bool read_times(PyObject* x, int64_t& to) { return exact_int(x, to) && to >= 1; }

// Of one dim, or of all values if there is none.
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

// One for each dim; more of them for dims in front, fewer if that may be.
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

bool read(PyObject* call, PyObject* const* args, Py_ssize_t n, ArrayView& x, Repeats& to) {
  if (n < 1) return false;
  if (is(call, interleave)) return n == 3 && args[2] == Py_None && read_each(args[0], args[1], x, to);
  if (is(call, numpy_repeat)) return n == 2 && read_each(args[0], args[1], x, to);
  return read_all(args, n, !is(call, repeat), x, to);
}

}  // namespace

bool is_repeat(PyObject* call) {
  for (const char* name : {interleave, numpy_repeat, repeat, tile, numpy_tile})
    if (is(call, name)) return true;
  return false;
}

PyObject* repeat_new(PyObject* x, const ArrayView& given, PyObject* call, PyObject* const* args, Py_ssize_t n,
                     const Target* target) {
  ArrayView from = given;
  Repeats by;
  if (given.device != on_cpu || !read(call, args, n, from, by)) return nullptr;
  const int64_t itemsize = from.dtype->itemsize;
  CopyAxis axes[max_axes];
  int64_t shape[max_read_dims], n_out = 1;
  int n_axes = 0;
  for (int d = 0; d < by.ndim; ++d) {
    const int64_t n = from.shape[d], times = by.times[d], stride = n > 1 ? from.stride[d] : 0;
    if (__builtin_mul_overflow(n, times, shape + d) || __builtin_mul_overflow(n_out, shape[d], &n_out)) return nullptr;
    if (n_axes + 2 > max_axes) return nullptr;
    if (by.each && times > 1 && n > 1) {
      axes[n_axes++] = {CopyAxis::every, n, n * times, stride, times, nullptr};
    } else {
      if (times > 1) axes[n_axes++] = {CopyAxis::affine, times, times, 0, 1, nullptr};
      axes[n_axes++] = {CopyAxis::affine, n, n, stride, 1, nullptr};
    }
  }
  if (n_out < 1 || n_out > most_bytes / itemsize) return nullptr;
  if (given.tensor && holds(x, *given.dtype, given.extent()) != 1) return nullptr;
  CopyTask task{};
  copy_pass(itemsize, axes, n_axes, task);
  const int64_t bytes = n_out * itemsize;
  const int threads = threads_for(bytes);
  if (!threads) return nullptr;
  task.src = from.data;
  const auto copy = [&] {
    if constexpr (verifies) verify(task);
    run_unlocked(bytes, [&] { kernels().copy(task, threads); });
  };
  if (target) {
    if (!target->takes(shape, by.ndim, nullptr)) return nullptr;
    return target->fill(nullptr, [&](char* to, bool stream) { task.dst = to, task.stream = stream, copy(); });
  }
  Owned y(result_of(x, from, shape, by.ndim, bytes, task.dst, task.stream));
  return y && no_exception(copy) ? y.release() : nullptr;
}

}  // namespace tenter
