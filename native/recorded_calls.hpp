// Calls of families (families.hpp) whose gradient is wanted.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays.hpp"

namespace tenter {

// What a call's gradients need. adjoints: plans of Python's for gradients by their keys; made_one: whether the core has
// made a gradient, as Python's code keeps a plan from the second time on.
struct RecordedCall {
  Owned family, key, size, adjoints;
  const KnownDtype* dtype;
  int ndim;
  int64_t shape[max_read_dims], shape_out[max_read_dims];
  bool made_one = false;

  // What Python's code plans the same by: (tenter._plans.families.Family, size, x's shape).
  PyObject* operands() const;
};

// The result of a call with a gradient recorded. family, key: as `known_call` found them; size: one that the family has
// read.
PyObject* record_call(PyObject* x, const ArrayView& from, PyObject* family, PyObject* key, PyObject* size);

// METH_FASTCALL functions; what they take and give is at their definitions.
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* run_recorded(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* recorded_backward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* gradients_family_key(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
