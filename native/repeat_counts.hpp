// A repeat_interleave by counts that were checked: what its gradient needs.
#pragma once
#include <Python.h>

#include "arrays.hpp"
#include "counts.hpp"

namespace tenter {

struct Repeated {
  Counts counts;
  const KnownDtype* dtype = nullptr;
  int ndim_in = 0, ndim = 0, dim = 0;  // ndim: of the result
  int64_t outer = 1, inner = 1;
  int64_t shape_in[max_read_dims], shape_out[max_read_dims];

  PyObject* copy(PyObject* x, const ArrayView& from, bool recorded = false) const;  // recorded: its gradient is
  PyObject* operands() const;
  PyObject* sum(PyObject* g) const;  // the gradient; None where Python's code must look closer

 private:
  void copy_strided(const ArrayView& from, char* to, int threads, bool stream) const;
};

bool is_count(int number);  // whether counts of a dtype are read here

// The result of x, an array or a tensor whose calls nothing follows, by counts; None where Python's code must look
// closer: for anything unusual, and for everything wrong.
PyObject* repeat_counts(PyObject* x, PyObject* counts, PyObject* dim, PyObject* output_size);

}  // namespace tenter
