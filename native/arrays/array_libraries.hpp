// What Python registers with the core when it is imported: NumPy, PyTorch and calls, each by one function, once and in
// any order. Registered objects are never released. PyTorch may be registered while other threads make calls: these
// read nothing of it before its `type` is set, except `sizes`. DESIGN.md lists all global state of the core.
#pragma once
#include <atomic>
#include <vector>

#include "arrays/arrays.hpp"
#include "arrays/dlpack.hpp"

namespace tenter {

// The first fields of NumPy's array. They are part of NumPy's ABI; register_numpy verifies them.
struct NumpyArray {
  PyObject_HEAD char* data;
  int nd;
  Py_ssize_t* dimensions;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* descr;
};

extern struct NumpyLibrary {
  PyObject* type = nullptr;
  PyObject* large_empty = nullptr;  // (x, shape, order) -> (array, address, past caches)
  PyObject *metadata, *num, *isnative, *str, *hasobject, *transpose;  // interned names of attributes
  // PyArray_NewFromDescr, which takes over a reference of the dtype; and PyArray_SetBaseObject, which takes over one of
  // the base.
  PyObject* (*new_array)(PyObject* type, PyObject* dtype, int ndim, const Py_ssize_t* shape, const Py_ssize_t* stride,
                         void* data, int flags, PyObject*) = nullptr;
  int (*set_base)(PyObject* view, PyObject* base) = nullptr;
  std::vector<ArrayDtype> dtypes;
} numpy;

// PyTorch, read by DLPack's exchange API.
extern struct TorchLibrary {
  int (*read)(void*, DLTensor*) = nullptr;
  int (*make)(ManagedTensor*, void**) = nullptr;
  PyObject* large_empty = nullptr;       // like NumPy's
  std::atomic<PyObject*> type{nullptr};  // set last
  PyObject *parameter = nullptr, *empty = nullptr, *empty_strided = nullptr, *dtype_keyword = nullptr;
  PyObject *tracers = nullptr, *autocast = nullptr, *grad_enabled = nullptr;
  PyObject *forward_ad = nullptr, *current_level;  // the module's dictionary, and a name in it
  // Attributes of the types of tensors and of storages: finding them in each call takes as long as calling them.
  PyObject *is_neg, *is_conj, *untyped_storage, *nbytes, *storage_offset, *requires_grad, *expand = nullptr, *numel;
  descrgetfunc get_attribute;             // of `requires_grad`
  std::atomic<PyObject*> sizes{nullptr};  // torch.Size, a subclass of tuple
  std::vector<ArrayDtype> dtypes;
  std::atomic<const ArrayDtype*> usual{nullptr};  // the default dtype: what `empty` last returned without a dtype

  const ArrayDtype* dtype_of(const DLTensor& t) const {
    for (const ArrayDtype& d : dtypes)
      if (d.code == t.code && d.bits == t.bits && t.lanes == 1) return &d;
    return nullptr;
  }
} torch;

// The types of numbers that the core reads, other than Python's int and float.
//   numpy     a tuple of NumPy's types of integers and floats
//   fraction  fractions.Fraction
// Only objects of exactly these types are read. Reading a subclass, or an object that changes its `__class__`, could
// run the user's code, which could change the call's lists and arrays.
extern struct NumberTypes {
  PyObject *numpy = nullptr, *fraction = nullptr;

  bool is_numpy(PyObject* x) const {
    PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(x));
    for (Py_ssize_t k = 0, n = numpy ? PyTuple_Size(numpy) : 0; k < n; ++k)
      if (PyTuple_GetItem(numpy, k) == type) return true;
    return false;
  }
  // Whether x is an int of Python or NumPy.
  bool is_int(PyObject* x) const { return PyLong_CheckExact(x) || (PyIndex_Check(x) && is_numpy(x)); }
} number_types;

// What calls need of Python (tenter._execution.calls).
extern struct RegisteredCalls {
  PyObject* plans = nullptr;            // dictionary: a call's key -> HostPlan or CallPlan; `store` bounds its size
  PyObject* specializations = nullptr;  // dictionary: key -> Specialization or None
  PyObject* run = nullptr;              // (x, CallPlan) -> result, for an x that `read_detached` reads
  PyObject* run_checked = nullptr;      // the same for any x; None if Python must check the call
  PyObject* store = nullptr;            // (key, plan) -> None: caches the plan
  PyObject* thread_count = nullptr;
  Py_ssize_t steps = 0;  // index in a CallPlan, which is a tuple, of the HostPlan or what else runs it
  int64_t memory = 0;    // bytes of memory of the machine
} calls;

// The autograd Function of all linear maps of tensors (tenter._torch.gradients).
extern struct RegisteredGradients {
  PyObject* apply = nullptr;      // (x, RecordedCall or CallPlan) -> the result
  PyObject* forward = nullptr;    // Python's forward: (x, a call's operands or a CallPlan) -> the result
  PyObject* backward = nullptr;   // Python's backward: (ctx, gradient) -> the gradients
  PyObject* name_call = nullptr;  // the name of ctx's attribute that holds the call
} gradients;

constexpr int64_t max_elements = int64_t{1} << 58;  // of a view: its bytes must fit int64
constexpr int complex_code = 5, bool_code = 6;      // DLPack's codes of dtypes

// Calls a type's method without arguments. Returns a new reference, or null with an error.
inline PyObject* method(PyObject* x, PyObject* of_type) { return PyObject_Vectorcall(of_type, &x, 1, nullptr); }

// A value of a dictionary, in a reference of our own, as another thread may drop it from the dictionary. Null if there
// is none; of keys whose look-up may fail, also with an error.
inline PyObject* value_in(PyObject* dictionary, PyObject* key) {
#if defined(Py_GIL_DISABLED)
  PyObject* found = nullptr;
  PyDict_GetItemRef(dictionary, key, &found);
  return found;
#else  // the stable ABI of 3.12 has only a borrowed reference, which the lock protects
  return Py_XNewRef(PyDict_GetItemWithError(dictionary, key));
#endif
}

// Reads an int and releases it. Returns false with an error, also if `result` is null.
inline bool integer(PyObject* result, int64_t& value) {
  if (!result) return false;
  value = PyLong_AsLongLong(result);
  Py_DECREF(result);
  return !(value == -1 && PyErr_Occurred());
}

}  // namespace tenter
