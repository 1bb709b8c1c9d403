// Calls that the core plans (families.hpp, new_repeat.hpp) whose gradient is wanted.
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>

#include "arrays.hpp"
#include "cached_plan.hpp"
#include "given.hpp"

namespace tenter {

// What a call's gradients need. key, plan: as CachedPlan has them, but that they are kept; is_cached: whether a plan of
// the call is cached, so that those of its gradients are too.
struct RecordedCall {
  Owned key, plan;
  bool is_cached = false;
  const KnownDtype* dtype;
  int ndim;  // of the result
  int64_t shape_out[max_read_dims];

  virtual ~RecordedCall() = default;
  // What Python's code plans the same by: (bytes of an element, tenter._plans.families.Family, x's shape, the same,
  // sizes, scale, box, channels_last) or (bytes of an element, None, x's shape as it is repeated, x's shape, times,
  // each).
  virtual PyObject* operands() const = 0;
  // How the call is done, and how its input's gradient is made of one that is like the result; null with an error, or
  // without where Python's code must plan it. from: of x; as `turn` leaves it.
  virtual std::unique_ptr<HostPlan> make_plan(const ArrayView& from) const = 0;
  virtual std::unique_ptr<HostPlan> make_adjoint(const ArrayView& from) const = 0;
  virtual void turn(ArrayView&) const {}
};

// The result of a call with a gradient recorded. shape_out, ndim: of the result.
PyObject* record(PyObject* x, const KnownDtype* dtype, const int64_t* shape_out, int ndim, const CachedPlan& cached,
                 std::unique_ptr<RecordedCall> call);
// The same of a family's. family, key: as `known_call` found them; given: as the family has read it; scale, box: as the
// call had them, lists as tuples; of a policy the scale that it found.
PyObject* record_family(PyObject* x, const ArrayView& from, PyObject* family, PyObject* key, const Given& given,
                        PyObject* scale, PyObject* box, const CachedPlan& cached);

// METH_FASTCALL functions; what they take and give is at their definitions.
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* recorded_forward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* recorded_backward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* gradients_family_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* adjoint_plan_key(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
