#include "recorded_calls.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <new>

#include "call_key.hpp"
#include "families.hpp"
#include "lookup.hpp"
#include "results.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

PyObject* differentiable = nullptr;  // (x, RecordedCall) -> the result with a gradient recorded
PyObject* any_backward = nullptr;    // Python's, of a ctx and a gradient
PyObject* name_call = nullptr;
long seldom = 0;  // gradients of one call, from which on Python's code keeps a plan

Owned held(PyObject* p) {
  Py_INCREF(p);
  return Owned(p);
}

// Numbers, or sequences of numbers or of other such sequences, as what does not change.
Owned frozen(PyObject* x) {
  const Sequence values(x);
  if (values.size() < 0) return held(x);
  Owned to(PyTuple_New(values.size()));
  for (Py_ssize_t k = 0; to && k < values.size(); ++k) {
    PyObject* const value = frozen(values[k]).release();
    if (!value) return Owned();
    PyTuple_SetItem(to.get(), k, value);
  }
  return to;
}

const Family& family_in(const RecordedCall& call) { return *nb::inst_ptr<Family>(call.family.get()); }

// The gradient of a call's input; null with an error, or without where Python's code must plan it: the first of a
// layout, one of many of a call, and what is followed.
PyObject* adjoint(PyObject* g, RecordedCall& call) {
  if (!is_tensor(g) || followed()) return nullptr;
  ArrayView from;
  if (read_array(g, from) != Reading::readable || wants_grad(g)) return nullptr;
  if (PyObject* const known = by_known_plan(g, from, call.adjoints.get())) return known;
  if (PyErr_Occurred()) return nullptr;
  const bool fits = from.dtype == call.dtype && from.ndim == call.ndim &&
                    std::equal(from.shape, from.shape + from.ndim, call.shape_out);
  if (!fits || (call.made >= seldom && !call.given.boxes.turned)) return nullptr;
  const Owned key(gradients_key(call.key.get(), from));
  PyObject* const found = key ? family_of(key.get()) : nullptr;
  if (!found) return nullptr;
  const Owned family = held(found);  // as other threads may forget it meanwhile
  const Family& its = *nb::inst_ptr<Family>(found);
  Given given = call.given;
  for (int k = 0; k < its.n_axes; ++k) given.sizes[k] = call.shape[its.axes[k].dim];
  ++call.made;
  return its.run(g, from, given);
}

}  // namespace

PyObject* RecordedCall::operands() const {
  const Owned lengths(shape_tuple(shape, ndim)), sizes(shape_tuple(given.sizes, family_in(*this).n_axes));
  if (!lengths || !sizes) return nullptr;
  return PyTuple_Pack(6, family_in(*this).planner.get(), sizes.get(), lengths.get(), scale.get(), box.get(),
                      given.channels_last ? Py_True : Py_False);
}

PyObject* record_call(PyObject* x, const ArrayView& from, PyObject* family, PyObject* key, const Given& given,
                      PyObject* scale, PyObject* box) {
  auto made = std::unique_ptr<RecordedCall>(new (std::nothrow) RecordedCall);
  if (!made) return PyErr_NoMemory();
  RecordedCall& call = *made;
  call.adjoints = Owned(PyDict_New());
  call.scale = frozen(scale), call.box = frozen(box), call.given = given;
  if (!call.adjoints || !call.scale || !call.box || !differentiable) return nullptr;
  call.family = held(family), call.key = held(key);
  call.dtype = from.dtype, call.ndim = from.ndim;
  std::copy_n(from.shape, from.ndim, call.shape), std::copy_n(from.shape, from.ndim, call.shape_out);
  const Family& its = family_in(call);
  for (int k = 0; k < its.n_axes; ++k) call.shape_out[its.axes[k].dim] = given.sizes[k];
  try {
    const nb::object recorded = nb::cast(made.release(), nb::rv_policy::take_ownership);
    PyObject* const both[2] = {x, recorded.ptr()};
    return PyObject_Vectorcall(differentiable, both, 2, nullptr);
  } catch (nb::python_error& failed) { failed.restore(); } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

// (differentiable, any_backward, the type of PyTorch's sizes, seldom)
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 4) return PyErr_Format(PyExc_TypeError, "expected 4 arguments");
  if ((seldom = PyLong_AsLong(args[3])) == -1 && PyErr_Occurred()) return nullptr;
  if (!(name_call = PyUnicode_InternFromString("call"))) return nullptr;
  Py_INCREF(args[0]), differentiable = args[0];
  Py_INCREF(args[1]), any_backward = args[1];
  Py_INCREF(args[2]), Sequence::know_sizes(args[2]);
  Py_RETURN_NONE;
}

// (x, RecordedCall) -> the call's result; None where Python's code must plan it.
PyObject* run_recorded(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected an array and a call");
  const RecordedCall& call = *nb::inst_ptr<RecordedCall>(args[1]);
  const Family& family = family_in(call);
  ArrayView from;
  if (read_array(args[0], from) != Reading::readable) return none_or_error();
  call.given.boxes.turn(from);
  PyObject* const y = family.run(args[0], from, call.given);
  return y ? y : none_or_error();
}

// The backward of a Function whose ctx has the RecordedCall, a method of it: (gradient) -> (the gradient of the call's
// input, None).
PyObject* recorded_backward(PyObject* ctx, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected a gradient");
  const Owned call(PyObject_GetAttr(ctx, name_call));
  if (!call) return nullptr;
  const Owned x(adjoint(args[0], *nb::inst_ptr<RecordedCall>(call.get())));
  if (x) return PyTuple_Pack(2, x.get(), Py_None);
  PyObject* const both[2] = {ctx, args[0]};
  return PyErr_Occurred() ? nullptr : PyObject_Vectorcall(any_backward, both, 2, nullptr);
}

// (gradient, RecordedCall) -> the key of the family by which `adjoint` makes such gradients; None if it has
// none.
PyObject* gradients_family_key(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected a gradient and a call");
  ArrayView from;
  if (read_array(args[0], from) != Reading::readable) return none_or_error();
  PyObject* const key = gradients_key(nb::inst_ptr<RecordedCall>(args[1])->key.get(), from);
  return key ? key : none_or_error();
}

}  // namespace tenter
