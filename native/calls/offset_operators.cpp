// PyTorch's operators on counts, for ordinary dense tensors on the host: the prefix sums, and the last of them.
#include "arrays/arrays.hpp"
#include "arrays/results.hpp"
#include "calls/lookup.hpp"
#include "calls/repeat_counts.hpp"
#include "maps/offsets.hpp"
#include "system/integers.hpp"

namespace tenter {
namespace {

// Reads a 1-D tensor on the host.
Reading read_row(PyObject* x, ArrayView& view) {
  const Reading found = is_tensor(x) ? read_array(x, view) : Reading::unreadable;
  if (found == Reading::readable && (view.device != on_cpu || view.ndim != 1)) return Reading::unreadable;
  return found;
}

}  // namespace

// (counts, n, output_size) -> the n + 1 offsets; None where Python must look, also if an argument is wrong.
Outcome row_offsets(PyObject* const* args, Py_ssize_t) {
  ArrayView counts;
  int64_t n, output_size = 0;
  if (const Reading found = read_row(args[0], counts); found != Reading::readable) return Outcome::unread(found);
  const int number = counts.dtype->number;
  if (!is_count(number) || !exact_int(args[1], n) || n != counts.shape[0]) return Outcome::declined();
  if (args[2] != Py_None && !exact_int(args[2], output_size)) return Outcome::declined();
  char* to;
  Outcome offsets = empty_int64(true, n + 1, to);
  if (!offsets.is_done()) return offsets;
  const int64_t total = prefix_sum(counts.data, Dtype(number), counts.stride[0], n, reinterpret_cast<int64_t*>(to), 1);
  if (total < 0 || (args[2] != Py_None && total != output_size)) return Outcome::declined();
  return offsets;
}

// (offsets) -> the last offset; None where Python must look.
Outcome last_offset(PyObject* const* args, Py_ssize_t) {
  ArrayView offsets;
  if (const Reading found = read_row(args[0], offsets); found != Reading::readable) return Outcome::unread(found);
  if (offsets.dtype->number != int(Dtype::i64) || offsets.shape[0] == 0) return Outcome::declined();
  const char* const last = offsets.data + (offsets.shape[0] - 1) * offsets.stride[0];
  return Outcome::of_python(PyLong_FromLongLong(load_unaligned<int64_t>(last)));
}

}  // namespace tenter
