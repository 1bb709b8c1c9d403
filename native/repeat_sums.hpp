// Gradients of repeats by ints: sums over the copies, planned and run once.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays.hpp"
#include "new_repeat.hpp"

namespace tenter {

// The gradient of an array of that shape, by one of the result of its repeats. from: of g. Null with an error, or
// without where Python's code shall plan it. Python's plans are made of the same passes in the same order, and have the
// same bits.
PyObject* sum_repeats(PyObject* g, const ArrayView& from, const Repeats& by, const int64_t* shape, int ndim);

}  // namespace tenter
