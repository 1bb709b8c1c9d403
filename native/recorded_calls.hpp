// Calls of families (families.hpp) whose gradient is wanted.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays.hpp"
#include "given.hpp"

namespace tenter {

// What a call's gradients need. adjoints: plans of Python's for gradients by their keys; made: how many gradients the
// core has made, as Python's code keeps a plan of one that is made often. scale, box: as the call had them, lists as
// tuples; of a policy the scale that it found.
struct RecordedCall {
  Owned family, key, scale, box, adjoints;
  Given given;
  const KnownDtype* dtype;
  int ndim;
  int64_t shape[max_read_dims], shape_out[max_read_dims];
  int made = 0;

  // What Python's code plans the same by: (tenter._plans.families.Family, sizes, x's shape, scale, box, channels_last).
  PyObject* operands() const;
};

// The result of a call with a gradient recorded. family, key: as `known_call` found them; given: as the family has read
// it.
PyObject* record_call(PyObject* x, const ArrayView& from, PyObject* family, PyObject* key, const Given& given,
                      PyObject* scale, PyObject* box);

// METH_FASTCALL functions; what they take and give is at their definitions.
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* run_recorded(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* recorded_backward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* gradients_family_key(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
