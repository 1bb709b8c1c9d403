// Calls whose gradient is recorded. They share one autograd Function; its ctx holds a RecordedCall or a CallPlan.
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>

#include "arrays/arrays.hpp"
#include "arrays/outcome.hpp"
#include "calls/call_arguments.hpp"
#include "calls/cached_plan.hpp"
#include "calls/dynamic_arguments.hpp"

namespace tenter {

// A call, as a linear map from a tensor to a tensor.
struct RecordedCall {
  virtual ~RecordedCall() = default;
  // The result for x. from: its view, flipped as the call's boxes say.
  virtual Outcome run(PyObject* x, const ArrayView& from) const = 0;
  // The gradient of x, from a gradient g of the result. g: not traced.
  virtual Outcome adjoint(PyObject* g) const = 0;
  // A tuple by which Python runs the same call; a new reference, or null with an error. It begins with the bytes of an
  // element, the Specialization or None, the shape in which x is repeated or resized, and the shape of x. Then follow:
  //   of a specialization  sizes, scale, box, channels_last
  //   of a repeat by ints  times, each
  //   of counts            offsets, dim, total
  // Or the CallPlan, if Python made the plan.
  virtual PyObject* operands() const = 0;
  // The keys by which Python stores the specialization and the plan of gradients with g's layout; null if it must not.
  virtual Owned specialization_key(const ArrayView&) const { return Owned(); }
  virtual Owned plan_key(const ArrayView&) const { return Owned(); }
  // The view with which `run` is called; null except while PyTorch records the call.
  const ArrayView* from = nullptr;
};

// A recorded call that the core plans.
//   key, plan  as in CachedPlan, but owned
//   is_cached  whether the call's plan is cached; plans of its gradients are then cached too, else of frequent ones
//   dtype      of x and of the result
struct PlannedCall : RecordedCall {
  Owned key, plan;
  bool is_cached = false;
  const ArrayDtype* dtype;
  int ndim;  // of the result
  int64_t shape_out[max_read_dims];

  Outcome run(PyObject* x, const ArrayView& from) const override;
  Outcome adjoint(PyObject* g) const override;
  Owned plan_key(const ArrayView& g) const override;
  // The plan of the call, and the plan of the gradient of x. Null where Python must plan.
  // from: the view of x, flipped as the call's boxes say; or the view of the gradient.
  virtual std::unique_ptr<HostPlan> make_plan(const ArrayView& from) const = 0;
  virtual std::unique_ptr<HostPlan> make_adjoint(const ArrayView& from) const = 0;
};

// Runs a call and records its gradient. from: as in RecordedCall::run. Declined if Python has not registered the
// Function yet.
Outcome record(PyObject* x, const ArrayView& from, std::unique_ptr<RecordedCall> call);
// The same for a call that the core plans, whose members it fills in. shape_out, ndim: of the result.
Outcome record(PyObject* x, const ArrayView& from, const int64_t* shape_out, int ndim, const CachedPlan& cached,
               std::unique_ptr<PlannedCall> call);
// The same for a cached plan that Python made. key: the plan's.
Outcome record_cached(PyObject* x, const ArrayView& from, PyObject* key, PyObject* plan);
// The same for a call that has a specialization.
//   from   the view of x, flipped as its boxes say
//   key    of the specialization
//   scale  the call's argument, or the scale that was found by fitting sizes
Outcome record_specialized(const CoreCall& call, const ArrayView& from, PyObject* specialization, PyObject* key,
                           const DynamicArguments& dynamic, PyObject* scale, const CachedPlan& cached);

// What these functions take and return is at their definitions.
PyObject* recorded_forward(PyObject* const* args, Py_ssize_t n);
PyObject* recorded_backward(PyObject* ctx, PyObject* g);

}  // namespace tenter
