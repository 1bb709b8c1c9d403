#include "recorded_calls.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <new>

#include "boxes.hpp"
#include "families.hpp"
#include "lookup.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

PyObject* differentiable = nullptr;  // (x, RecordedCall) -> the result with a gradient recorded
PyObject* any_backward = nullptr;    // Python's, of a ctx and a gradient
PyObject* name_call = nullptr;

PyObject* none_or_error() {
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

Owned held(PyObject* p) {
  Py_INCREF(p);
  return Owned(p);
}

const Family& family_in(const RecordedCall& call) { return *nb::inst_ptr<Family>(call.family.get()); }

// The gradient of a call's input; null with an error, or without where Python's code must plan it: the first of a
// layout, the second of a call, and what is followed.
PyObject* adjoint(PyObject* g, RecordedCall& call) {
  if (!is_tensor(g) || followed()) return nullptr;
  ArrayView from;
  if (read_array(g, from) != Reading::readable || wants_grad(g)) return nullptr;
  if (PyObject* const known = by_known_plan(g, from, call.adjoints.get())) return known;
  if (PyErr_Occurred()) return nullptr;
  const bool fits = from.dtype == call.dtype && from.ndim == call.ndim &&
                    std::equal(from.shape, from.shape + from.ndim, call.shape_out);
  if (!fits || call.made_one) return nullptr;
  const Owned key(gradients_key(call.key.get(), from));
  PyObject* const found = key ? family_of(key.get()) : nullptr;
  if (!found) return nullptr;
  const Owned family = held(found);  // as other threads may forget it meanwhile
  const Family& its = *nb::inst_ptr<Family>(found);
  int64_t sizes[max_read_dims];
  for (int k = 0; k < its.n_axes; ++k) sizes[k] = call.shape[its.axes[k].dim];
  call.made_one = true;
  return its.run(g, from, sizes, Boxes());
}

}  // namespace

PyObject* RecordedCall::operands() const {
  const Owned lengths(PyTuple_New(ndim));
  for (int d = 0; lengths && d < ndim; ++d) {
    PyObject* const n = PyLong_FromLongLong(shape[d]);
    if (!n) return nullptr;
    PyTuple_SetItem(lengths.get(), d, n);
  }
  return lengths ? PyTuple_Pack(3, family_in(*this).planner.get(), size.get(), lengths.get()) : nullptr;
}

PyObject* record_call(PyObject* x, const ArrayView& from, PyObject* family, PyObject* key, PyObject* size) {
  auto made = std::unique_ptr<RecordedCall>(new (std::nothrow) RecordedCall);
  if (!made) return PyErr_NoMemory();
  RecordedCall& call = *made;
  call.adjoints = Owned(PyDict_New());
  if (!call.adjoints || !differentiable) return nullptr;
  call.family = held(family), call.key = held(key), call.size = held(size);
  call.dtype = from.dtype, call.ndim = from.ndim;
  std::copy_n(from.shape, from.ndim, call.shape), std::copy_n(from.shape, from.ndim, call.shape_out);
  const Family& its = family_in(call);
  int64_t sizes[max_read_dims];
  if (!its.read_sizes(size, sizes)) return nullptr;
  for (int k = 0; k < its.n_axes; ++k) call.shape_out[its.axes[k].dim] = sizes[k];
  try {
    const nb::object recorded = nb::cast(made.release(), nb::rv_policy::take_ownership);
    PyObject* const both[2] = {x, recorded.ptr()};
    return PyObject_Vectorcall(differentiable, both, 2, nullptr);
  } catch (nb::python_error& failed) { failed.restore(); } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

// (differentiable, any_backward)
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected 2 arguments");
  if (!(name_call = PyUnicode_InternFromString("call"))) return nullptr;
  Py_INCREF(args[0]), differentiable = args[0];
  Py_INCREF(args[1]), any_backward = args[1];
  Py_RETURN_NONE;
}

// (x, RecordedCall) -> the call's result; None where Python's code must plan it.
PyObject* run_recorded(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected an array and a call");
  const RecordedCall& call = *nb::inst_ptr<RecordedCall>(args[1]);
  const Family& family = family_in(call);
  ArrayView from;
  int64_t sizes[max_read_dims];
  if (read_array(args[0], from) != Reading::readable || !family.read_sizes(call.size.get(), sizes))
    return none_or_error();
  PyObject* const y = family.run(args[0], from, sizes, Boxes());
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
