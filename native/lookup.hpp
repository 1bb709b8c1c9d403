// Calls whose overhead counts, as functions of Python's C interface: a known call, and counts that change on every
// call.
#pragma once
#include <Python.h>

namespace tenter {

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
