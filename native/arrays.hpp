// NumPy's arrays and PyTorch's tensors as memory, read without their headers, for calls so small that reading them
// through Python would take longer than the work.
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "memory.hpp"

namespace tenter {

constexpr int max_read_dims = 8;

// A reference that is given back.
class Owned {
 public:
  explicit Owned(PyObject* p = nullptr) : p_(p) {}
  Owned(Owned&& other) noexcept : p_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { Py_XDECREF(p_); }
  PyObject* get() const { return p_; }
  PyObject* release() {
    PyObject* const p = p_;
    p_ = nullptr;
    return p;
  }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  PyObject* p_;
};

// A dtype that is read: its object, which results are made with, and its number in kernels.hpp, or -1.
struct KnownDtype {
  PyObject* object;
  int code, bits;  // DLPack's
  int number, itemsize;
  int64_t numpy_number = -1;  // NumPy's
};

// The memory of an array. Strides are in bytes.
struct ArrayView {
  char* data;
  int ndim;
  bool tensor;
  int device;         // DLPack's number of a kind of device
  int device_number;  // of several
  const KnownDtype* dtype;
  int64_t shape[max_read_dims], stride[max_read_dims];

  int64_t n_values() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= shape[d];
    return n;
  }
  bool contiguous() const {
    int64_t step = dtype->itemsize;
    for (int d = ndim - 1; d >= 0; --d) {
      if (shape[d] != 1 && stride[d] != step) return false;
      step *= shape[d];
    }
    return true;
  }
  // Bytes from the first element to the last.
  int64_t extent() const {
    int64_t bytes = dtype->itemsize;
    for (int d = 0; d < ndim; ++d) {
      if (shape[d] == 0) return 0;
      bytes += (shape[d] - 1) * (stride[d] < 0 ? -stride[d] : stride[d]);
    }
    return bytes;
  }
};

constexpr int on_cpu = 1;  // ArrayView::device

// What reading says. unreadable: an array of a kind that is not read here, or a tensor whose storage is too small, for
// Python's code. recorded: a tensor whose call is not served by its memory alone.
enum class Reading { readable, unreadable, recorded, failed };

bool is_numpy(PyObject* x);
bool is_tensor(PyObject* x);
// x: of exactly a registered type. failed: a Python error is set. Tensors without an address are read if they may be
// empty and are. All of what a view describes is memory of x: nothing else gives the address of a tensor.
Reading read_array(PyObject* x, ArrayView& view, bool may_be_empty = false);

// Whether anything follows calls on tensors (transforms, modes, tracers, forward mode). 1, 0, or -1 for an error.
int followed();
int wants_grad(PyObject* x);  // 1, 0 or -1

// Fresh memory like x's, uninitialized, and its address. Null with an error, or without where the caller shall go
// another way.
PyObject* empty(const ArrayView& like, PyObject* const* sizes, int n_sizes, char*& data);
PyObject* empty(const ArrayView& like, const int64_t* shape, int ndim, char*& data);
// Null with an error.
inline PyObject* shape_tuple(const int64_t* shape, int ndim) {
  Owned sizes(PyTuple_New(ndim));
  for (int d = 0; sizes && d < ndim; ++d) {
    PyObject* const n = PyLong_FromLongLong(shape[d]);
    if (!n) return nullptr;
    PyTuple_SetItem(sizes.get(), d, n);
  }
  return sizes.release();
}
inline PyObject* int_tuple(const int* values, int n) {
  Owned made(PyTuple_New(n));
  for (int k = 0; made && k < n; ++k) {
    PyObject* const value = PyLong_FromLong(values[k]);
    if (!value) return nullptr;
    PyTuple_SetItem(made.get(), k, value);
  }
  return made.release();
}
// An array, or a tensor that is no view, of a dtype and in order, in memory that it keeps. Null with an error.
PyObject* array_over(PyObject* buffer, const ArrayView& like, const int64_t* shape, int ndim);
// order: its dims from slowest to fastest in memory; null where they are in order.
PyObject* tensor_in(std::unique_ptr<Block> block, const ArrayView& like, const int64_t* shape, int ndim,
                    const int* order = nullptr);
// Fresh memory of a tensor, as `empty` has it, and an array's dims in another order.
PyObject* empty_permuted(const ArrayView& like, const int64_t* shape, int ndim, const int* order, char*& data);
PyObject* permuted_view(PyObject* in_order, int ndim, const int* order);
// A tensor of so many bytes for a result whose gradient is recorded, or for a gradient: its storage cannot be resized,
// as PyTorch's `resize_` refuses what requires a gradient. PyTorch's `empty` takes three times as long, most of it to
// read its arguments.
PyObject* recorded_empty(const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, char*& data);
// (x) -> whether x is a plain tensor that is read here. METH_FASTCALL.
PyObject* plain(PyObject*, PyObject* const* args, Py_ssize_t n);
// (x, *sizes), x of exactly a tensor's type -> PyTorch's own view; None where Python's code must look closer.
// METH_FASTCALL.
PyObject* expand_view(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* empty_int64(bool tensor, int64_t n, char*& data);
// The dtype of bools in an array's library; null if it is not read.
const KnownDtype* bool_like(const ArrayView& x);

// Registered by Python: METH_FASTCALL functions.
PyObject* read_numpy(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* read_torch(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
