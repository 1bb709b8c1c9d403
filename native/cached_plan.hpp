// The plan of a call, by the key of all its arguments.
#pragma once
#include <Python.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "host_plan.hpp"
#include "lookup.hpp"

namespace tenter {

// key: null of a call that has none. known: the plan, if it is cached. caches: whether it shall be.
struct CachedPlan {
  PyObject* key = nullptr;
  PyObject* known = nullptr;
  bool caches = false;

  // The result by the cached plan, or by the one that `make` makes; null with an error, or without where Python's code
  // shall look closer.
  template <class Make>
  PyObject* run(PyObject* x, const ArrayView& from, const Target* target, Make&& make) const {
    if (known) return nb::inst_ptr<HostPlan>(known)->run(x, from, target);
    std::unique_ptr<HostPlan> made = make();
    if (!made) return nullptr;
    if (!caches) return made->run(x, from, target);
    const Owned held(object(std::move(made)));
    if (!held || !cache_plan(key, held.get())) return nullptr;
    return nb::inst_ptr<HostPlan>(held.get())->run(x, from, target);
  }

 private:
  static PyObject* object(std::unique_ptr<HostPlan> made) {  // null with an error
    try {
      return nb::cast(made.release(), nb::rv_policy::take_ownership).release().ptr();
    } catch (nb::python_error& failed) { failed.restore(); } catch (const std::exception&) {
      PyErr_NoMemory();
    }
    return nullptr;
  }
};

}  // namespace tenter
