// Functions of Python's C interface for small calls, whose overhead matters: cached calls, calls with new numbers, and
// counts or lengths that change on every call.
#pragma once
#include <Python.h>

#include "arrays/arrays.hpp"
#include "arrays/outcome.hpp"
#include "plan/target.hpp"

namespace tenter {

// The key of the specialization that computes gradients with g's layout, for calls of another specialization. A new
// reference; null with an error, or without one if the memory order of g depends on its shape.
PyObject* gradients_key(PyObject* specialization_key, const ArrayView& g);
PyObject* specialization_of(PyObject* key);      // borrowed; null with an error, or without one if none is cached
PyObject* cached_plan(PyObject* key);            // borrowed; null with an error, or without one if none is cached
bool cache_plan(PyObject* key, PyObject* plan);  // false with an error
// Runs a cached plan for x, whose gradient is not recorded. target: where the result goes; null for fresh memory. With
// a target the result may be the plan itself: Python must then run it.
Outcome run_plan(PyObject* x, const ArrayView& from, PyObject* plan, const Target* target = nullptr);
// Counts a call. Returns whether it has been made so few times that caching its plan would not pay.
bool is_seldom(PyObject* plan_key);
// Runs a plan that Python made.
Outcome run_ready(PyObject* x, PyObject* plan);

// METH_FASTCALL functions. What they take and return is at their definitions in lookup.cpp, repeat_counts.cpp,
// offset_operators.cpp, ragged_calls.cpp and segment_calls.cpp.
PyObject* register_calls(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* forget_calls(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* specialization_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* cached_call(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* cached_call_into(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* normalized_call(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* normalized(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* call_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* row_offsets(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* last_offset(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* by_offsets(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_offsets(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_row_ids(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_positions(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_ranges(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_mask(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_spans(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* segment_sum(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* segment_mean(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* segment_max(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* segment_min(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_pad(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* ragged_unpad(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* segment_less_max(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* segment_share(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
