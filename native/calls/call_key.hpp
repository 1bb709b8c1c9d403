// The key of a call in the caches: all that its plan or specialization depends on, as bytes.
#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>

#include "arrays/array_libraries.hpp"
#include "arrays/boxes.hpp"
#include "calls/call_arguments.hpp"

namespace tenter {

// A fingerprint of an array's stride pattern, which determines the memory order of a result (tenter._arrays.layout).
//   from_slow  the dims, from the largest stride to the smallest
//   ones       bit d: the length of dim d is 1
//   zeros      bit d: the stride of dim d is 0
//   negative   bit d: the stride of dim d is negative
//   equal      bit k: from_slow[k] has the same stride as from_slow[k - 1]
//   below      bit 8 a + b: the stride of dim a is less than the extent of dim b, its length times its stride
// `of` fills it in. It returns false if the lengths matter too: for empty or interleaved dims, and for overlapping ones
// that are not expanded.
struct LayoutClass {
  uint8_t from_slow[max_read_dims], ones = 0, zeros = 0, negative = 0, equal = 0;
  uint64_t below = 0;
  bool of(const ArrayView& x);
};

// A tuple, a list or a torch.Size among a call's arguments. Values are borrowed: OwnArguments keeps them alive.
class Sequence {
 public:
  explicit Sequence(PyObject* x)
      : x_(x),
        list_(PyList_CheckExact(x)),
        size_(list_                                  ? PyList_Size(x)
              : PyTuple_CheckExact(x) || is_sizes(x) ? PyTuple_Size(x)
                                                     : -1) {}
  Py_ssize_t size() const { return size_; }  // -1 if the object is no such sequence
  PyObject* operator[](Py_ssize_t k) const { return list_ ? PyList_GetItem(x_, k) : PyTuple_GetItem(x_, k); }

 private:
  static bool is_sizes(PyObject* x) { return reinterpret_cast<PyObject*>(Py_TYPE(x)) == torch.sizes.load(); }
  PyObject* x_;
  bool list_;
  Py_ssize_t size_;
};

// A call's arguments with all lists copied, also nested ones, so that nobody can change them while they are read.
class OwnArguments {
 public:
  // Unreadable if there are too many arguments, or a list is too long or nested too deeply.
  Reading read(PyObject* const* args, Py_ssize_t n);
  PyObject* const* args() const { return args_; }

 private:
  static constexpr int most_args = CallArguments::most, most_values = 64, most_levels = 4;
  static bool holds_lists(PyObject* x);
  // Sets `to` to a copy of x, or to x itself if it is no list or tuple.
  static Reading own(PyObject* x, int level, Owned& to);
  PyObject* args_[most_args];
  Owned owned_[most_args];
};

// Bytes that are appended one value after the other. fits: whether they did not exceed the buffer.
class Key {
 public:
  void put(const void* p, size_t n) {
    if (size_ + n > sizeof bytes_) fits_ = false;
    else if (n) std::memcpy(bytes_ + size_, p, n), size_ += n;  // of no bytes p may be null
  }
  template <class T>
  void put(T value) {
    put(&value, sizeof value);
  }
  // Appends a constant by type and value: 1, True and 1.0 differ. A list counts by its values, as the call reads them
  // now. Returns false for a large int, and for a value of another type.
  bool constant(PyObject* x) {
    if (x == Py_None) return put('n'), true;
    if (PyBool_Check(x)) return put(x == Py_True ? 't' : 'f'), true;
    if (PyLong_CheckExact(x)) {
      int overflow = 0;
      const int64_t value = PyLong_AsLongLongAndOverflow(x, &overflow);
      return put('i'), put(value), overflow == 0;
    }
    if (PyFloat_CheckExact(x)) return put('d'), put(PyFloat_AsDouble(x)), true;
    if (PyUnicode_CheckExact(x)) {
      Py_ssize_t n;
      const char* const text = PyUnicode_AsUTF8AndSize(x, &n);
      if (!text) return PyErr_Clear(), false;
      return put('s'), put(uint16_t(n)), put(text, size_t(n)), true;  // a longer one does not fit
    }
    for (char k = 0; k < most_types; ++k)
      if (Py_TYPE(x) == constant_types[int(k)]) return put('T'), put(k), values_of(x);
    const Sequence values(x);
    if (values.size() < 0) return false;
    put(PyList_CheckExact(x) ? '[' : '('), put(values.size());
    for (Py_ssize_t k = 0; k < values.size() && fits_; ++k)
      if (!constant(values[k])) return false;
    return true;
  }
  // Appends all about an array except its address; of an array on a device, also the alignment of its address.
  void array(const ArrayView& x) {
    put(x.dtype), put(char(x.ndim)), put(char(x.device));
    put(x.shape, size_t(x.ndim) * sizeof x.shape[0]), put(x.stride, size_t(x.ndim) * sizeof x.stride[0]);
    if (x.device != on_cpu) put(x.device_number), put(int(reinterpret_cast<uintptr_t>(x.data) % 16));
  }
  // The same for an array that the core does not read. Returns false if the description of its dtype cannot be read.
  bool outline(const ArrayOutline& x) {
    const size_t bytes = size_t(x.ndim) * sizeof(int64_t);
    put('*'), put(x.number), put(char(x.ndim)), put(char(x.device)), put(x.shape, bytes), put(x.stride, bytes);
    if (x.device != on_cpu) put(x.device_number), put(int(reinterpret_cast<uintptr_t>(x.data) % 16));
    return !x.dtype || constant(x.dtype.get());
  }
  // Appends all about an array except its shape. Returns false if its memory order depends on the shape too.
  bool kind(const ArrayView& x) {
    LayoutClass its;
    put('~'), put(x.dtype), put(char(x.ndim)), put(char(x.device));
    const bool found = x.device == on_cpu && its.of(x);
    put(its.from_slow, size_t(x.ndim)), put(its.ones), put(its.zeros), put(its.negative), put(its.equal),
        put(its.below);
    return found;
  }
  // Appends how many sizes there are, without their values. Returns false if they are not ints.
  bool sizes(PyObject* x) {
    const Sequence values(x);
    put(values.size());
    if (values.size() < 0) return number_types.is_int(x);
    for (Py_ssize_t k = 0; k < values.size(); ++k)
      if (!number_types.is_int(values[k])) return false;
    return true;
  }
  // Appends the scales without their values.
  void scales(const Scales& s) {
    put('s'), put(s.count), put(s.several);
    for (int k = 0; k < s.count; ++k) put(s.each[k].is_fraction);
  }
  // Appends the boxes without their edges.
  void boxes(const Boxes& b) {
    put('b'), put(b.count);
    for (int k = 0; k < b.count; ++k) put(b.each[k].given);
  }
  // types: a tuple of at most `most_types` subclasses of tuple, which are constants if all their items are. Returns
  // false with an error.
  static constexpr int most_types = 4;
  static bool know_constants(PyObject* types);
  bool fits() const { return fits_; }
  // Null if the values do not fit, or there is no memory: the call then has no key.
  Owned bytes() const {
    Owned made(fits_ ? PyBytes_FromStringAndSize(bytes_, Py_ssize_t(size_)) : nullptr);
    if (!made) PyErr_Clear();
    return made;
  }

 private:
  bool values_of(PyObject* tuple) {
    for (Py_ssize_t k = 0, n = PyTuple_Size(tuple); k < n && fits_; ++k)
      if (!constant(PyTuple_GetItem(tuple, k))) return false;
    return true;
  }

  inline static PyTypeObject* constant_types[most_types] = {};
  char bytes_[2048];  // the layout of an array of 64 dims takes 1,024
  size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace tenter
