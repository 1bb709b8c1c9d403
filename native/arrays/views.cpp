#include "arrays/views.hpp"

#include "arrays/array_libraries.hpp"
#include "arrays/results.hpp"

namespace tenter {
namespace {

// The sizes of a call, given one by one or as one tuple.
struct Sizes {
  int n = 0;
  PyObject* given[max_read_dims];
  int64_t size[max_read_dims];
  bool keeps_length = false, none = false;  // whether a size is -1; whether one is 0
  int64_t n_values = 1;                     // of the result, if no size is -1

  // False where Python must look. n_values does not overflow: more than max_elements are declined.
  bool read(PyObject* sizes) {
    PyObject* const first = PyTuple_Size(sizes) == 1 ? PyTuple_GetItem(sizes, 0) : nullptr;
    if (first && PyTuple_CheckExact(first)) sizes = first;
    const Py_ssize_t count = PyTuple_Size(sizes);
    if (count < 1 || count > max_read_dims) return false;
    n = int(count);
    for (int d = 0; d < n; ++d) {
      given[d] = PyTuple_GetItem(sizes, d);
      if (!PyLong_CheckExact(given[d])) return false;
      int overflows;
      size[d] = PyLong_AsLongLongAndOverflow(given[d], &overflows);
      if (overflows || size[d] < -1) return false;
      keeps_length = keeps_length || size[d] == -1, none = none || size[d] == 0;
      if (size[d] > 0 && n_values >= max_elements / size[d]) return false;
      if (size[d] > 0) n_values *= size[d];
    }
    return true;
  }
};

// NumPy's view, as np.broadcast_to makes it: read-only, over the memory of x.
Outcome view_of_ndarray(PyObject* x, const Sizes& sizes) {
  ArrayView from;
  if (const Reading found = read_array(x, from); found != Reading::readable) return Outcome::unread(found);
  const int front = sizes.n - from.ndim;
  if (front < 0) return Outcome::declined();
  Py_ssize_t shape[max_read_dims], stride[max_read_dims];
  int64_t n_values = 1;
  for (int d = 0; d < sizes.n; ++d) {
    const int64_t size = sizes.size[d], length = d < front ? 1 : from.shape[d - front];
    if (size == -1 && d < front) return Outcome::declined();
    if (length != 1 && size != -1 && size != length) return Outcome::declined();
    shape[d] = size == -1 ? length : size;
    stride[d] = length == 1 ? 0 : from.stride[d - front];
    if (shape[d] == 0 || n_values >= max_elements / shape[d]) return Outcome::declined();
    n_values *= shape[d];
  }
  const auto& a = *reinterpret_cast<const NumpyArray*>(x);
  constexpr int read_only = 0;
  Owned y(numpy.new_array(numpy.type, Py_NewRef(a.descr), sizes.n, shape, stride, from.data, read_only, nullptr));
  if (!y || numpy.set_base(y.get(), Py_NewRef(x)) < 0) return Outcome::failed();
  return Outcome::done(std::move(y));
}

// PyTorch's own view. A size of -1 hides how many values it has, so these are counted.
Outcome view_of_tensor(PyObject* x, const Sizes& sizes) {
  // In a result without elements PyTorch accepts a -1 in front of x's dims.
  if (!torch.expand || (sizes.keeps_length && sizes.none)) return Outcome::declined();
  PyObject* call[max_read_dims + 1] = {x};
  for (int d = 0; d < sizes.n; ++d) call[d + 1] = sizes.given[d];
  Owned y(PyObject_Vectorcall(torch.expand, call, size_t(sizes.n) + 1, nullptr));
  if (!y && (PyErr_ExceptionMatches(PyExc_RuntimeError) || PyErr_ExceptionMatches(PyExc_TypeError))) {
    PyErr_Clear();
    return Outcome::declined();
  }
  int64_t n_values = 0;
  if (!y || (sizes.keeps_length && !integer(method(y.get(), torch.numel), n_values))) return Outcome::failed();
  return n_values >= max_elements ? Outcome::declined() : Outcome::done(std::move(y));
}

}  // namespace

// (x, sizes) -> the view; None where Python must look. x: of exactly a type that the core reads.
Outcome expand_view(PyObject* const* args, Py_ssize_t) {
  Sizes sizes;
  if (!PyTuple_CheckExact(args[1])) return Outcome::of_python(PyErr_Format(PyExc_TypeError, "sizes: expected a tuple"));
  if (!sizes.read(args[1])) return Outcome::declined();
  return is_numpy(args[0]) ? view_of_ndarray(args[0], sizes) : view_of_tensor(args[0], sizes);
}

}  // namespace tenter
