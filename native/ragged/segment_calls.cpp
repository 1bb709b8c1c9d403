// Reductions of ragged arrays, from arguments to a result, like the functions of ragged_calls.cpp.
#include <algorithm>
#include <iterator>

#include "kernels/kernels.hpp"
#include "maps/ragged.hpp"
#include "ragged/ragged_arguments.hpp"
#include "ragged/ragged_calls.hpp"

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

template <bool largest>
void extremes(const RowsTask& t, int threads) {
  kernels().extremes({t.src, t.dst, nullptr, t.dtype, t.offset, t.n, t.outer, t.inner, largest}, threads);
}

// What `segment` computes.
//   accepts  whether it takes a dtype
//   reduces  whether the result has one value per row, else x's shape
constexpr struct {
  const char* name;
  bool (*accepts)(Dtype);
  void (*run)(const RowsTask&, int threads);
  bool reduces;
} segment_functions[] = {
    {"sum", is_float, sum_rows, true},
    {"mean", is_full_float, mean_rows, true},
    {"max", is_any, extremes<true>, true},
    {"min", is_any, extremes<false>, true},
    {"less_max", is_full_float, less_extremes, false},  // x minus the largest value of its row
    {"share", is_full_float, share_rows, false},        // x divided by the sum of its row
};

}  // namespace

// (name of the function, x, lengths, dim, out) -> the result, along the rows of dim
Outcome segment(PyObject* const* args, Py_ssize_t) {
  const auto* of = std::begin(segment_functions);
  while (of != std::end(segment_functions) && PyUnicode_CompareWithASCIIString(args[0], of->name) != 0) ++of;
  if (of == std::end(segment_functions)) return Outcome::of_python(PyErr_Format(PyExc_ValueError, "expected a name"));
  Ragged r;
  int64_t bytes, shape[max_read_dims];
  if (const Reading found = r.read(args + 1, of->accepts); found != Reading::readable) return Outcome::unread(found);
  std::copy_n(r.x.shape, r.x.ndim, shape);
  if (of->reduces) shape[r.dim] = r.rows.n;
  if (!fits_machine(r.outer * shape[r.dim] * r.inner, r.x.dtype->itemsize, bytes)) return Outcome::declined();
  const auto fill = [&](char* to, int threads, bool stream) { of->run(r.task(to, stream && of->reduces), threads); };
  return made(args[1], r.x, shape, r.x.ndim, args[4], fill, r.bytes);
}

}  // namespace tenter
