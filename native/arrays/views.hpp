// Views with more or longer dims, made by the array's library.
#pragma once
#include <Python.h>

namespace tenter {

// METH_FASTCALL functions; what they take and return is at their definitions.
PyObject* expand_view(PyObject*, PyObject* const* args, Py_ssize_t n);
PyObject* read_numpy_functions(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
