#include "calls/call_key.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tenter {

Reading OwnArguments::own(PyObject* x, int level, Owned& to) {
  const Sequence values(x);
  if (values.size() < 0) return to = Owned(Py_NewRef(x)), Reading::readable;
  if (level > most_levels || values.size() > most_values) return Reading::unreadable;
  const bool list = PyList_CheckExact(x);
  const Owned held(list ? PyList_AsTuple(x) : Py_NewRef(x));
  if (!held) return Reading::failed;
  const Py_ssize_t n = PyTuple_Size(held.get());
  Owned made(list ? PyList_New(n) : PyTuple_New(n));
  if (!made) return Reading::failed;
  for (Py_ssize_t k = 0; k < n; ++k) {
    Owned value;
    const Reading found = own(PyTuple_GetItem(held.get(), k), level + 1, value);
    if (found != Reading::readable) return found;
    list ? PyList_SetItem(made.get(), k, value.release()) : PyTuple_SetItem(made.get(), k, value.release());
  }
  return to = std::move(made), Reading::readable;
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

Reading OwnArguments::read(PyObject* const* args, Py_ssize_t n) {
  if (n > most_args) return Reading::unreadable;
  for (Py_ssize_t k = 0; k < n; ++k) {
    args_[k] = args[k];
    if (!holds_lists(args[k])) continue;
    if (const Reading found = own(args[k], 0, owned_[k]); found != Reading::readable) return found;
    args_[k] = owned_[k].get();
  }
  return Reading::readable;
}

bool Key::know_constants(PyObject* types) {
  const Py_ssize_t n = PyTuple_Size(types);
  if (n < 0 || n > most_types) return PyErr_Format(PyExc_ValueError, "constants: expected at most 4 types"), false;
  for (Py_ssize_t k = 0; k < n; ++k)
    constant_types[k] = reinterpret_cast<PyTypeObject*>(Py_NewRef(PyTuple_GetItem(types, k)));
  return true;
}

bool LayoutClass::of(const ArrayView& x) {
  int64_t step[max_read_dims];
  for (int d = 0; d < x.ndim; ++d) {
    from_slow[d] = uint8_t(d), step[d] = std::abs(x.stride[d]);
    ones |= (x.shape[d] == 1) << d, zeros |= (step[d] == 0) << d, negative |= (x.stride[d] < 0) << d;
    if (x.shape[d] == 0) return false;
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
