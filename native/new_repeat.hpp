// Repeats by ints.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays.hpp"
#include "cached_plan.hpp"
#include "call_arguments.hpp"
#include "target.hpp"

namespace tenter {

// Each position of a dim some times in a row, or dims over and over. shape, stride: of the array as it is repeated,
// which is another shape of the same memory where dims are put in front or flattened.
struct Repeats {
  int ndim = 0;
  int64_t shape[max_read_dims], stride[max_read_dims], times[max_read_dims], shape_out[max_read_dims];
  int64_t bytes_out;
  bool each;
};

// Whether a call is repeat_interleave, repeat or tile, or NumPy's.
bool is_repeat(const CallArguments& names);
// The result of such a call with the arguments of Python's function. from: of x. wants: a gradient, which is recorded.
// target: as Family::run has it, where none is wanted. Null with an error, or without where Python's code shall plan or
// refuse it.
PyObject* repeat_new(PyObject* x, const ArrayView& from, const CallArguments& names, PyObject* const* args,
                     Py_ssize_t n, const CachedPlan& cached, bool wants, const Target* target = nullptr);

}  // namespace tenter
