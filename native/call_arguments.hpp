// Where a call has the arguments that the core reads, by their names in Python.
#pragma once
#include <Python.h>

namespace tenter {

// `sizes`, `dims`: all that follow, or one sequence of them.
enum class Argument : int { size, scale, scale_factor, axes, box, repeats, dim, output_size, sizes, dims, count };

// The names of a call's arguments after x, as Python said them when it was imported (`name_arguments`).
class CallArguments {
 public:
  static constexpr Py_ssize_t most = 32;

  // Null where the core reads no argument of that call by name.
  static const CallArguments* of(PyObject* call);
  // Where an argument is: -1 if the call has none of that name.
  Py_ssize_t at(Argument name) const { return at_[int(name)]; }
  bool has(Argument name) const { return at(name) >= 0; }
  // Borrowed; None if the call has none of that name, or was made with fewer.
  PyObject* find(Argument name, PyObject* const* args, Py_ssize_t n) const {
    return has(name) && at(name) < n ? args[at(name)] : Py_None;
  }

 private:
  friend PyObject* name_arguments(PyObject*, PyObject* const* args, Py_ssize_t n);
  PyObject* call_ = nullptr;
  PyObject* equal_ = nullptr;  // another string of that name, which was found last
  Py_ssize_t at_[int(Argument::count)];
};

// (call, names of its arguments after x)
PyObject* name_arguments(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
