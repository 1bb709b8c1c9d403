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

  // Reads the arguments (x, lengths, dim). accepts: whether the function takes a dtype.
  Reading read(PyObject* const* args, bool (*accepts)(Dtype)) {
    Arguments arguments;
    ArrayView lengths;
    Reading found = arguments.array(args[0], x);
    if (found == Reading::readable) found = arguments.integers(args[1], lengths);
    if (found != Reading::readable) return found;
    if (!x.contiguous() || x.dtype->number < 0 || !accepts(Dtype(x.dtype->number)) || !exact_int(args[2], dim) ||
        dim < -x.ndim || dim >= x.ndim)
      return Reading::unreadable;
    dim += dim < 0 ? x.ndim : 0;
    if (found = rows.read(lengths, Py_None); found != Reading::readable) return found;
    for (int d = 0; d < x.ndim; ++d)
      if (d != dim) (d < dim ? outer : inner) *= x.shape[d];
    const bool fits = x.shape[dim] == rows.total && outer && inner && rows.total &&
                      fits_machine(outer * rows.total * inner, x.dtype->itemsize, bytes);
    return fits ? Reading::readable : Reading::unreadable;
  }
  RowsTask task(char* to, bool stream) const {
    return {x.data, to, Dtype(x.dtype->number), rows.offset, rows.n, outer, inner, stream};
  }
};

// (x, lengths, dim, out) -> one value per row along dim, which reduce(task, threads) writes
template <class F>
Outcome reduced(PyObject* const* args, bool (*accepts)(Dtype), F&& reduce) {
  Ragged r;
  int64_t shape[max_read_dims], bytes;
  if (const Reading found = r.read(args, accepts); found != Reading::readable) return Outcome::unread(found);
  if (!fits_machine(r.outer * r.rows.n * r.inner, r.x.dtype->itemsize, bytes)) return Outcome::declined();
  std::copy_n(r.x.shape, r.x.ndim, shape), shape[r.dim] = r.rows.n;
  const auto fill = [&](char* to, int threads, bool stream) { reduce(r.task(to, stream), threads); };
  return made(args[0], r.x, shape, r.x.ndim, args[3], fill, r.bytes);
}

// (x, lengths, dim, out) -> a result of x's shape, which change(task, threads) writes; for float32 and float64
template <class F>
Outcome with_rows(PyObject* const* args, F&& change) {
  Ragged r;
  if (const Reading found = r.read(args, is_full_float); found != Reading::readable) return Outcome::unread(found);
  const auto fill = [&](char* to, int threads, bool) { change(r.task(to, false), threads); };
  return made(args[0], r.x, r.x.shape, r.x.ndim, args[3], fill);
}

template <bool largest>
void extremes(const RowsTask& t, int threads) {
  kernels().extremes({t.src, t.dst, nullptr, t.dtype, t.offset, t.n, t.outer, t.inner, largest}, threads);
}

}  // namespace

// (x, lengths, dim, out) -> the sum, mean, largest or smallest value of each row along dim
Outcome segment_sum(PyObject* const* args, Py_ssize_t) { return reduced(args, is_float, sum_rows); }
Outcome segment_mean(PyObject* const* args, Py_ssize_t) { return reduced(args, is_full_float, mean_rows); }
Outcome segment_max(PyObject* const* args, Py_ssize_t) { return reduced(args, is_any, extremes<true>); }
Outcome segment_min(PyObject* const* args, Py_ssize_t) { return reduced(args, is_any, extremes<false>); }

// (x, lengths, dim, out) -> x minus the largest value of its row; x divided by the sum of its row
Outcome segment_less_max(PyObject* const* args, Py_ssize_t) { return with_rows(args, less_extremes); }
Outcome segment_share(PyObject* const* args, Py_ssize_t) { return with_rows(args, share_rows); }

}  // namespace tenter
