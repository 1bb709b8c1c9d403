// What a call depends on, as bytes.
#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>

#include "arrays.hpp"
#include "boxes.hpp"
#include "call_arguments.hpp"

namespace tenter {

// How an array's dims lie to each other, of which the order of a result's dims follows (tenter._arrays.layout): which
// stride is larger, zero, negative or equal to another, which lengths are one, and which stride lies below another
// dim's extent, bit 8 a + b of dims a and b. False where lengths decide more: of dims that overlap or alternate in
// memory.
struct LayoutClass {
  uint8_t from_slow[max_read_dims], ones = 0, zeros = 0, negative = 0, equal = 0;
  uint64_t below = 0;
  bool of(const ArrayView& x);
};

// A tuple, a list or sizes of PyTorch's, whose values are borrowed: of a call's arguments as OwnArguments has them.
class Sequence {
 public:
  explicit Sequence(PyObject* x)
      : x_(x),
        list_(PyList_CheckExact(x)),
        size_(list_                                  ? PyList_Size(x)
              : PyTuple_CheckExact(x) || is_sizes(x) ? PyTuple_Size(x)
                                                     : -1) {}
  Py_ssize_t size() const { return size_; }  // -1 of anything else
  PyObject* operator[](Py_ssize_t k) const { return list_ ? PyList_GetItem(x_, k) : PyTuple_GetItem(x_, k); }
  // type: of PyTorch's sizes, a kind of tuple.
  static void know_sizes(PyObject* type) { sizes_type = type; }

 private:
  static bool is_sizes(PyObject* x) { return reinterpret_cast<PyObject*>(Py_TYPE(x)) == sizes_type; }
  inline static PyObject* sizes_type = nullptr;
  PyObject* x_;
  bool list_;
  Py_ssize_t size_;
};

// A call's arguments, to which nobody else can write while they are read: lists are copied, with those within them.
class OwnArguments {
 public:
  // False with an error, or where Python's code shall read them: more arguments, longer lists or lists in more others
  // than known calls have.
  bool read(PyObject* const* args, Py_ssize_t n);
  PyObject* const* args() const { return args_; }

 private:
  static constexpr int most_args = CallArguments::most, most_values = 64, most_levels = 4;
  static bool holds_lists(PyObject* x);
  // A reference; null with an error, or without where Python's code shall read it.
  static Owned own(PyObject* x, int level);
  PyObject* args_[most_args];
  Owned owned_[most_args];
};

class Key {
 public:
  void put(const void* p, size_t n) {
    if (size_ + n > sizeof bytes_) fits_ = false;
    else std::memcpy(bytes_ + size_, p, n), size_ += n;
  }
  template <class T>
  void put(T value) {
    put(&value, sizeof value);
  }
  // A constant, by type and value: 1, True and 1.0 are not the same. False for a value that is large, or of another
  // type. A list by its values, which the call reads now.
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
      return put('s'), put(n), put(text, size_t(n)), true;
    }
    const Sequence values(x);
    if (values.size() < 0) return false;
    put(PyList_CheckExact(x) ? '[' : '('), put(values.size());
    for (Py_ssize_t k = 0; k < values.size() && fits_; ++k)
      if (!constant(values[k])) return false;
    return true;
  }
  void array(const ArrayView& x) {
    put(x.dtype), put(char(x.ndim)), put(char(x.device));
    put(x.shape, size_t(x.ndim) * sizeof x.shape[0]), put(x.stride, size_t(x.ndim) * sizeof x.stride[0]);
    if (x.device != on_cpu) put(x.device_number), put(int(reinterpret_cast<uintptr_t>(x.data) % 16));
  }
  // An array but for its sizes; false where they say more than how large it is.
  bool kind(const ArrayView& x) {
    LayoutClass its;
    put('~'), put(x.dtype), put(char(x.ndim)), put(char(x.device));
    const bool found = x.device == on_cpu && its.of(x);
    put(its.from_slow, size_t(x.ndim)), put(its.ones), put(its.zeros), put(its.negative), put(its.equal),
        put(its.below);
    return found;
  }
  // Sizes but for their values.
  bool sizes(PyObject* x) {
    const Sequence values(x);
    put(values.size());
    if (values.size() < 0) return number_types.is_int(x);
    for (Py_ssize_t k = 0; k < values.size(); ++k)
      if (!number_types.is_int(values[k])) return false;
    return true;
  }
  // Scales but for their values.
  void scales(const Scales& s) {
    put('s'), put(s.count), put(s.several);
    for (int k = 0; k < s.count; ++k) put(s.each[k].is_fraction);
  }
  // Boxes but for their edges.
  void boxes(const Boxes& b) {
    put('b'), put(b.count);
    for (int k = 0; k < b.count; ++k) put(b.each[k].given);
  }
  bool fits() const { return fits_; }
  PyObject* bytes() const { return PyBytes_FromStringAndSize(bytes_, Py_ssize_t(size_)); }

 private:
  char bytes_[512];
  size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace tenter
