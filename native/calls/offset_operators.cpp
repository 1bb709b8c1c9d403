// PyTorch's operators on counts, for ordinary dense tensors on the host: the prefix sums, and the last of them.
#include "arrays/arrays.hpp"
#include "arrays/results.hpp"
#include "calls/lookup.hpp"
#include "calls/repeat_counts.hpp"
#include "maps/offsets.hpp"
#include "system/integers.hpp"

namespace tenter {
namespace {

// Reads a 1-D tensor on the host and returns its dtype. Null with an error, or without one where Python must look.
const ArrayDtype* read_row(PyObject* x, ArrayView& view) {
  if (!is_tensor(x) || read_array(x, view) != Reading::readable || view.device != on_cpu || view.ndim != 1)
    return nullptr;
  return view.dtype;
}

}  // namespace

// (counts, n, output_size) -> the n + 1 offsets; None where Python must look, also if an argument is wrong.
PyObject* row_offsets(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 3) return PyErr_Format(PyExc_TypeError, "expected 3 arguments");
  ArrayView counts;
  const ArrayDtype* const dtype = read_row(args[0], counts);
  int64_t n, output_size = 0;
  if (!dtype || !is_count(dtype->number) || !exact_int(args[1], n) || n != counts.shape[0]) return none_or_error();
  if (args[2] != Py_None && !exact_int(args[2], output_size)) Py_RETURN_NONE;
  char* to;
  Outcome offsets = empty_int64(true, n + 1, to);
  if (!offsets.is_done()) return std::move(offsets).to_python();
  const int64_t total =
      prefix_sum(counts.data, Dtype(dtype->number), counts.stride[0], n, reinterpret_cast<int64_t*>(to), 1);
  if (total < 0 || (args[2] != Py_None && total != output_size)) Py_RETURN_NONE;
  return std::move(offsets).to_python();
}

// (offsets) -> the last offset; None where Python must look.
PyObject* last_offset(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 1) return PyErr_Format(PyExc_TypeError, "expected an argument");
  ArrayView offsets;
  const ArrayDtype* const dtype = read_row(args[0], offsets);
  if (!dtype || dtype->number != int(Dtype::i64) || offsets.shape[0] == 0) return none_or_error();
  return PyLong_FromLongLong(load_unaligned<int64_t>(offsets.data + (offsets.shape[0] - 1) * offsets.stride[0]));
}

}  // namespace tenter
