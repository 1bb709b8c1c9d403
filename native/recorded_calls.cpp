#include "recorded_calls.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <new>

#include "call_key.hpp"
#include "families.hpp"
#include "lookup.hpp"
#include "results.hpp"
#include "tuning.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

PyObject* differentiable = nullptr;  // (x, RecordedCall) -> the result with a gradient recorded
PyObject* any_forward = nullptr;     // Python's, of x and a call's operands
PyObject* any_backward = nullptr;    // Python's, of a ctx and a gradient
PyObject* name_call = nullptr;

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

// scale, box: as the call had them, lists as tuples.
struct RecordedFamily : RecordedCall {
  Owned family, family_key, scale, box;
  Given given;
  int64_t shape[max_read_dims];

  const Family& its() const { return *nb::inst_ptr<Family>(family.get()); }
  PyObject* operands() const override {
    const Owned lengths(shape_tuple(shape, ndim)), sizes(shape_tuple(given.sizes, its().n_axes));
    const Owned itemsize(PyLong_FromLong(dtype->itemsize));
    if (!lengths || !sizes || !itemsize) return nullptr;
    return PyTuple_Pack(8, itemsize.get(), its().planner.get(), lengths.get(), lengths.get(), sizes.get(), scale.get(),
                        box.get(), given.channels_last ? Py_True : Py_False);
  }
  void turn(ArrayView& x) const override { given.boxes.turn(x); }
  std::unique_ptr<HostPlan> make_plan(const ArrayView& from) const override { return its().plan(from, given, nullptr); }
  // Python's code makes the family of the first of a layout.
  std::unique_ptr<HostPlan> make_adjoint(const ArrayView& from) const override {
    const Owned of_gradients(gradients_key(family_key.get(), from));
    PyObject* const found = of_gradients ? family_of(of_gradients.get()) : nullptr;
    if (!found) return nullptr;
    const Owned kept = held(found);  // as other threads may forget it meanwhile
    const Family& transposed = *nb::inst_ptr<Family>(found);
    Given sizes = given;
    for (int k = 0; k < transposed.n_axes; ++k) sizes.sizes[k] = shape[transposed.axes[k].dim];
    return transposed.plan(from, sizes, nullptr);
  }
};

// By which the plan of a call's gradients like g is cached; null with an error, or without where none is.
Owned adjoint_key(const RecordedCall& call, const ArrayView& g) {
  char* bytes;
  Py_ssize_t n;
  Key key;
  if (!call.is_cached || PyBytes_AsStringAndSize(call.key.get(), &bytes, &n) < 0) return Owned();
  key.put(bytes, size_t(n)), key.put('^');  // which no call's key has there
  key.array(g);
  return Owned(key.fits() ? key.bytes() : nullptr);
}

// The gradient of a call's input; null with an error, or without where Python's code must plan it, or something follows
// the call.
PyObject* adjoint(PyObject* g, const RecordedCall& call) {
  if (!is_tensor(g) || followed()) return nullptr;
  ArrayView from;
  if (read_array(g, from) != Reading::readable || wants_grad(g)) return nullptr;
  const bool fits = from.dtype == call.dtype && from.ndim == call.ndim &&
                    std::equal(from.shape, from.shape + from.ndim, call.shape_out);
  if (!fits) return nullptr;
  const Owned key = adjoint_key(call, from);
  const Owned known(key ? Py_XNewRef(cached_plan(key.get())) : nullptr);  // as other threads may forget it meanwhile
  if (PyErr_Occurred()) return nullptr;
  if (known) return run_plan(g, from, known.get());
  return CachedPlan{key.get(), nullptr, bool(key)}.run(g, from, nullptr, [&] { return call.make_adjoint(from); });
}

}  // namespace

PyObject* record(PyObject* x, const KnownDtype* dtype, const int64_t* shape_out, int ndim, const CachedPlan& cached,
                 std::unique_ptr<RecordedCall> call) {
  if (!differentiable) return nullptr;
  call->key = Owned(Py_XNewRef(cached.key)), call->plan = Owned(Py_XNewRef(cached.known));
  call->is_cached = cached.known || cached.caches;
  call->dtype = dtype, call->ndim = ndim;
  std::copy_n(shape_out, ndim, call->shape_out);
  try {
    const nb::object recorded = nb::cast(call.release(), nb::rv_policy::take_ownership);
    PyObject* const both[2] = {x, recorded.ptr()};
    return PyObject_Vectorcall(differentiable, both, 2, nullptr);
  } catch (nb::python_error& failed) { failed.restore(); } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

PyObject* record_family(PyObject* x, const ArrayView& from, PyObject* family, PyObject* key, const Given& given,
                        PyObject* scale, PyObject* box, const CachedPlan& cached) {
  auto made = std::unique_ptr<RecordedFamily>(new (std::nothrow) RecordedFamily);
  if (!made) return PyErr_NoMemory();
  made->scale = frozen(scale), made->box = frozen(box), made->given = given;
  if (!made->scale || !made->box) return nullptr;
  made->family = held(family), made->family_key = held(key);
  std::copy_n(from.shape, from.ndim, made->shape);
  int64_t shape_out[max_read_dims];
  std::copy_n(from.shape, from.ndim, shape_out);
  const Family& its = made->its();
  for (int k = 0; k < its.n_axes; ++k) shape_out[its.axes[k].dim] = given.sizes[k];
  return record(x, from.dtype, shape_out, from.ndim, cached, std::move(made));
}

// (differentiable, any_forward, any_backward, the type of PyTorch's sizes)
PyObject* set_up_recorded(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 4) return PyErr_Format(PyExc_TypeError, "expected 4 arguments");
  if (!(name_call = PyUnicode_InternFromString("call"))) return nullptr;
  PyObject** const to[] = {&differentiable, &any_forward, &any_backward};
  for (int k = 0; k < 3; ++k) Py_INCREF(args[k]), *to[k] = args[k];
  Py_INCREF(args[3]), Sequence::know_sizes(args[3]);
  Py_RETURN_NONE;
}

// The forward of a Function, (ctx, x, RecordedCall) -> the call's result.
PyObject* recorded_forward(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return PyErr_Format(PyExc_TypeError, "expected a ctx, an array and a call");
  const RecordedCall& call = *nb::inst_ptr<RecordedCall>(args[2]);
  if (PyObject_SetAttr(args[0], name_call, args[2]) < 0) return nullptr;
  ArrayView from;
  if (read_array(args[1], from) == Reading::readable) {
    call.turn(from);
    const CachedPlan cached{call.key.get(), call.plan.get(), call.is_cached};
    if (PyObject* const y = cached.run(args[1], from, nullptr, [&] { return call.make_plan(from); })) return y;
  }
  if (PyErr_Occurred()) return nullptr;
  const Owned operands(call.operands());
  PyObject* const both[2] = {args[1], operands.get()};
  return operands ? PyObject_Vectorcall(any_forward, both, 2, nullptr) : nullptr;
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

// (gradient, RecordedCall of a family) -> the key of the family that makes such gradients; None if it has none.
PyObject* gradients_family_key(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected a gradient and a call");
  ArrayView from;
  if (read_array(args[0], from) != Reading::readable) return none_or_error();
  const auto* const call = dynamic_cast<const RecordedFamily*>(nb::inst_ptr<RecordedCall>(args[1]));
  PyObject* const key = call ? gradients_key(call->family_key.get(), from) : nullptr;
  return key ? key : none_or_error();
}

// (gradient, RecordedCall) -> the key of the plan of such gradients, which Python's code makes; None where none is
// cached.
PyObject* adjoint_plan_key(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected a gradient and a call");
  ArrayView from;
  if (read_array(args[0], from) != Reading::readable) return none_or_error();
  Owned key = adjoint_key(*nb::inst_ptr<RecordedCall>(args[1]), from);
  return key ? key.release() : none_or_error();
}

}  // namespace tenter
