// A repeat_interleave by counts that were checked: what its gradient needs.
#pragma once
#include <Python.h>

#include "arrays.hpp"
#include "counts.hpp"

namespace tenter {

struct Repeated {
  Counts counts;
  const KnownDtype* dtype = nullptr;
  const char* data = nullptr;          // of the array
  int ndim_in = 0, ndim = 0, dim = 0;  // ndim: of the result
  int64_t outer = 1, inner = 1;
  int64_t shape_in[max_read_dims], shape_out[max_read_dims];

  PyObject* copy(PyObject* x) const;  // of the array itself
  PyObject* copy_from(PyObject* x, const ArrayView& from) const;
  PyObject* offsets() const;         // a NumPy array of its own
  PyObject* sum(PyObject* g) const;  // the gradient; None where Python's code must look closer
};

}  // namespace tenter
