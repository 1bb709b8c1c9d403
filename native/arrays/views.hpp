// Views with more or longer dims, made by the array's library.
#pragma once
#include <Python.h>

namespace tenter {

// A METH_FASTCALL function; what it takes and returns is at its definition.
PyObject* expand_view(PyObject*, PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
