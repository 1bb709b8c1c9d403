// A call like an earlier one, found by what it depends on and run, in one call from Python.
#include "lookup.hpp"

#include <nanobind/nanobind.h>

#include <iterator>
#include <new>

#include "arrays.hpp"
#include "call_arguments.hpp"
#include "call_key.hpp"
#include "families.hpp"
#include "given.hpp"
#include "host_plan.hpp"
#include "new_repeat.hpp"
#include "recorded_calls.hpp"
#include "repeat_counts.hpp"
#include "results.hpp"
#include "tuning.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

// plans: Python's dictionary of plans by keys, which bounds itself. again: (x, plan) -> result, for any plan.
// differentiable: the same with a gradient recorded. fallback: (call, *arguments) -> result or None, for what is not
// read here. store: (key, plan), which caches it. families: Python's dictionary of Family or None. run, backward: of
// the Function that records a gradient, for all that the core does not take.
struct {
  PyObject *plans = nullptr, *again = nullptr, *differentiable = nullptr, *fallback = nullptr, *store = nullptr;
  Py_ssize_t ready = 0;  // where a plan has its HostPlan
  PyObject* families = nullptr;
  PyObject *run = nullptr, *backward = nullptr, *name_plan = nullptr;
} python;

bool make_key(const ArrayView& x, PyObject* call, PyObject* const* args, Py_ssize_t n, Key& key) {
  key.array(x);
  if (!key.constant(call)) return false;
  for (Py_ssize_t k = 0; k < n; ++k)
    if (!key.constant(args[k])) return false;
  return key.fits();
}

PyObject* scale_of(const CallArguments& names, PyObject* const* args, Py_ssize_t n) {
  return names.find(names.has(Argument::scale) ? Argument::scale : Argument::scale_factor, args, n);
}

// Of the family of a call. x: as Boxes::read leaves it. given: its boxes and scales are read. False of tensors with
// gaps that are read from their other end: PyTorch has no such view, and its copy of them lies in its own way.
bool make_family_key(ArrayView& x, PyObject* call, const CallArguments& names, PyObject* const* args, Py_ssize_t n,
                     Key& key, Given& given) {
  if (!names.has(Argument::size) || n <= names.at(Argument::size)) return false;
  PyObject *const size = args[names.at(Argument::size)], *const scale = scale_of(names, args, n);
  PyObject* const box = names.find(Argument::box, args, n);
  const bool boxed = Sequence(box).size() >= 0, scaled = size == Py_None && scale != Py_None;
  if (boxed && !given.boxes.read(box, names.find(Argument::axes, args, n), x)) return false;
  if (given.boxes.turned && x.tensor && x.extent() != x.n_values() * x.dtype->itemsize) return false;
  if (!key.kind(x) || !key.constant(call)) return false;
  if (boxed) key.boxes(given.boxes);
  if (scaled) {
    if (!given.scales.read(scale)) return false;
    for (int k = 0; k < given.scales.count; ++k)  // a scale_factor is a float, as PyTorch makes it one
      if (given.scales.each[k].is_fraction && names.has(Argument::scale_factor)) return false;
    key.scales(given.scales);
  } else if (!key.sizes(size)) {
    return false;
  }
  for (Py_ssize_t k = 0; k < n; ++k) {
    const bool is_scale = k == names.at(Argument::scale) || k == names.at(Argument::scale_factor);
    const bool is_read =
        k == names.at(Argument::size) || (boxed && k == names.at(Argument::box)) || (scaled && is_scale);
    if (!is_read && !key.constant(args[k])) return false;
  }
  return key.fits();
}

// Whether a call is a repeat by an array of counts: values, of which nothing is remembered.
bool by_counts(const CallArguments* names, PyObject* const* args, Py_ssize_t n) {
  if (!names) return false;
  PyObject* const counts = names->find(Argument::repeats, args, n);
  return is_numpy(counts) || is_tensor(counts);
}

// A plan of the core's; null of one that Python made.
const HostPlan* host_plan(PyObject* known) {
  return nb::isinstance<HostPlan>(nb::handle(known)) ? nb::inst_ptr<HostPlan>(known) : nullptr;
}

// How often calls were made lately, by the hashes of their plans' keys. A call has one of two places; where calls of
// other hashes have both, it takes that of the one made less often.
struct {
  struct Place {
    Py_hash_t hash = 0;
    int64_t calls = 0;
  } places[1 << 12];

  int64_t count(Py_hash_t hash) {
    Place* const pair = places + (size_t(hash) % std::size(places) & ~size_t(1));
    for (Place* place : {pair, pair + 1})
      if (place->calls && place->hash == hash) return ++place->calls;
    Place& taken = pair[pair[1].calls < pair[0].calls];
    taken = {hash, 1};
    return 1;
  }
} lately;

// Notes a call; whether it has been made so few times that no plan of it is worth making.
bool is_seldom(PyObject* plan_key) {
  const Py_hash_t hash = PyObject_Hash(plan_key);  // of bytes, which keep it
  return lately.count(hash) <= tuning.seldom_calls;
}

// The result of a call whose plan the core makes: a repeat by ints, or one that differs from an earlier one by numbers
// alone. The plan of a call that is made often is cached, unless an axis is reversed. Null with an error, or without
// where Python's code shall plan it. plan_key: null of a call that has none, as its box is of fractions. known: its
// plan, if it is cached. wants: a gradient. target: as HostPlan::run has it.
PyObject* run_new(PyObject* x, ArrayView from, PyObject* call, const CallArguments* names, PyObject* const* args,
                  Py_ssize_t n, PyObject* plan_key, PyObject* known, bool wants, const Target* target = nullptr) {
  if (!names) return nullptr;
  if (is_repeat(*names)) {
    const bool caches = plan_key && !known && !is_seldom(plan_key);
    return repeat_new(x, from, *names, args, n, {plan_key, known, caches}, wants, target);
  }
  Key key;
  Given given;
  if (!python.families || !make_family_key(from, call, *names, args, n, key, given)) return nullptr;
  const Owned bytes(key.bytes());
  PyObject* const found = bytes ? family_of(bytes.get()) : nullptr;
  if (!found) return nullptr;
  Py_INCREF(found);  // as other threads may forget it meanwhile
  const Owned family(found);
  const Family& its = *nb::inst_ptr<Family>(found);
  if (wants && !its.is_recorded()) return nullptr;
  if (!its.read(names->find(Argument::size, args, n), from, given)) return nullptr;
  const bool caches = plan_key && !known && !given.boxes.turned && !is_seldom(plan_key);
  CachedPlan cached{plan_key, known, caches};
  if (!wants) return cached.run(x, from, target, [&] { return its.plan(from, given, target); });
  const Owned scale(its.policy == Policy::stretch ? Py_NewRef(scale_of(*names, args, n)) : given.scales.fraction());
  PyObject* const box = names->find(Argument::box, args, n);
  return scale ? record_family(x, from, found, bytes.get(), given, scale.get(), box, cached) : nullptr;
}

// The gradient of the input of a plan that Python made; null with an error, or without where Python's code must look
// closer.
PyObject* known_adjoint(PyObject* g, PyObject* plan) {
  if (!is_tensor(g) || followed()) return nullptr;
  ArrayView from;
  if (read_array(g, from) != Reading::readable || wants_grad(g)) return nullptr;
  PyObject* const adjoints = PyTuple_GetItem(plan, python.ready + 1);
  if (!adjoints || PyDict_Size(adjoints) == 0) return nullptr;
  Key key;
  key.array(from);
  const Owned bytes(key.bytes());
  PyObject* const found = bytes ? PyDict_GetItemWithError(adjoints, bytes.get()) : nullptr;
  return found ? run_plan(g, from, found) : nullptr;
}

}  // namespace

PyObject* gradients_key(PyObject* family_key, const ArrayView& g) {
  char* bytes;
  Py_ssize_t n;
  Key key;
  if (PyBytes_AsStringAndSize(family_key, &bytes, &n) < 0) return nullptr;
  key.put(bytes, size_t(n));
  return key.kind(g) && key.fits() ? key.bytes() : nullptr;
}

PyObject* family_of(PyObject* key) {
  PyObject* const found = PyDict_GetItemWithError(python.families, key);
  return found == Py_None ? nullptr : found;
}

PyObject* run_plan(PyObject* x, const ArrayView& from, PyObject* known, const Target* target) {
  Owned plan(Py_NewRef(known));  // as other threads may forget it meanwhile
  if (const HostPlan* const made = host_plan(known)) return made->run(x, from, target);
  PyObject* const ready = PyTuple_GetItem(known, python.ready);
  if (!ready) return nullptr;
  if (ready != Py_None) {
    PyObject* const y = nb::inst_ptr<HostPlan>(ready)->run(x, from, target);
    if (y || PyErr_Occurred()) return y;
  }
  if (target) return plan.release();
  PyObject* const both[2] = {x, known};
  return PyObject_Vectorcall(python.again, both, 2, nullptr);
}

PyObject* cached_plan(PyObject* key) { return PyDict_GetItemWithError(python.plans, key); }

bool cache_plan(PyObject* key, PyObject* plan) {
  PyObject* const both[2] = {key, plan};
  const Owned done(PyObject_Vectorcall(python.store, both, 2, nullptr));
  return bool(done);
}

// (plans, place of a plan's HostPlan, again, differentiable, fallback, store); None for what is not known yet.
PyObject* set_up_calls(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 6) return PyErr_Format(PyExc_TypeError, "expected 6 arguments");
  PyObject** const to[] = {&python.plans,          nullptr,          &python.again,
                           &python.differentiable, &python.fallback, &python.store};
  for (int k = 0; k < 6; ++k)
    if (to[k] && args[k] != Py_None) Py_INCREF(args[k]), *to[k] = args[k];
  if (args[1] != Py_None) python.ready = PyLong_AsSsize_t(args[1]);
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

// (run, backward)
PyObject* set_up_function(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected 2 arguments");
  if (!(python.name_plan = PyUnicode_InternFromString("plan"))) return nullptr;
  Py_INCREF(args[0]), python.run = args[0];
  Py_INCREF(args[1]), python.backward = args[1];
  Py_RETURN_NONE;
}

// (call, x, *arguments) -> the key of a call's plan, None where Python's code makes one.
PyObject* call_key(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n < 2) return PyErr_Format(PyExc_TypeError, "expected a call and an array");
  OwnArguments own;
  if (!own.read(args + 2, n - 2)) return none_or_error();
  ArrayView x;
  const Reading found = read_array(args[1], x);
  if (found == Reading::failed) return nullptr;
  Key key;
  if (found != Reading::readable || !make_key(x, args[0], own.args(), n - 2, key)) Py_RETURN_NONE;
  return key.bytes();
}

// () -> None: no call has been made yet.
PyObject* forget_calls(PyObject*, PyObject* const*, Py_ssize_t) {
  lately = {};
  Py_RETURN_NONE;
}

// (families, types of NumPy's numbers, that of fractions)
PyObject* set_up_families(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return PyErr_Format(PyExc_TypeError, "expected 3 arguments");
  PyObject** const to[] = {&python.families, &number_types.numpy, &number_types.fraction};
  for (int k = 0; k < 3; ++k) Py_INCREF(args[k]), *to[k] = args[k];
  Py_RETURN_NONE;
}

// (call, x, *arguments) -> the key of the call's family, None where it has none.
PyObject* family_key(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n < 2) return PyErr_Format(PyExc_TypeError, "expected a call and an array");
  const CallArguments* const names = CallArguments::of(args[0]);
  OwnArguments own;
  if (!names || !own.read(args + 2, n - 2)) return none_or_error();
  ArrayView x;
  const Reading found = read_array(args[1], x);
  if (found == Reading::failed) return nullptr;
  Key key;
  Given given;
  if (found != Reading::readable || !make_family_key(x, args[0], *names, own.args(), n - 2, key, given)) Py_RETURN_NONE;
  return key.bytes();
}

// (call, x, *arguments) -> the result of a call like an earlier one, of one that differs from it by sizes alone, or by
// counts; None where Python's code must look. x: an array of a type that is read here.
PyObject* known_call(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n < 2) return PyErr_Format(PyExc_TypeError, "expected a call and an array");
  PyObject* const x = args[1];
  const bool tensor = is_tensor(x);
  if (tensor) {
    const int follows = followed();
    if (follows) return follows < 0 ? nullptr : (Py_INCREF(Py_None), Py_None);
  }
  const CallArguments* const names = CallArguments::of(args[0]);
  if (by_counts(names, args + 2, n - 2)) {
    const auto find = [&](Argument name) { return names->find(name, args + 2, n - 2); };
    return repeat_counts(x, find(Argument::repeats), find(Argument::dim), find(Argument::output_size));
  }
  OwnArguments own;
  ArrayView from;
  const bool owned = own.read(args + 2, n - 2);
  if (PyErr_Occurred()) return nullptr;
  const Reading found = read_array(x, from);
  if (found == Reading::failed) return nullptr;
  if (found == Reading::recorded) Py_RETURN_NONE;
  Key key;
  const bool readable = owned && found == Reading::readable;
  if (!readable || !make_key(from, args[0], own.args(), n - 2, key)) {
    const int wants = readable && tensor ? wants_grad(x) : 0;
    if (wants < 0) return nullptr;
    PyObject* const y =
        readable && !wants ? run_new(x, from, args[0], names, own.args(), n - 2, nullptr, nullptr, false) : nullptr;
    if (y || PyErr_Occurred()) return y;
    return PyObject_Vectorcall(python.fallback, args, size_t(n), nullptr);
  }
  const Owned bytes(key.bytes());
  if (!bytes) return nullptr;
  PyObject* const known = PyDict_GetItemWithError(python.plans, bytes.get());
  if (!known && PyErr_Occurred()) return nullptr;
  const Owned plan(known ? Py_NewRef(known) : nullptr);  // as other threads may forget it meanwhile
  const int wants = tensor ? wants_grad(x) : 0;
  if (wants < 0) return nullptr;
  PyObject* y;
  if (!known || (wants && host_plan(known))) {
    y = run_new(x, from, args[0], names, own.args(), n - 2, bytes.get(), known, wants);
  } else if (wants) {
    PyObject* const both[2] = {x, known};
    y = PyObject_Vectorcall(python.differentiable, both, 2, nullptr);
  } else {
    y = run_plan(x, from, known);
  }
  return y ? y : none_or_error();
}

// (out, call, x, *arguments) -> out, with the result of such a call in it; the plan of one that Python's code shall
// run; None where it must look. out: one that the caller may write to.
PyObject* known_call_into(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n < 3) return PyErr_Format(PyExc_TypeError, "expected an out, a call and an array");
  PyObject* const x = args[2];
  const bool tensor = is_tensor(x);
  const int follows = tensor ? followed() : 0;
  const CallArguments* const names = CallArguments::of(args[1]);
  OwnArguments own;
  ArrayView from;
  Target target;
  if (!own.read(args + 3, n - 3)) return none_or_error();
  if (follows || by_counts(names, args + 3, n - 3) || read_array(x, from) != Reading::readable) return none_or_error();
  if ((tensor && wants_grad(x)) || !target.read(args[0], from)) return none_or_error();
  Key key;
  const bool keyed = make_key(from, args[1], own.args(), n - 3, key);
  const Owned bytes(keyed ? key.bytes() : nullptr);
  PyObject* const known = bytes ? PyDict_GetItemWithError(python.plans, bytes.get()) : nullptr;
  if (PyErr_Occurred()) return nullptr;
  PyObject* const y = known ? run_plan(x, from, known, &target)
                            : run_new(x, from, args[1], names, own.args(), n - 3, bytes.get(), nullptr, false, &target);
  return y ? y : none_or_error();
}

// The forward of a Function, (ctx, x, plan) -> what the plan makes of x, which it is for, without a gradient.
PyObject* forward(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return PyErr_Format(PyExc_TypeError, "expected a ctx, an array and a plan");
  if (PyObject_SetAttr(args[0], python.name_plan, args[2]) < 0) return nullptr;
  PyObject* const ready = PyTuple_GetItem(args[2], python.ready);
  if (!ready) return nullptr;
  ArrayView from;
  if (ready != Py_None && read_array(args[1], from) == Reading::readable) {
    PyObject* const y = nb::inst_ptr<HostPlan>(ready)->run(args[1], from);
    if (y) return y;
  }
  return PyErr_Occurred() ? nullptr : PyObject_Vectorcall(python.run, args + 1, 2, nullptr);
}

// The backward of the same, a method of ctx: (gradient) -> (the gradient of the plan's input, None), by an adjoint plan
// that the plan has for gradients like this one, or by Python's code if it has none, or if something follows the call.
PyObject* backward(PyObject* ctx, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected a gradient");
  const Owned plan(PyObject_GetAttr(ctx, python.name_plan));
  if (!plan) return nullptr;
  const Owned x(known_adjoint(args[0], plan.get()));
  if (x) return PyTuple_Pack(2, x.get(), Py_None);
  PyObject* const both[2] = {ctx, args[0]};
  return PyErr_Occurred() ? nullptr : PyObject_Vectorcall(python.backward, both, 2, nullptr);
}

// (gradient) -> what `known_adjoint` finds its plan by; None where it looks for none.
PyObject* adjoint_key(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected a gradient");
  ArrayView from;
  if (read_array(args[0], from) != Reading::readable) return none_or_error();
  Key key;
  key.array(from);
  return key.bytes();
}

}  // namespace tenter
