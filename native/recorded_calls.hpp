// Calls that the core plans (families.hpp, new_repeat.hpp) whose gradient is wanted.
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>

#include "arrays.hpp"
#include "given.hpp"

namespace tenter {

// What a call's gradients need. adjoints: plans of Python's for gradients by their keys; made: how many gradients the
// core has made, as Python's code keeps a plan of one that is made often; is_kept: if it does.
struct RecordedCall {
  Owned adjoints;
  const KnownDtype* dtype;
  int ndim;  // of the result
  int64_t shape_out[max_read_dims];
  int made = 0;
  bool is_kept = true;

  virtual ~RecordedCall() = default;
  // What Python's code plans the same by: (bytes of an element, tenter._plans.families.Family, x's shape, the same,
  // sizes, scale, box, channels_last) or (bytes of an element, None, x's shape as it is repeated, x's shape, times,
  // each).
  virtual PyObject* operands() const = 0;
  // The call's result, and its input's gradient of one that is like the result; null with an error, or without where
  // Python's code must plan it.
  virtual PyObject* run(PyObject* x, const ArrayView& from) const = 0;
  virtual PyObject* sum(PyObject* g, const ArrayView& from) const = 0;
};

// The result of a call with a gradient recorded. shape_out, ndim: of the result.
PyObject* record(PyObject* x, const KnownDtype* dtype, const int64_t* shape_out, int ndim,
                 std::unique_ptr<RecordedCall> call);
// The same of a family's. family, key: as `known_call` found them; given: as the family has read it; scale, box: as the
// call had them, lists as tuples; of a policy the scale that it found.
PyObject* record_family(PyObject* x, const ArrayView& from, PyObject* family, PyObject* key, const Given& given,
                        PyObject* scale, PyObject* box);

// METH_FASTCALL functions; what they take and give is at their definitions.
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* recorded_forward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* recorded_backward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* gradients_family_key(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
