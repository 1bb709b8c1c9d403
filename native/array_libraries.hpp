// What the core knows of NumPy and PyTorch, once Python's code has registered them: for the files that read arrays
// (arrays.cpp) and make them (new_arrays.cpp).
#pragma once
#include <vector>

#include "arrays.hpp"
#include "dlpack.hpp"

namespace tenter {

// The head of NumPy's array, which is the same for all versions that share an ABI; read_numpy verifies it.
struct NumpyArray {
  PyObject_HEAD char* data;
  int nd;
  Py_ssize_t* dimensions;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* descr;
};

extern struct NumpyLibrary {
  PyObject *type = nullptr, *empty = nullptr;
  PyObject *metadata, *num, *isnative, *transpose;  // names
  std::vector<KnownDtype> dtypes;
} numpy;

// By DLPack's exchange API.
extern struct TorchLibrary {
  int (*read)(void*, DLTensor*) = nullptr;
  int (*make)(ManagedTensor*, void**) = nullptr;
  PyObject *type = nullptr, *parameter = nullptr, *empty = nullptr, *empty_permuted = nullptr, *dtype_keyword = nullptr;
  PyObject *followers = nullptr, *forward_ad = nullptr, *autocast = nullptr, *grad_enabled = nullptr;
  PyObject *is_neg, *is_conj, *untyped_storage, *nbytes, *storage_offset, *requires_grad, *current_level, *expand,
      *numel;
  std::vector<KnownDtype> dtypes;
  const KnownDtype* usual = nullptr;  // what `empty` last gave without a dtype

  const KnownDtype* dtype_of(const DLTensor& t) const {
    for (const KnownDtype& d : dtypes)
      if (d.code == t.code && d.bits == t.bits && t.lanes == 1) return &d;
    return nullptr;
  }
} torch;

// Of a view, whose bytes int64 must count.
constexpr int64_t max_elements = int64_t{1} << 58;
constexpr int complex_code = 5, bool_code = 6;  // DLPack's

inline PyObject* method(PyObject* x, PyObject* name) { return PyObject_VectorcallMethod(name, &x, 1, nullptr); }

inline bool integer(PyObject* result, int64_t& value) {
  if (!result) return false;
  value = PyLong_AsLongLong(result);
  Py_DECREF(result);
  return !(value == -1 && PyErr_Occurred());
}

inline PyObject* kept(PyObject* x) {
  Py_INCREF(x);
  return x;
}

}  // namespace tenter
