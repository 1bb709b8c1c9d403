// Calls whose overhead counts, as functions of Python's C interface: a known call, and counts and lengths that change
// on every call.
#pragma once
#include <Python.h>

#include "arrays.hpp"
#include "target.hpp"

namespace tenter {

// Of gradients that lie as g does, of a family's calls: the key of their own family. Null with an error, or without
// where lengths decide how g lies.
PyObject* gradients_key(PyObject* family_key, const ArrayView& g);
PyObject* family_of(PyObject* key);              // borrowed; null with an error, or without where there is none
PyObject* cached_plan(PyObject* key);            // borrowed; null with an error, or without where there is none
bool cache_plan(PyObject* key, PyObject* plan);  // false with an error
// The result of a cached plan that is for x, which wants no gradient; null without an error where Python's code shall
// look closer. target: as HostPlan::run has it; then the plan itself, if Python's code shall run it.
PyObject* run_plan(PyObject* x, const ArrayView& from, PyObject* known, const Target* target = nullptr);

// METH_FASTCALL functions; what they take and give is at their definitions in lookup.cpp, repeat_counts.cpp,
// offset_operators.cpp, ragged_calls.cpp and segment_calls.cpp.
PyObject* set_up_calls(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* forget_calls(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* set_up_families(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* family_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* known_call(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* known_call_into(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* call_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* set_up_function(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* forward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* backward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* adjoint_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* set_up_counts(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* repeated(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* repeated_operands(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* repeated_backward(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* set_up_gradients(PyObject*, PyObject* const* args, Py_ssize_t n);
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
