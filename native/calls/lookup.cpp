// Runs calls that are like earlier ones: finds their plan or specialization by a key, in one call from Python.
#include "calls/lookup.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <numeric>

#include "arrays/array_libraries.hpp"
#include "arrays/arrays.hpp"
#include "arrays/results.hpp"
#include "calls/call_arguments.hpp"
#include "calls/call_key.hpp"
#include "calls/specialization.hpp"
#include "calls/dynamic_arguments.hpp"
#include "calls/recorded_calls.hpp"
#include "calls/repeat_by_ints.hpp"
#include "calls/repeat_counts.hpp"
#include "plan/host_plan.hpp"
#include "rules/bytes.hpp"
#include "system/tuning.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

// Appends a call and its arguments to the key of its plan, which begins with the array. Returns false if it has no key:
// an argument cannot be hashed, or the key is too long.
bool put_call(PyObject* call, PyObject* const* args, Py_ssize_t n, Key& key) {
  if (!key.constant(call)) return false;
  for (Py_ssize_t k = 0; k < n; ++k)
    if (!key.constant(args[k])) return false;
  return key.fits();
}

bool make_key(const ArrayView& x, PyObject* call, PyObject* const* args, Py_ssize_t n, Key& key) {
  key.array(x);
  return put_call(call, args, n, key);
}

// The key of a call on an array that the core does not read. Declined if it has none.
Outcome outline_key(PyObject* x, PyObject* call, PyObject* const* args, Py_ssize_t n) {
  ArrayOutline from;
  Key key;
  if (const Reading found = read_outline(x, from); found != Reading::readable) return Outcome::unread(found);
  return Outcome::if_any(key.outline(from) && put_call(call, args, n, key) ? key.bytes() : Owned());
}

PyObject* scale_of(const CoreCall& call) {
  return call.find(call.names->has(Argument::scale) ? Argument::scale : Argument::scale_factor);
}
bool is_scaled(const CoreCall& call) { return call.find(Argument::size) == Py_None && scale_of(call) != Py_None; }
bool is_boxed(const CoreCall& call) { return Sequence(call.find(Argument::box)).size() >= 0; }

// Reads a call's boxes, and flips x as they say. Returns false if the call has no specialization. Flipped tensors with
// gaps have none: PyTorch has no negative strides, and the layout of its copy is not the tensor's.
bool read_boxes(const CoreCall& call, ArrayView& x, Boxes& boxes) {
  if (is_boxed(call) && !boxes.read(call.find(Argument::box), call.find(Argument::axes), x)) return false;
  return !(boxes.flipped && x.tensor && x.extent() != x.n_values() * x.dtype->itemsize);
}
// Reads a call's scales. Returns false if Python must read them. PyTorch converts a scale_factor to float, also a
// fraction.
bool read_scales(const CoreCall& call, Scales& scales) {
  if (!scales.read(scale_of(call))) return false;
  const auto is_fraction = [](const Scales::OfAxis& s) { return s.is_fraction; };
  return !call.names->has(Argument::scale_factor) || std::none_of(scales.each, scales.each + scales.count, is_fraction);
}
// Appends the arguments that all calls of a specialization share. Returns false if one cannot be hashed.
bool put_shared(const CoreCall& call, Key& key) {
  const CallArguments& names = *call.names;
  const bool boxed = is_boxed(call), scaled = is_scaled(call);
  for (Py_ssize_t k = 0; k < call.n; ++k) {
    const bool is_scale = k == names.at(Argument::scale) || k == names.at(Argument::scale_factor);
    const bool is_dynamic =
        k == names.at(Argument::size) || (boxed && k == names.at(Argument::box)) || (scaled && is_scale);
    if (!is_dynamic && !key.constant(call.args[k])) return false;
  }
  return true;
}

// Makes the key of a call's specialization, and reads the call's boxes and scales into `dynamic`. x: the view of the
// call's array, which is flipped as the boxes say. Returns false if the call has no such key.
bool make_specialization_key(const CoreCall& call, ArrayView& x, Key& key, DynamicArguments& dynamic) {
  if (!call.names->has(Argument::size) || call.n <= call.names->at(Argument::size)) return false;
  if (!read_boxes(call, x, dynamic.boxes) || !key.kind(x) || !key.constant(call.function)) return false;
  if (is_boxed(call)) key.boxes(dynamic.boxes);
  if (is_scaled(call)) {
    if (!read_scales(call, dynamic.scales)) return false;
    key.scales(dynamic.scales);
  } else if (!key.sizes(call.find(Argument::size))) {
    return false;
  }
  return put_shared(call, key) && key.fits();
}

// Whether a call is a repeat by an array of counts. Nothing is cached of such calls, as the counts are data.
bool by_counts(const CallArguments* names, PyObject* const* args, Py_ssize_t n) {
  if (!names) return false;
  PyObject* const counts = names->find(Argument::repeats, args, n);
  return is_numpy(counts) || is_tensor(counts);
}

// The HostPlan, if the core made the cached plan; null if Python made it.
const HostPlan* host_plan(PyObject* plan) {
  return nb::isinstance<HostPlan>(nb::handle(plan)) ? nb::inst_ptr<HostPlan>(plan) : nullptr;
}

// How often calls were made lately, by the hashes of their plans' keys. A call may be in one of two places. If two
// others are there, it replaces the one that was made less often. Of threads that count at once, one may not be
// counted: the plan of a call is then cached a call later or earlier.
struct {
  struct Place {
    std::atomic<Py_hash_t> hash;
    std::atomic<int64_t> calls;

    int64_t known() const { return calls.load(std::memory_order_relaxed); }
    int64_t set(Py_hash_t of, int64_t n) {
      hash.store(of, std::memory_order_relaxed), calls.store(n, std::memory_order_relaxed);
      return n;
    }
  } places[1 << 12];

  int64_t count(Py_hash_t hash) {
    Place* const pair = places + (size_t(hash) % std::size(places) & ~size_t(1));
    for (Place* place : {pair, pair + 1})
      if (place->known() && place->hash.load(std::memory_order_relaxed) == hash)
        return place->set(hash, place->known() + 1);
    return pair[pair[1].known() < pair[0].known()].set(hash, 1);
  }
  void forget() {
    for (Place& place : places) place.set(0, 0);
  }
} lately;

// Runs a call that the core plans: a repeat by ints, or a call that differs from an earlier one only in its dynamic
// arguments. The plan of a frequent call is cached, unless an axis is flipped.
//   plan_key  null if the call's arguments cannot be hashed, for example a box of fractions
//   plan      the cached plan; null if none is cached
Outcome run_specialized(const CoreCall& call, PyObject* plan_key, PyObject* plan) {
  if (!call.names) return Outcome::declined();
  const auto is_often = [&] { return plan_key && !plan && !is_seldom(plan_key); };
  if (is_repeat(*call.names)) return repeat_by_ints(call, {plan_key, plan, is_often()});
  Key key;
  DynamicArguments dynamic;
  ArrayView from = call.from;
  if (!calls.specializations || !make_specialization_key(call, from, key, dynamic)) return Outcome::declined();
  const Owned bytes = key.bytes(), found = bytes ? specialization_of(bytes.get()) : Owned();
  if (!found) return Outcome::declined();
  const Specialization& its = *nb::inst_ptr<Specialization>(found.get());
  if (call.wants_grad && !its.is_recorded()) return Outcome::declined();
  if (!its.read(call.find(Argument::size), from, dynamic)) return Outcome::declined();
  const bool flipped = dynamic.boxes.flipped;
  const CachedPlan cached{flipped ? nullptr : plan_key, plan, !flipped && is_often()};
  if (!call.wants_grad)
    return cached.run(call.x, from, call.target, [&] { return its.plan(from, dynamic, call.target); });
  const bool by_scale = its.policy == Policy::stretch;
  const Owned scale(by_scale ? Py_NewRef(scale_of(call)) : dynamic.scales.fraction());
  if (!scale) return Outcome::failed();
  return record_specialized(call, from, found.get(), bytes.get(), dynamic, scale.get(), cached);
}

}  // namespace

bool is_seldom(PyObject* plan_key) {
  const Py_hash_t hash = PyObject_Hash(plan_key);  // bytes cache their hash
  return lately.count(hash) <= tuning.seldom_calls;
}

Owned gradients_key(PyObject* specialization_key, const ArrayView& g) {
  Key key;
  key.put(PyBytes_AsString(specialization_key), size_t(PyBytes_Size(specialization_key)));
  return key.kind(g) ? key.bytes() : Owned();
}

Owned specialization_of(PyObject* key) {
  Owned found(value_in(calls.specializations, key));
  return found.get() == Py_None ? Owned() : std::move(found);
}

Outcome run_plan(PyObject* x, const ArrayView& from, PyObject* plan, const Target* target, bool recorded) {
  Owned reference(Py_NewRef(plan));  // as another thread may drop it from the cache
  if (const HostPlan* const made = host_plan(plan)) return made->run(x, from, target, recorded);
  PyObject* const steps = PyTuple_GetItem(plan, calls.steps);
  if (!steps) return Outcome::failed();
  if (const HostPlan* const its = host_plan(steps)) {
    Outcome y = its->run(x, from, target, recorded);
    if (!y.is_declined()) return y;
  }
  if (target) return Outcome::done(std::move(reference));
  PyObject* const both[2] = {x, plan};
  return Outcome::of_python(PyObject_Vectorcall(calls.run, both, 2, nullptr));
}

Outcome run_ready(PyObject* x, PyObject* plan) {
  PyObject* const steps = PyTuple_GetItem(plan, calls.steps);
  ArrayView from;
  if (!steps) return Outcome::failed();
  const HostPlan* const its = host_plan(steps);
  if (!its) return Outcome::declined();
  if (const Reading found = read_array(x, from); found != Reading::readable) return Outcome::unread(found);
  return its->run(x, from, nullptr, true);
}

Owned cached_plan(PyObject* key) { return Owned(value_in(calls.plans, key)); }

bool cache_plan(PyObject* key, PyObject* plan) {
  PyObject* const both[2] = {key, plan};
  const Owned done(PyObject_Vectorcall(calls.store, both, 2, nullptr));
  return bool(done);
}

// (plans, index of `steps` in a CallPlan, run, run_checked, store, specializations, types of NumPy's numbers,
// fractions.Fraction, thread_count, bytes of the machine's memory, dictionary: function -> names of its arguments after
// x, subclasses of tuple that are constants if all their items are) -> None
PyObject* register_calls(PyObject* const* args, Py_ssize_t) {
  calls.steps = PyLong_AsSsize_t(args[1]), calls.memory = PyLong_AsLongLong(args[9]);
  if (PyErr_Occurred()) return nullptr;
  calls.plans = Py_NewRef(args[0]), calls.run = Py_NewRef(args[2]), calls.run_checked = Py_NewRef(args[3]);
  calls.store = Py_NewRef(args[4]), calls.specializations = Py_NewRef(args[5]);
  number_types.numpy = Py_NewRef(args[6]), number_types.fraction = Py_NewRef(args[7]);
  calls.thread_count = Py_NewRef(args[8]);
  PyObject *call, *names;
  for (Py_ssize_t at = 0; PyDict_Next(args[10], &at, &call, &names);)
    if (!CallArguments::learn(call, names)) return nullptr;
  return Key::know_constants(args[11]) ? Py_NewRef(Py_None) : nullptr;
}

// (call, x, *arguments) -> the key of the call's plan; None where Python must make one.
Outcome call_key(PyObject* const* args, Py_ssize_t n) {
  OwnArguments own;
  ArrayView x;
  Key key;
  if (const Reading found = own.read(args + 2, n - 2); found != Reading::readable) return Outcome::unread(found);
  const Reading found = read_array(args[1], x);
  if (found == Reading::unreadable) return outline_key(args[1], args[0], own.args(), n - 2);
  if (found != Reading::readable) return Outcome::unread(found);
  return Outcome::if_any(make_key(x, args[0], own.args(), n - 2, key) ? key.bytes() : Owned());
}

// () -> None: forgets how often calls were made.
PyObject* forget_calls(PyObject* const*, Py_ssize_t) {
  lately.forget();
  Py_RETURN_NONE;
}

// (call, x, *arguments) -> the key of the call's specialization; None if it has none.
Outcome specialization_key(PyObject* const* args, Py_ssize_t n) {
  const CallArguments* const names = CallArguments::of(args[0]);
  if (!names) return Outcome::declined();
  OwnArguments own;
  ArrayView x;
  Reading found = own.read(args + 2, n - 2);
  if (found == Reading::readable) found = read_array(args[1], x);
  if (found != Reading::readable) return Outcome::unread(found);
  Key key;
  DynamicArguments dynamic;
  ArrayView flipped = x;
  const CoreCall call{args[1], x, args[0], names, own.args(), n - 2};
  return Outcome::if_any(make_specialization_key(call, flipped, key, dynamic) ? key.bytes() : Owned());
}

namespace {

// Runs a call whose arguments were copied.
Outcome run_read(CoreCall call) {
  const int wants = call.from.tensor ? wants_grad(call.x) : 0;
  if (wants < 0) return Outcome::failed();
  call.wants_grad = wants;
  Key key;
  if (!make_key(call.from, call.function, call.args, call.n, key))
    return wants ? Outcome::declined() : run_specialized(call, nullptr, nullptr);
  const Owned bytes = key.bytes(), plan = bytes ? cached_plan(bytes.get()) : Owned();
  if (!plan || (wants && host_plan(plan.get()))) return run_specialized(call, bytes.get(), plan.get());
  return wants ? record_cached(call.x, call.from, bytes.get(), plan.get()) : run_plan(call.x, call.from, plan.get());
}

// Runs a call on an array that the core does not read, if its plan is cached.
Outcome run_outlined(PyObject* x, PyObject* call, PyObject* const* args, Py_ssize_t n) {
  Outcome keyed = outline_key(x, call, args, n);
  if (!keyed.is_done()) return keyed;
  const Owned key = std::move(keyed).result(), plan = cached_plan(key.get());
  if (!plan) return Outcome::declined();
  PyObject* const both[2] = {x, plan.get()};
  return Outcome::of_python(PyObject_Vectorcall(calls.run_checked, both, 2, nullptr));
}

}  // namespace

// (call, x, *arguments) -> the result; None where Python must run the call. The core runs a call with a cached plan or
// specialization, and repeats by ints or counts. x: an array of a type that the core reads.
Outcome cached_call(PyObject* const* args, Py_ssize_t n) {
  PyObject* const x = args[1];
  if (const Reading found = tracing_of(x); found != Reading::readable) return Outcome::unread(found);
  const CallArguments* const names = CallArguments::of(args[0]);
  if (by_counts(names, args + 2, n - 2)) return repeat_counts(x, *names, args + 2, n - 2, nullptr);
  OwnArguments own;
  ArrayView from;
  if (const Reading found = own.read(args + 2, n - 2); found != Reading::readable) return Outcome::unread(found);
  const Reading found = read_array(x, from);
  if (found == Reading::unreadable) return run_outlined(x, args[0], own.args(), n - 2);
  if (found != Reading::readable) return Outcome::unread(found);
  return run_read({x, from, args[0], names, own.args(), n - 2});
}

namespace {

// Reads (bytes of a Normalized of every channel, the dim of channels or -1), or None. Returns false with an error.
bool read_normalization(PyObject* given, Normalization& found) {
  if (given == Py_None) return true;
  PyObject* each;
  if (!PyArg_ParseTuple(given, "Si", &each, &found.channel)) return false;
  found.each = reinterpret_cast<const Normalized*>(PyBytes_AsString(each));
  found.channels = int64_t(size_t(PyBytes_Size(each)) / sizeof(Normalized));
  return true;
}

}  // namespace

// (out, normalization, call, x, *arguments) -> out, with the result in it; the plan, if it is cached and Python must
// run it; None where Python must run the call.
//   out            an array that the caller may write to; None for a new tensor, if a tensor's result is normalized
//   normalization  as read_normalization reads it
Outcome cached_call_into(PyObject* const* args, Py_ssize_t n) {
  PyObject *const call = args[2], *const x = args[3];
  args += 4, n -= 4;
  Target target;
  if (!read_normalization(args[-3], target.normalization)) return Outcome::failed();
  if (const Reading found = tracing_of(x); found != Reading::readable) return Outcome::unread(found);
  const CallArguments* const names = CallArguments::of(call);
  const bool counts = by_counts(names, args, n) && !target.normalization.each;
  if (counts) return repeat_counts(x, *names, args, n, args[-4]);
  OwnArguments own;
  ArrayView from;
  Reading found = own.read(args, n);
  if (found == Reading::readable) found = read_detached(x, from);
  const bool makes_out = args[-4] == Py_None && found == Reading::readable && target.makes_floats(from);
  if (found == Reading::readable && !makes_out) found = target.read(args[-4], from);
  if (found != Reading::readable) return Outcome::unread(found);
  Key key;
  const Owned bytes = make_key(from, call, own.args(), n, key) ? key.bytes() : Owned();
  const Owned plan = bytes ? cached_plan(bytes.get()) : Owned();
  if (plan) return run_plan(x, from, plan.get(), &target);
  return run_specialized({x, from, call, names, own.args(), n, false, &target}, bytes.get(), nullptr);
}

// (out, normalization, y) -> out, with y normalized; None where PyTorch must do it.
Outcome normalized(PyObject* const* args, Py_ssize_t) {
  Target target;
  ArrayView y;
  if (!read_normalization(args[1], target.normalization)) return Outcome::failed();
  Reading found = tracing_of(args[2]);
  if (found == Reading::readable) found = read_detached(args[2], y);
  if (found == Reading::readable) found = target.read(args[0], y);
  if (found != Reading::readable) return Outcome::unread(found);
  if (y.ndim != target.view.ndim || !std::equal(y.shape, y.shape + y.ndim, target.view.shape))
    return Outcome::declined();
  int order[max_read_dims];
  std::iota(order, order + y.ndim, 0);
  std::stable_sort(order, order + y.ndim, [&](int a, int b) { return y.stride[a] > y.stride[b]; });
  NormalizeTask task{y.data, Dtype(y.dtype->number), 0, {}};
  if (y.n_values() && (!y.contiguous(order) || !target.float_rows(y.shape, y.ndim, order, task.to)))
    return Outcome::declined();
  const int threads = threads_for(4 * y.n_values());
  if (!threads) return Outcome::failed();
  task.n_rows = y.n_values() ? y.n_values() / task.to.width() : 0;
  if (!work(y.n_values(), [&] { kernels().bytes->normalize(task, threads); })) return Outcome::failed();
  return Outcome::done(Owned(Py_NewRef(args[0])));
}

}  // namespace tenter
