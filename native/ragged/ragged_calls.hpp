// METH_FASTCALL functions on ragged arrays. What they take and return is at their definitions in ragged_calls.cpp and
// segment_calls.cpp.
#pragma once
#include <Python.h>

#include "arrays/outcome.hpp"

namespace tenter {

Outcome ragged_offsets(PyObject* const* args, Py_ssize_t n);
Outcome ragged_row_ids(PyObject* const* args, Py_ssize_t n);
Outcome ragged_ranges(PyObject* const* args, Py_ssize_t n);
Outcome ragged_mask(PyObject* const* args, Py_ssize_t n);
Outcome ragged_spans(PyObject* const* args, Py_ssize_t n);
Outcome segment(PyObject* const* args, Py_ssize_t n);
Outcome ragged_pad(PyObject* const* args, Py_ssize_t n);
Outcome ragged_unpad(PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
