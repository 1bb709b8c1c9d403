// Calls whose overhead counts, as functions of Python's C interface: a known call, and counts that change on every
// call.
#pragma once
#include <Python.h>

#include "arrays.hpp"

namespace tenter {

// Of gradients that lie as g does, of a family's calls: the key of their own family. Null with an error, or without
// where lengths decide how g lies.
PyObject* gradients_key(PyObject* family_key, const ArrayView& g);
PyObject* family_of(PyObject* key);  // borrowed; null with an error, or without where there is none
// The gradient by one of a dictionary's plans; null with an error, or without where none is for gradients like g.
PyObject* by_known_plan(PyObject* g, const ArrayView& from, PyObject* plans);

// METH_FASTCALL functions; what they take and give is at their definitions in lookup.cpp and repeat_counts.cpp.
PyObject* set_up_calls(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* set_up_families(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* family_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* known_call(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* call_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* run_ready(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* known_adjoint(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* adjoint_key(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* set_up_counts(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* repeated(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* repeated_adjoint(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* repeat_counts(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* by_offsets(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
