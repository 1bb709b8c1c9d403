#include "calls/call_key.hpp"

#include <algorithm>
#include <cstdlib>

namespace tenter {

Owned OwnArguments::own(PyObject* x, int level) {
  const Sequence values(x);
  if (values.size() < 0) return Owned(Py_NewRef(x));
  if (level > most_levels || values.size() > most_values) return Owned();
  const bool list = PyList_CheckExact(x);
  const Owned held(list ? PyList_AsTuple(x) : Py_NewRef(x));
  const Py_ssize_t n = held ? PyTuple_Size(held.get()) : 0;
  Owned to(!held ? nullptr : list ? PyList_New(n) : PyTuple_New(n));
  for (Py_ssize_t k = 0; to && k < n; ++k) {
    PyObject* const value = own(PyTuple_GetItem(held.get(), k), level + 1).release();
    if (!value) return Owned();
    list ? PyList_SetItem(to.get(), k, value) : PyTuple_SetItem(to.get(), k, value);
  }
  return to;
}

bool OwnArguments::holds_lists(PyObject* x) {
  if (PyList_CheckExact(x)) return true;
  if (!PyTuple_CheckExact(x)) return false;
  for (Py_ssize_t k = 0, n = PyTuple_Size(x); k < n; ++k) {
    PyObject* const value = PyTuple_GetItem(x, k);
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return true;
  }
  return false;
}

bool OwnArguments::read(PyObject* const* args, Py_ssize_t n) {
  if (n > most_args) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    args_[k] = args[k];
    if (!holds_lists(args[k])) continue;
    owned_[k] = own(args[k], 0);
    if (!(args_[k] = owned_[k].get())) return false;
  }
  return true;
}

PyObject* know_constants(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n > Key::most_types) return PyErr_Format(PyExc_ValueError, "expected fewer types");
  for (Py_ssize_t k = 0; k < n; ++k)
    if (!PyType_Check(args[k]) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(args[k]), &PyTuple_Type))
      return PyErr_Format(PyExc_TypeError, "expected kinds of tuples");
  Key::know_constants(args, n);
  Py_RETURN_NONE;
}

bool LayoutClass::of(const ArrayView& x) {
  int64_t step[max_read_dims];
  for (int d = 0; d < x.ndim; ++d) {
    from_slow[d] = uint8_t(d), step[d] = std::abs(x.stride[d]);
    ones |= (x.shape[d] == 1) << d, zeros |= (step[d] == 0) << d, negative |= (x.stride[d] < 0) << d;
    if (x.shape[d] == 0 || (x.shape[d] > 1 && step[d] == 0)) return false;
  }
  std::stable_sort(from_slow, from_slow + x.ndim, [&](int a, int b) { return step[a] > step[b]; });
  int before = -1;  // the last dim with more than one position
  for (int k = 0; k < x.ndim; ++k) {
    const int d = from_slow[k];
    if (k) equal |= (step[from_slow[k - 1]] == step[d]) << k;
    for (int e = 0; e < x.ndim; ++e) below |= uint64_t(step[d] / x.shape[e] < step[e]) << (8 * d + e);
    if (x.shape[d] == 1) continue;
    if (before >= 0 && step[before] / x.shape[d] < step[d]) return false;
    before = d;
  }
  return true;
}

}  // namespace tenter
