// References to Python objects, and the result of a call in the core, or why there is none.
#pragma once
#include <Python.h>

#include <utility>

namespace tenter {

// Owns one reference to a Python object, or null, and releases it in its destructor.
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

// What became of reading an argument.
//   readable    it was read
//   unreadable  the core does not read this kind of argument, or the tensor's storage is too small: Python must look
//   traced      the memory does not say all about this tensor, or its gradient is recorded: Python must look
//   failed      a Python error is set
enum class [[nodiscard]] Reading { readable, unreadable, traced, failed };

// done: there is a result. declined: Python must run the call; no error is set. failed: a Python error is set.
class [[nodiscard]] Outcome {
 public:
  static Outcome done(Owned result) { return Outcome(Kind::done, std::move(result)); }
  static Outcome declined() { return Outcome(Kind::declined, Owned()); }
  static Outcome failed() { return Outcome(Kind::failed, Owned()); }
  static Outcome if_any(Owned found) { return found ? done(std::move(found)) : declined(); }
  // From what a function of Python's C interface returned: a new reference, or null with an error.
  static Outcome of_python(PyObject* result) { return result ? done(Owned(result)) : failed(); }
  // Of a call one of whose arguments was not readable.
  static Outcome unread(Reading found) { return found == Reading::failed ? failed() : declined(); }

  bool is_done() const { return kind_ == Kind::done; }
  bool is_declined() const { return kind_ == Kind::declined; }
  // For a function of Python's C interface to return: a new reference, None if declined, null if failed.
  PyObject* to_python() && { return is_declined() ? Py_NewRef(Py_None) : result_.release(); }
  Owned result() && { return std::move(result_); }

 private:
  enum class Kind { done, declined, failed };
  Outcome(Kind kind, Owned result) : kind_(kind), result_(std::move(result)) {}

  Kind kind_;
  Owned result_;
};

}  // namespace tenter
