// Functions of Python's C interface for small calls, whose overhead matters: cached calls, calls with new numbers, and
// counts or lengths that change on every call.
#pragma once
#include <Python.h>

#include "arrays/arrays.hpp"
#include "arrays/outcome.hpp"
#include "plan/target.hpp"

namespace tenter {

// The key of the specialization that computes gradients with g's layout, for calls of another specialization. Null if
// there is none: the memory order of g depends on its shape.
Owned gradients_key(PyObject* specialization_key, const ArrayView& g);
Owned specialization_of(PyObject* key);          // null if none is cached
Owned cached_plan(PyObject* key);                // null if none is cached
bool cache_plan(PyObject* key, PyObject* plan);  // false with an error
// Runs a cached plan for x, whose gradient is not recorded. target, recorded: as in HostPlan::run. With a target the
// result may be the plan itself: Python must then run it.
Outcome run_plan(PyObject* x, const ArrayView& from, PyObject* plan, const Target* target = nullptr,
                 bool recorded = false);
// Counts a call. Returns whether it has been made so few times that caching its plan would not pay.
bool is_seldom(PyObject* plan_key);
// Runs a plan that Python made, and whose gradient is recorded.
Outcome run_ready(PyObject* x, PyObject* plan);

// METH_FASTCALL functions. What they take and return is at their definitions in lookup.cpp, repeat_counts.cpp
// and offset_operators.cpp.
PyObject* register_calls(PyObject* const* args, Py_ssize_t n);
PyObject* forget_calls(PyObject* const* args, Py_ssize_t n);
Outcome specialization_key(PyObject* const* args, Py_ssize_t n);
Outcome cached_call(PyObject* const* args, Py_ssize_t n);
Outcome cached_call_into(PyObject* const* args, Py_ssize_t n);
Outcome normalized(PyObject* const* args, Py_ssize_t n);
Outcome call_key(PyObject* const* args, Py_ssize_t n);
Outcome row_offsets(PyObject* const* args, Py_ssize_t n);
Outcome last_offset(PyObject* const* args, Py_ssize_t n);
Outcome by_offsets(PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
