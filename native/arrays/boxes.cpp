#include "arrays/boxes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrays/array_libraries.hpp"

namespace tenter {
namespace {

constexpr int finest_fraction = 28;  // bits of a denominator, so that numerators of edges are exact in doubles

// A number that Python gave, as the fraction parts / of in lowest terms.
struct Number {
  int64_t parts, of;
  bool is_fraction = false;

  double value() const { return double(parts) / double(of); }
  double from(int64_t n) const { return double(Wide(n) * of - parts) / double(of); }  // n - value, rounded once
  Wide in_parts(Wide finest) const { return parts * (finest / of); }

  bool read(PyObject* x) {
    if (PyLong_CheckExact(x) || PyFloat_CheckExact(x)) return read_exact(x);
    if (reinterpret_cast<PyObject*>(Py_TYPE(x)) == number_types.fraction) return read_fraction(x);
    const Owned number(!number_types.is_numpy(x) ? nullptr : PyIndex_Check(x) ? PyNumber_Index(x) : PyNumber_Float(x));
    PyErr_Clear();  // Python's code raises the error
    return number && read_exact(number.get());
  }

 private:
  static bool whole(PyObject* x, int64_t most, int64_t& to) {
    int overflow = 0;
    to = PyLong_AsLongLongAndOverflow(x, &overflow);
    return !overflow && -most <= to && to <= most;
  }
  bool read_fraction(PyObject* x) {
    constexpr int64_t exact = int64_t(1) << 53;  // so that the quotient of two doubles is the nearest double
    const Owned over(PyObject_GetAttrString(x, "numerator")), under(PyObject_GetAttrString(x, "denominator"));
    PyErr_Clear();
    is_fraction = true;
    const bool ints = over && under && PyLong_CheckExact(over.get()) && PyLong_CheckExact(under.get());
    return ints && whole(over.get(), exact, parts) && whole(under.get(), exact, of) && of > 0;
  }
  bool read_exact(PyObject* x) {
    if (PyLong_CheckExact(x)) return of = 1, whole(x, farthest_edge, parts);
    if (!PyFloat_CheckExact(x)) return false;
    const double given = PyFloat_AsDouble(x);
    if (!(std::fabs(given) <= double(farthest_edge))) return false;
    int exponent;
    parts = int64_t(std::ldexp(std::frexp(given, &exponent), 53));
    int shift = parts ? 53 - exponent : 0;
    for (; shift > 0 && parts % 2 == 0; --shift) parts /= 2;
    if (shift > finest_edge) return false;
    of = int64_t(1) << shift;
    return true;
  }
};

// Item k of a tuple or a list of n items; null if x is neither.
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
  for (int k = 0; k < n; ++k) {
    Owned axis = item(axes, k, n);
    if (!axis && n == 1) axis = Owned(Py_NewRef(axes));
    if (!axis || !PyLong_CheckExact(axis.get())) return false;
    int overflow = 0;
    const int64_t dim = PyLong_AsLongLongAndOverflow(axis.get(), &overflow);
    if (overflow || dim < -ndim || dim >= ndim) return false;
    to[k] = int(dim < 0 ? dim + ndim : dim);
    if (std::find(to, to + k, to[k]) != to + k) return false;
  }
  return true;
}

}  // namespace

bool Boxes::read(PyObject* box, PyObject* axes, ArrayView& x) {
  int dims[max_read_dims];
  const Py_ssize_t n_boxes = PyTuple_CheckExact(box) ? PyTuple_Size(box) : PyList_Size(box);
  if (n_boxes < 1 || n_boxes > x.ndim) return false;
  count = int(n_boxes);
  if (!read_axes(axes, x.ndim, count, dims)) return false;
  for (int k = 0; k < count; ++k) {
    OfAxis& to = each[k];
    const Owned pair = item(box, k, count);
    if (!pair) return false;
    const int64_t n = x.shape[to.dim = dims[k]];
    to.given = pair.get() != Py_None, to.reversed = false;
    if (!to.given) continue;
    Number begin, end;
    const Owned first = item(pair.get(), 0, 2), second = item(pair.get(), 1, 2);
    if (!first || !second || n > farthest_edge) return false;
    if (!begin.read(first.get()) || !end.read(second.get())) return false;
    if (std::max(std::fabs(begin.value()), std::fabs(end.value())) > double(farthest_edge)) return false;
    const Wide of = Wide(begin.of) / std::gcd(begin.of, end.of) * end.of;
    if (of > Wide(1) << (begin.is_fraction || end.is_fraction ? finest_fraction : finest_edge)) return false;
    Wide low = begin.in_parts(of), high = end.in_parts(of);
    if (low == high) return false;
    to.begin = begin.value(), to.end = end.value();
    if (high < low) {
      low = Wide(n) * of - low, high = Wide(n) * of - high;
      to.begin = begin.from(n), to.end = end.from(n);
      to.reversed = flipped = true;
    }
    to.part = {low, high - low, of};
    to.given = low != 0 || high != Wide(n) * of;
  }
  flip(x);
  std::sort(each, each + count, [](const OfAxis& a, const OfAxis& b) { return a.dim < b.dim; });
  return true;
}

void Boxes::flip(ArrayView& x) const {
  for (int k = 0; k < count; ++k) {
    const int d = each[k].dim;
    if (!each[k].reversed) continue;
    if (x.shape[d] > 0) x.data += (x.shape[d] - 1) * x.stride[d];
    x.stride[d] = -x.stride[d];
  }
}

bool Boxes::flips(int dim) const {
  return std::any_of(each, each + count, [&](const OfAxis& e) { return e.reversed && e.dim == dim; });
}

bool Scales::read(PyObject* scale) {
  several = PyTuple_CheckExact(scale) || PyList_CheckExact(scale);
  const Py_ssize_t n = PyTuple_CheckExact(scale) ? PyTuple_Size(scale) : several ? PyList_Size(scale) : 1;
  if (n < 1 || n > max_read_dims) return false;
  count = int(n);
  for (int k = 0; k < count; ++k) {
    const Owned one = several ? item(scale, k, n) : Owned(Py_NewRef(scale));
    Number number;
    if (!one || !number.read(one.get()) || number.parts < 1) return false;
    each[k] = {{number.parts, number.of, number.value()}, number.is_fraction};
  }
  return true;
}

PyObject* Scales::fraction() const {
  const Owned over(PyLong_FromLongLong(int64_t(each[0].scale.numerator)));
  const Owned under(PyLong_FromLongLong(int64_t(each[0].scale.denominator)));
  PyObject* const both[2] = {over.get(), under.get()};
  return over && under ? PyObject_Vectorcall(number_types.fraction, both, 2, nullptr) : nullptr;
}

}  // namespace tenter
