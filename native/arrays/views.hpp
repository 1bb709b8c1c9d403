// Views with more or longer dims, made by the array's library.
#pragma once
#include <Python.h>

#include "arrays/outcome.hpp"

namespace tenter {

// A METH_FASTCALL function; what it takes and returns is at its definition.
Outcome expand_view(PyObject* const* args, Py_ssize_t n);

}  // namespace tenter
