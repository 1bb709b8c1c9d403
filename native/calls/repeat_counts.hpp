// repeat_interleave by an array of counts.
#pragma once
#include <Python.h>

#include "arrays/arrays.hpp"
#include "calls/call_arguments.hpp"
#include "calls/recorded_calls.hpp"
#include "maps/counts.hpp"
#include "plan/target.hpp"

namespace tenter {

// A repeat by counts that were checked, and what its gradient needs.
//   ndim_in, ndim  dims of x and of the result: the result of flattening has one
//   dim            the dim that is repeated
//   outer, inner   products of the lengths of the dims before and after it
struct Repeated : RecordedCall {
  Counts counts;
  const ArrayDtype* dtype = nullptr;
  int ndim_in = 0, ndim = 0, dim = 0;
  int64_t outer = 1, inner = 1;
  int64_t shape_in[max_read_dims], shape_out[max_read_dims];

  // The result. target: where it goes; null for fresh memory. recorded: whether its gradient is recorded.
  Outcome copy(PyObject* x, const ArrayView& from, const Target* target, bool recorded = false) const;
  Outcome run(PyObject* x, const ArrayView& from) const override;
  Outcome adjoint(PyObject* g) const override;
  PyObject* operands() const override;

 private:
  void copy_strided(const ArrayView& from, char* to, int threads, bool stream) const;
};

bool is_count(int number);  // whether the core reads counts of a dtype (ArrayDtype::number)

// x repeated by counts. Declined if an argument is unusual or wrong.
//   x           an array, or a tensor that is not traced
//   names       of the n arguments after x
//   out         memory for the result, which is written after all checks; null for fresh memory
Outcome repeat_counts(PyObject* x, const CallArguments& names, PyObject* const* args, Py_ssize_t n, PyObject* out);

}  // namespace tenter
