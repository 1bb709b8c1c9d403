// Which argument of a call is which: the core finds those that it reads by their names in Python.
#pragma once
#include <Python.h>

#include <atomic>

#include "arrays/arrays.hpp"
#include "plan/target.hpp"

namespace tenter {

// `sizes` and `dims` are *sizes, *dims or *reps: all remaining arguments, or one sequence.
enum class Argument : int { size, scale, scale_factor, axes, box, repeats, dim, output_size, sizes, dims, count };

// The positions of one function's arguments after x. Python registers their names at import (`register_calls`).
class CallArguments {
 public:
  static constexpr Py_ssize_t most = 32;

  // Registers a function: its name, and the names of its arguments after x. Returns false with an error.
  static bool learn(PyObject* call, PyObject* argument_names);
  // call: the function's name. Null if the core reads no argument of that function by name.
  static const CallArguments* of(PyObject* call);
  // The position of an argument; -1 if the function has no argument of that name.
  Py_ssize_t at(Argument name) const { return at_[int(name)]; }
  bool has(Argument name) const { return at(name) >= 0; }
  // The value of an argument, borrowed; None if the function has no such argument, or the call left it out.
  PyObject* find(Argument name, PyObject* const* args, Py_ssize_t n) const {
    return has(name) && at(name) < n ? args[at(name)] : Py_None;
  }

 private:
  PyObject* call_ = nullptr;
  // Another string object with the same text, which was looked up last. A caller that finds its own name here holds it.
  std::atomic<PyObject*> equal_{nullptr};
  Py_ssize_t at_[int(Argument::count)];
};

// A call of one of tenter's functions. All references are borrowed.
//   x, from     the array, and its view
//   function    the name of the function
//   names       its arguments; null if the core reads none by name
//   args, n     the n arguments after x
//   wants_grad  whether the gradient is recorded
//   target      where the result goes; null for fresh memory
struct CoreCall {
  PyObject* x;
  const ArrayView& from;
  PyObject* function;
  const CallArguments* names;
  PyObject* const* args;
  Py_ssize_t n;
  bool wants_grad = false;
  const Target* target = nullptr;

  PyObject* find(Argument name) const { return names->find(name, args, n); }
};

}  // namespace tenter
