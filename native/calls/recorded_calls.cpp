#include "calls/recorded_calls.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <new>

#include "arrays/results.hpp"
#include "arrays/array_libraries.hpp"
#include "calls/call_key.hpp"
#include "calls/specialization.hpp"
#include "calls/lookup.hpp"
#include "system/tuning.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

// A number, or a nested sequence of numbers, with all lists copied to tuples. Null with an error.
Owned frozen(PyObject* x) {
  const Sequence values(x);
  if (values.size() < 0) return Owned(Py_NewRef(x));
  Owned to(PyTuple_New(values.size()));
  for (Py_ssize_t k = 0; to && k < values.size(); ++k) {
    PyObject* const value = frozen(values[k]).release();
    if (!value) return Owned();
    PyTuple_SetItem(to.get(), k, value);
  }
  return to;
}

// A recorded call that has a specialization. scale, box: the call's arguments, lists copied to tuples; after fitting
// sizes, the scale that was found. shape: of x.
struct SpecializedCall : PlannedCall {
  Owned specialization, key_of_specialization, scale, box;
  DynamicArguments dynamic;
  int64_t shape[max_read_dims];

  const Specialization& its() const { return *nb::inst_ptr<Specialization>(specialization.get()); }
  PyObject* operands() const override {
    const Owned lengths(shape_tuple(shape, ndim)), sizes(shape_tuple(dynamic.sizes, its().n_axes));
    const Owned itemsize(PyLong_FromLong(dtype->itemsize));
    if (!lengths || !sizes || !itemsize) return nullptr;
    return PyTuple_Pack(8, itemsize.get(), its().planner.get(), lengths.get(), lengths.get(), sizes.get(), scale.get(),
                        box.get(), dynamic.channels_last ? Py_True : Py_False);
  }
  Owned specialization_key(const ArrayView& g) const override { return gradients_key(key_of_specialization.get(), g); }
  std::unique_ptr<HostPlan> make_plan(const ArrayView& from) const override {
    return its().plan(from, dynamic, nullptr);
  }
  // Returns null for the first gradient with a layout: Python then makes the specialization.
  std::unique_ptr<HostPlan> make_adjoint(const ArrayView& from) const override {
    const Owned of_gradients = specialization_key(from);
    const Owned found = of_gradients ? specialization_of(of_gradients.get()) : Owned();
    if (!found) return nullptr;
    const Specialization& transposed = *nb::inst_ptr<Specialization>(found.get());
    DynamicArguments sizes = dynamic;
    for (int k = 0; k < transposed.n_axes; ++k) sizes.sizes[k] = shape[transposed.axes[k].dim];
    return transposed.plan(from, sizes, nullptr);
  }
};

// The key of the plan of gradients with g's layout. Null if the call has no key.
Owned adjoint_key(const Owned& key, const ArrayView& g) {
  if (!key) return Owned();
  Key made;
  made.put(PyBytes_AsString(key.get()), size_t(PyBytes_Size(key.get())));
  made.put('^');  // no call's key has a '^' there
  made.array(g);
  return made.bytes();
}

// A recorded call whose cached plan Python made. Python caches the plan of its gradients, once it has checked one of
// their layout.
struct CachedCall : RecordedCall {
  Owned key, plan;

  Outcome run(PyObject* x, const ArrayView& from) const override {
    return run_plan(x, from, plan.get(), nullptr, true);
  }
  Outcome adjoint(PyObject* g) const override {
    ArrayView from;
    if (const Reading found = read_detached(g, from); found != Reading::readable) return Outcome::unread(found);
    const Owned of_gradients = adjoint_key(key, from);
    const Owned found = of_gradients ? cached_plan(of_gradients.get()) : Owned();
    return found ? run_plan(g, from, found.get(), nullptr, true) : Outcome::declined();
  }
  PyObject* operands() const override { return Py_NewRef(plan.get()); }
  Owned plan_key(const ArrayView& g) const override { return adjoint_key(key, g); }
};

Outcome apply(PyObject* x, PyObject* call) {
  PyObject* const both[2] = {x, call};
  if (!gradients.apply) return Outcome::declined();
  return Outcome::of_python(PyObject_Vectorcall(gradients.apply, both, 2, nullptr));
}

}  // namespace

Owned PlannedCall::plan_key(const ArrayView& g) const { return is_cached ? adjoint_key(key, g) : Owned(); }

Outcome PlannedCall::run(PyObject* x, const ArrayView& from) const {
  const CachedPlan cached{key.get(), plan.get(), is_cached};
  return cached.run(x, from, nullptr, [&] { return make_plan(from); }, true);
}

Outcome PlannedCall::adjoint(PyObject* g) const {
  ArrayView from;
  if (const Reading found = read_detached(g, from); found != Reading::readable) return Outcome::unread(found);
  const bool fits =
      from.dtype == dtype && from.ndim == ndim && std::equal(from.shape, from.shape + from.ndim, shape_out);
  if (!fits) return Outcome::declined();
  const Owned of_gradients = adjoint_key(key, from);
  const Owned found = of_gradients ? cached_plan(of_gradients.get()) : Owned();
  if (found) return run_plan(g, from, found.get(), nullptr, true);
  const bool caches = of_gradients && (is_cached || !is_seldom(of_gradients.get()));
  const CachedPlan cached{of_gradients.get(), nullptr, caches};
  return cached.run(g, from, nullptr, [&] { return make_adjoint(from); }, true);
}

Outcome record(PyObject* x, const ArrayView& from, const int64_t* shape_out, int ndim, const CachedPlan& cached,
               std::unique_ptr<PlannedCall> call) {
  call->key = Owned(Py_XNewRef(cached.key)), call->plan = Owned(Py_XNewRef(cached.plan));
  call->is_cached = cached.plan || cached.caches;
  call->dtype = from.dtype, call->ndim = ndim;
  std::copy_n(shape_out, ndim, call->shape_out);
  return record(x, from, std::move(call));
}

Outcome record(PyObject* x, const ArrayView& from, std::unique_ptr<RecordedCall> call) {
  try {
    RecordedCall& its = *call;
    const nb::object recorded = nb::cast(call.release(), nb::rv_policy::take_ownership);
    its.from = &from;
    Outcome y = apply(x, recorded.ptr());
    its.from = nullptr;
    return y;
  } catch (nb::python_error& failed) { failed.restore(); } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return Outcome::failed();
}

Outcome record_cached(PyObject* x, const ArrayView& from, PyObject* key, PyObject* plan) {
  auto made = std::unique_ptr<CachedCall>(new (std::nothrow) CachedCall);
  if (!made) return PyErr_NoMemory(), Outcome::failed();
  made->key = Owned(Py_NewRef(key)), made->plan = Owned(Py_NewRef(plan));
  return record(x, from, std::move(made));
}

Outcome record_specialized(const CoreCall& call, const ArrayView& from, PyObject* specialization, PyObject* key,
                           const DynamicArguments& dynamic, PyObject* scale, const CachedPlan& cached) {
  auto made = std::unique_ptr<SpecializedCall>(new (std::nothrow) SpecializedCall);
  if (!made) return PyErr_NoMemory(), Outcome::failed();
  made->scale = frozen(scale), made->box = frozen(call.find(Argument::box)), made->dynamic = dynamic;
  if (!made->scale || !made->box) return Outcome::failed();
  made->specialization = Owned(Py_NewRef(specialization)), made->key_of_specialization = Owned(Py_NewRef(key));
  std::copy_n(from.shape, from.ndim, made->shape);
  int64_t shape_out[max_read_dims];
  std::copy_n(from.shape, from.ndim, shape_out);
  const Specialization& its = made->its();
  for (int k = 0; k < its.n_axes; ++k) shape_out[its.axes[k].dim] = dynamic.sizes[k];
  return record(call.x, from, shape_out, from.ndim, cached, std::move(made));
}

// The Function's forward: (ctx, x, RecordedCall or CallPlan) -> the result.
PyObject* recorded_forward(PyObject* const* args, Py_ssize_t) {
  PyObject *const x = args[1], *const how = args[2];
  if (PyObject_SetAttr(args[0], gradients.name_call, how) < 0) return nullptr;
  const RecordedCall* const call = PyTuple_Check(how) ? nullptr : nb::inst_ptr<RecordedCall>(how);
  Outcome y = !call ? run_ready(x, how) : call->from ? call->run(x, *call->from) : Outcome::declined();
  if (!y.is_declined()) return std::move(y).to_python();
  const Owned operands(call ? call->operands() : Py_NewRef(how));
  PyObject* const both[2] = {x, operands.get()};
  return operands ? PyObject_Vectorcall(gradients.forward, both, 2, nullptr) : nullptr;
}

// The Function's backward, a method of ctx: (gradient) -> (the gradient of x, None).
PyObject* recorded_backward(PyObject* ctx, PyObject* g) {
  const Owned how(PyObject_GetAttr(ctx, gradients.name_call));
  if (!how) return nullptr;
  const Reading traced = is_tensor(g) ? tracing_of(g) : Reading::unreadable;
  if (traced == Reading::failed) return nullptr;
  if (traced == Reading::readable && !PyTuple_Check(how.get())) {
    Outcome found = nb::inst_ptr<RecordedCall>(how.get())->adjoint(g);
    if (!found.is_declined()) {
      const Owned x = std::move(found).result();
      return x ? PyTuple_Pack(2, x.get(), Py_None) : nullptr;
    }
  }
  PyObject* const both[2] = {ctx, g};
  return PyObject_Vectorcall(gradients.backward, both, 2, nullptr);
}

}  // namespace tenter
