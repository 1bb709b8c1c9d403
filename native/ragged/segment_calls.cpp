// Reductions of ragged arrays, from arguments to a result, like the functions of ragged_calls.cpp.
#include <algorithm>

#include "calls/lookup.hpp"
#include "kernels/kernels.hpp"
#include "maps/ragged.hpp"
#include "ragged/ragged_arguments.hpp"

namespace tenter {
namespace {

// An array and its rows along one dim. outer, inner: products of the lengths before and after the dim. bytes: of x.
struct Ragged {
  ArrayView x;
  RowLengths rows;
  int64_t outer = 1, inner = 1, dim = 0, bytes = 0;

  // Reads the arguments (x, lengths, dim). accepts: whether the function takes a dtype. Returns false where Python must
  // look, or with an error.
  bool read(PyObject* const* args, bool (*accepts)(Dtype)) {
    Arguments arguments;
    ArrayView lengths;
    if (!arguments.array(args[0], x) || !x.contiguous() || x.dtype->number < 0 || !accepts(Dtype(x.dtype->number)) ||
        !exact_int(args[2], dim) || dim < -x.ndim || dim >= x.ndim || !arguments.integers(args[1], lengths))
      return false;
    dim += dim < 0 ? x.ndim : 0;
    if ((x.tensor && wants_grad(args[0])) || !rows.read(lengths, Py_None) || x.shape[dim] != rows.total) return false;
    for (int d = 0; d < x.ndim; ++d)
      if (d != dim) (d < dim ? outer : inner) *= x.shape[d];
    return outer && inner && rows.total && fits_machine(outer * rows.total * inner, x.dtype->itemsize, bytes);
  }
  RowsTask task(char* to, bool stream) const {
    return {x.data, to, Dtype(x.dtype->number), rows.offset, rows.n, outer, inner, stream};
  }
};

// (x, lengths, dim, out) -> one value per row along dim, which reduce(task, threads) writes
template <class F>
PyObject* reduced(PyObject* const* args, Py_ssize_t n_args, bool (*accepts)(Dtype), F&& reduce) {
  if (n_args != 4) return PyErr_Format(PyExc_TypeError, "expected an array, lengths, a dim and an out");
  Ragged r;
  int64_t shape[max_read_dims], bytes;
  if (!r.read(args, accepts) || !fits_machine(r.outer * r.rows.n * r.inner, r.x.dtype->itemsize, bytes))
    return none_or_error();
  std::copy_n(r.x.shape, r.x.ndim, shape), shape[r.dim] = r.rows.n;
  const auto fill = [&](char* to, int threads, bool stream) { reduce(r.task(to, stream), threads); };
  return made(args[0], r.x, shape, r.x.ndim, bytes, args[3], fill, r.bytes);
}

// (x, lengths, dim, out) -> a result of x's shape, which change(task, threads) writes; for float32 and float64
template <class F>
PyObject* with_rows(PyObject* const* args, Py_ssize_t n_args, F&& change) {
  if (n_args != 4) return PyErr_Format(PyExc_TypeError, "expected an array, lengths, a dim and an out");
  Ragged r;
  if (!r.read(args, is_full_float)) return none_or_error();
  const auto fill = [&](char* to, int threads, bool) { change(r.task(to, false), threads); };
  return made(args[0], r.x, r.x.shape, r.x.ndim, r.bytes, args[3], fill);
}

template <bool largest>
void extremes(const RowsTask& t, int threads) {
  kernels().extremes({t.src, t.dst, nullptr, t.dtype, t.offset, t.n, t.outer, t.inner, largest}, threads);
}

}  // namespace

// (x, lengths, dim, out) -> the sum, mean, largest or smallest value of each row along dim
PyObject* segment_sum(PyObject*, PyObject* const* args, Py_ssize_t n) { return reduced(args, n, is_float, sum_rows); }
PyObject* segment_mean(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return reduced(args, n, is_full_float, mean_rows);
}
PyObject* segment_max(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return reduced(args, n, is_any, extremes<true>);
}
PyObject* segment_min(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return reduced(args, n, is_any, extremes<false>);
}

// (x, lengths, dim, out) -> x minus the largest value of its row; x divided by the sum of its row
PyObject* segment_less_max(PyObject*, PyObject* const* args, Py_ssize_t n) { return with_rows(args, n, less_extremes); }
PyObject* segment_share(PyObject*, PyObject* const* args, Py_ssize_t n) { return with_rows(args, n, share_rows); }

}  // namespace tenter
