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

PyObject* none_or_error() {
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

Owned held(PyObject* p) {
  Py_INCREF(p);
  return Owned(p);
}

const Family& family_in(const RecordedCall& call) { return *nb::inst_ptr<Family>(call.family.get()); }

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

// (differentiable)
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected 1 argument");
  Py_INCREF(args[0]), differentiable = args[0];
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

// (gradient, RecordedCall) -> the gradient of the call's input; None where Python's code must plan it: the first of a
// layout, the second of a call, and what is followed.
PyObject* recorded_adjoint(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected a gradient and a call");
  PyObject* const g = args[0];
  RecordedCall& call = *nb::inst_ptr<RecordedCall>(args[1]);
  if (!is_tensor(g) || followed()) return none_or_error();
  ArrayView from;
  if (read_array(g, from) != Reading::readable || wants_grad(g)) return none_or_error();
  if (PyObject* const known = by_known_plan(g, from, call.adjoints.get())) return known;
  if (PyErr_Occurred()) return nullptr;
  const bool fits = from.dtype == call.dtype && from.ndim == call.ndim &&
                    std::equal(from.shape, from.shape + from.ndim, call.shape_out);
  if (!fits || call.made_one) Py_RETURN_NONE;
  const Owned key(gradients_key(call.key.get(), from));
  PyObject* const found = key ? family_of(key.get()) : nullptr;
  if (!found) return none_or_error();
  const Owned family = held(found);  // as other threads may forget it meanwhile
  const Family& its = *nb::inst_ptr<Family>(found);
  int64_t sizes[max_read_dims];
  for (int k = 0; k < its.n_axes; ++k) sizes[k] = call.shape[its.axes[k].dim];
  call.made_one = true;
  PyObject* const x = its.run(g, from, sizes, Boxes());
  return x ? x : none_or_error();
}

// (gradient, RecordedCall) -> the key of the family by which `recorded_adjoint` makes such gradients; None if it has
// none.
PyObject* gradients_family_key(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected a gradient and a call");
  ArrayView from;
  if (read_array(args[0], from) != Reading::readable) return none_or_error();
  PyObject* const key = gradients_key(nb::inst_ptr<RecordedCall>(args[1])->key.get(), from);
  return key ? key : none_or_error();
}

}  // namespace tenter
