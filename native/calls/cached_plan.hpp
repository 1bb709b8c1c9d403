// Where the plan of a call is cached, or will be.
#pragma once
#include <Python.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "calls/lookup.hpp"
#include "plan/host_plan.hpp"

namespace tenter {

// All references are borrowed.
//   key     the call's key in the cache; null if it has none
//   plan    the cached plan; null if none is cached
//   caches  whether to cache a plan that is made now
struct CachedPlan {
  PyObject* key = nullptr;
  PyObject* plan = nullptr;
  bool caches = false;

  // Runs the cached plan, or else the plan that `make` returns. `make` returns null if Python must plan the call.
  // target, recorded: as in HostPlan::run.
  template <class Make>
  Outcome run(PyObject* x, const ArrayView& from, const Target* target, Make&& make, bool recorded = false) const {
    if (plan) return nb::inst_ptr<HostPlan>(plan)->run(x, from, target, recorded);
    std::unique_ptr<HostPlan> made = make();
    if (!made) return Outcome::declined();
    if (!caches) return made->run(x, from, target, recorded);
    const Owned held(object(std::move(made)));
    if (!held || !cache_plan(key, held.get())) return Outcome::failed();
    return nb::inst_ptr<HostPlan>(held.get())->run(x, from, target, recorded);
  }

 private:
  // The plan as a Python object: a new reference, or null with an error.
  static PyObject* object(std::unique_ptr<HostPlan> made) {
    try {
      return nb::cast(made.release(), nb::rv_policy::take_ownership).release().ptr();
    } catch (nb::python_error& failed) { failed.restore(); } catch (const std::exception&) {
      PyErr_NoMemory();
    }
    return nullptr;
  }
};

}  // namespace tenter
