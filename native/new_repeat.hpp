// Repeats by ints, of arrays of shapes that no plan is kept for.
#pragma once
#include <Python.h>

#include "arrays.hpp"
#include "target.hpp"

namespace tenter {

// Whether a call is repeat_interleave, repeat or tile, or NumPy's.
bool is_repeat(PyObject* call);
// The result of such a call with the arguments of Python's function. from: of x, which wants no gradient. target: as
// Family::run has it. Null with an error, or without where Python's code shall plan or refuse it.
PyObject* repeat_new(PyObject* x, const ArrayView& from, PyObject* call, PyObject* const* args, Py_ssize_t n,
                     const Target* target = nullptr);

}  // namespace tenter
