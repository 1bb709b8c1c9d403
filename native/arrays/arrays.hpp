// NumPy's arrays and PyTorch's tensors as memory, read without the libraries' headers. For small calls, reading them
// through Python would take longer than the work.
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>

#include "arrays/outcome.hpp"
#include "system/memory.hpp"

namespace tenter {

constexpr int max_read_dims = 8;

// A dtype of a library that the core reads.
//   object        the library's dtype object, with which results are made
//   code, bits    DLPack's description
//   number        the Dtype (dtypes.hpp), or -1 if the core only copies it
//   itemsize      bytes
//   numpy_number  NumPy's type number, or -1
struct ArrayDtype {
  PyObject* object;
  int code, bits;
  int number, itemsize;
  int64_t numpy_number = -1;
};

// The memory of an array. Strides are in bytes. A view owns nothing: the array must outlive it.
struct ArrayView {
  char* data;
  int ndim;
  bool tensor;
  int device;         // DLPack's number of the kind of device
  int device_number;  // which of the devices of that kind
  const ArrayDtype* dtype;
  int64_t shape[max_read_dims], stride[max_read_dims];

  int64_t n_values() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= shape[d];
    return n;
  }
  // Whether values are adjacent in memory. order: the dims from slowest to fastest; null if they are in order.
  bool contiguous(const int* order = nullptr) const {
    int64_t step = dtype->itemsize;
    for (int k = ndim - 1; k >= 0; --k) {
      const int d = order ? order[k] : k;
      if (shape[d] != 1 && stride[d] != step) return false;
      step *= shape[d];
    }
    return true;
  }
  // Bytes between the lowest and the highest address of the array; 0 if it is empty.
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

bool is_numpy(PyObject* x);
bool is_tensor(PyObject* x);
// Reads x, if its type is exactly a registered one. may_be_empty: whether to read tensors that have no address as they
// have no elements. The view is within the memory of x; no other function returns the address of a tensor.
Reading read_array(PyObject* x, ArrayView& view, bool may_be_empty = false);
// The same for an array whose gradient is not recorded.
Reading read_detached(PyObject* x, ArrayView& view, bool may_be_empty = false);

// The layout of an array of any dtype and number of dims, for the key of its calls. Pointers are into the array.
//   dtype   NumPy's description of the dtype, such as ">f4"; null for tensors
//   number  NumPy's type number; of a tensor, DLPack's code, bits and lanes
struct ArrayOutline {
  Owned dtype;
  int64_t number;
  const void *data, *shape, *stride;
  int ndim;
  int device = on_cpu, device_number = 0;
};
// Reads the layout of an array that `read_array` cannot read. Elements that hold Python objects are
// unreadable, and dtypes that NumPy has no number for.
// Empty tensors have no address, so Python must find out whether they are ordinary.
Reading read_outline(PyObject* x, ArrayOutline& to);

// Whether a transform, mode, tracer or forward-mode level intercepts calls on tensors. 1, 0, or -1 with an error.
int calls_are_traced();
// Traced if x is a tensor, and calls on tensors are traced.
Reading tracing_of(PyObject* x);
int wants_grad(PyObject* x);  // whether autograd records calls on a tensor: 1, 0, or -1 with an error

// A new uninitialized array or tensor with the library and dtype of `like`. data: its address. Declined if the library
// has no memory, or makes tensors on another device.
Outcome empty(const ArrayView& like, const int64_t* shape, int ndim, char*& data);
// A tuple of ints; null with an error.
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
// A contiguous NumPy array over the memory of a Python buffer, which it keeps alive. Null with an error.
PyObject* array_over(PyObject* buffer, const ArrayView& like, const int64_t* shape, int ndim);
// A tensor that owns a block and is not a view. order: its dims from slowest to fastest in memory; null if it is
// contiguous. Null with an error.
PyObject* tensor_in(std::unique_ptr<Block> block, const ArrayView& like, const int64_t* shape, int ndim,
                    const int* order = nullptr);
// Like `empty`, but a tensor whose dims are in another order in memory.
Outcome empty_permuted(const ArrayView& like, const int64_t* shape, int ndim, const int* order, char*& data);
// A view of a contiguous NumPy array whose dims are in memory order; the view's are in the caller's order.
PyObject* permuted_view(PyObject* in_order, int ndim, const int* order);
// A tensor of `bytes` bytes that the core allocates: for a gradient, or for a result whose gradient is recorded. order:
// as in tensor_in. Its storage cannot be resized; this does not matter, as PyTorch's `resize_` refuses tensors that
// require a gradient. PyTorch's `empty` takes three times as long, mostly to read its arguments.
PyObject* recorded_empty(const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, const int* order,
                         char*& data);
// METH_FASTCALL: (x) -> whether x is an ordinary dense tensor that the core reads.
PyObject* ordinary(PyObject* const* args, Py_ssize_t n);
Outcome empty_int64(bool tensor, int64_t n, char*& data);  // like `empty`, of n values
// The dtype of bools in an array's library; null if the core does not read it.
const ArrayDtype* bool_like(const ArrayView& x);

// METH_FASTCALL functions that register a library; what they take and return is at their definitions.
PyObject* register_numpy(PyObject* const* args, Py_ssize_t n);
PyObject* register_torch(PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
