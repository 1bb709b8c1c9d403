#include "boxes.hpp"

#include <algorithm>
#include <cmath>

namespace tenter {
namespace {

// value * 2^shift is `parts`, odd unless the shift is 0.
struct Edge {
  double value;
  int64_t parts;
  int shift;

  // numpy: its integers and floats, which are numbers too.
  bool read(PyObject* x, PyObject* numpy) {
    if (PyLong_CheckExact(x) || PyFloat_CheckExact(x)) return read_exact(x);
    const int found = PyObject_IsInstance(x, numpy);
    const Owned number(found == 1 ? PyIndex_Check(x) ? PyNumber_Index(x) : PyNumber_Float(x) : nullptr);
    PyErr_Clear();  // Python's code then says what is wrong
    return number && read_exact(number.get());
  }
  bool read_exact(PyObject* x) {
    if (PyLong_CheckExact(x)) {
      int overflow = 0;
      parts = PyLong_AsLongLongAndOverflow(x, &overflow), value = double(parts), shift = 0;
      return !overflow && -farthest_edge <= parts && parts <= farthest_edge;
    }
    if (!PyFloat_CheckExact(x)) return false;
    value = PyFloat_AsDouble(x);
    if (!(std::fabs(value) <= double(farthest_edge))) return false;
    int exponent;
    parts = int64_t(std::ldexp(std::frexp(value, &exponent), 53)), shift = 53 - exponent;
    if (!parts) shift = 0;
    for (; shift > 0 && parts % 2 == 0; --shift) parts /= 2;
    if (shift < 0) parts <<= -shift, shift = 0;
    return shift <= finest_edge;
  }
  Wide in_parts(int finest) const { return Wide(parts) * (Wide(1) << (finest - shift)); }
};

// Of a tuple or a list of n, else null. A reference, as what is asked about an item may change the list.
Owned item(PyObject* x, Py_ssize_t k, Py_ssize_t n) {
  PyObject* found = nullptr;
  if (PyTuple_CheckExact(x) && PyTuple_Size(x) == n) found = PyTuple_GetItem(x, k);
  else if (PyList_CheckExact(x) && PyList_Size(x) == n) found = PyList_GetItem(x, k);
  Py_XINCREF(found);
  return Owned(found);
}

bool read_axes(PyObject* axes, int ndim, int n, int* to) {
  if (axes == Py_None) {
    for (int k = 0; k < n; ++k) to[k] = k;
    return n == ndim;
  }
  const bool tuple = PyTuple_CheckExact(axes);
  if ((tuple ? PyTuple_Size(axes) : 1) != n) return false;
  for (int k = 0; k < n; ++k) {
    PyObject* const axis = tuple ? PyTuple_GetItem(axes, k) : axes;
    if (!PyLong_CheckExact(axis)) return false;
    int overflow = 0;
    const int64_t dim = PyLong_AsLongLongAndOverflow(axis, &overflow);
    if (overflow || dim < -ndim || dim >= ndim) return false;
    to[k] = int(dim < 0 ? dim + ndim : dim);
    if (k && to[k] <= to[k - 1]) return false;
  }
  return true;
}

}  // namespace

bool Boxes::read(PyObject* box, PyObject* axes, PyObject* numpy, ArrayView& x) {
  int dims[max_read_dims];
  const Py_ssize_t n_boxes = PyTuple_CheckExact(box) ? PyTuple_Size(box) : PyList_Size(box);
  if (n_boxes < 1 || n_boxes > x.ndim) return false;
  count = int(n_boxes);
  if (!read_axes(axes, x.ndim, count, dims)) return false;
  for (int k = 0; k < count; ++k) {
    Each& to = each[k];
    const Owned pair = item(box, k, count);
    if (!pair) return false;
    const int64_t n = x.shape[to.dim = dims[k]];
    to.given = pair.get() != Py_None;
    if (!to.given) continue;
    Edge begin, end;
    const Owned first = item(pair.get(), 0, 2), second = item(pair.get(), 1, 2);
    if (!first || !second || n > farthest_edge) return false;
    if (!begin.read(first.get(), numpy) || !end.read(second.get(), numpy)) return false;
    const int shift = std::max(begin.shift, end.shift);
    const Wide of = Wide(1) << shift;
    Wide low = begin.in_parts(shift), high = end.in_parts(shift);
    if (low == high) return false;
    to.begin = begin.value, to.end = end.value;
    if (high < low) {
      if (x.tensor) return false;  // of which PyTorch has no such view
      low = Wide(n) * of - low, high = Wide(n) * of - high;
      to.begin = double(n) - to.begin, to.end = double(n) - to.end;
      if (n > 0) x.data += (n - 1) * x.stride[to.dim];
      x.stride[to.dim] = -x.stride[to.dim], turned = true;
    }
    to.part = {low, high - low, of};
    to.given = low != 0 || high != Wide(n) * of;
  }
  return true;
}

}  // namespace tenter
