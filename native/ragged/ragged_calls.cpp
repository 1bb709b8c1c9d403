// Functions on ragged arrays, from arguments to a result in one call from Python. They take ordinary dense arrays and
// tensors on the host, and lengths of int32 or int64. If an argument is unusual or wrong they return None, and Python
// runs the call.
#include <algorithm>

#include "kernels/kernels.hpp"
#include "maps/ragged.hpp"
#include "ragged/ragged_arguments.hpp"
#include "ragged/ragged_calls.hpp"
#include "system/integers.hpp"
#include "system/memory.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// An argument that is one number for all rows, or an array of one number per row.
//   table  int64, in the array's memory or copied; null for one number
//   given  whether the argument is an array, which `view` describes
struct RowNumbers {
  int64_t of_all = 0;
  const int64_t* table = nullptr;
  ArrayView view;
  bool given = false;

  // copies: whether the array's memory may be written to while the table is read
  Reading read(PyObject* x, Arguments& arguments, int64_t n, bool copies) {
    if (exact_int(x, of_all)) return Reading::readable;
    if (const Reading found = arguments.integers(x, view); found != Reading::readable) return found;
    given = view.shape[0] == n && view.contiguous();
    if (!given) return Reading::unreadable;
    const auto* const numbers = reinterpret_cast<const int64_t*>(view.data);
    if (is_int32(view) || copies) {
      int64_t* const to = numbers_.get(n);
      if (is_int32(view)) std::copy_n(reinterpret_cast<const int32_t*>(view.data), n, to);
      else std::copy_n(numbers, n, to);
      table = to;
    } else {
      table = numbers;
    }
    of_all = 0;
    return Reading::readable;
  }

 private:
  Numbers numbers_;
};

// The side of the padding, in words of Python. Returns false for other words.
bool read_side(PyObject* word, bool& left) {
  left = PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, "left") == 0;
  return left || word == Py_None || (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, "right") == 0);
}

int64_t integer_at(const ArrayView& x, int64_t i) {
  return is_int32(x) ? load_once<int32_t>(x.data + 4 * i) : load_once<int64_t>(x.data + 8 * i);
}

}  // namespace

// (lengths, total, out) -> their offsets
Outcome ragged_offsets(PyObject* const* args, Py_ssize_t) {
  Arguments arguments;
  ArrayView lengths;
  RowLengths rows;
  if (const Reading found = arguments.integers(args[0], lengths); found != Reading::readable)
    return Outcome::unread(found);
  const int64_t n = lengths.shape[0] + 1;
  int64_t bytes;
  if (!fits_machine(n, 8, bytes)) return Outcome::declined();
  if (is_int32(lengths) || args[2] != Py_None) {  // the lengths are checked before the result is written
    if (const Reading found = rows.read(lengths, args[1]); found != Reading::readable) return Outcome::unread(found);
    return made(args[0], lengths, &n, 1, args[2], [&](char* to, int, bool) {
      if (is_int32(lengths)) std::copy_n(rows.offset, n, reinterpret_cast<int32_t*>(to));
      else std::copy_n(rows.offset, n, reinterpret_cast<int64_t*>(to));
    });
  }
  Fresh y = result_of(args[0], lengths, &n, 1, bytes);
  if (!y.is_made()) return std::move(y.array);
  const Reading found = rows.read(lengths, args[1], reinterpret_cast<int64_t*>(y.data));
  return found == Reading::readable ? std::move(y.array) : Outcome::unread(found);
}

// (lengths, total, out) -> the row of each position
Outcome ragged_row_ids(PyObject* const* args, Py_ssize_t) {
  Arguments arguments;
  ArrayView lengths;
  RowLengths rows;
  int64_t bytes;
  Reading found = arguments.integers(args[0], lengths);
  if (found == Reading::readable) found = rows.read(lengths, args[1]);
  if (found != Reading::readable) return Outcome::unread(found);
  if (!fits_machine(rows.total, lengths.dtype->itemsize, bytes)) return Outcome::declined();
  return made(args[0], lengths, &rows.total, 1, args[2], [&](char* to, int threads, bool stream) {
    kernels().ranges({rows.offset, rows.n, nullptr, nullptr, 0, 1, true, to, is_int32(lengths), stream}, threads);
  });
}

// (starts, lengths, steps, total, out) -> the ranges of all rows, one after the other
Outcome ragged_ranges(PyObject* const* args, Py_ssize_t) {
  const bool copies = args[4] != Py_None;
  Arguments arguments;
  ArrayView lengths;
  RowLengths rows;
  RowNumbers start, step;
  Reading found = arguments.integers(args[1], lengths);
  if (found == Reading::readable) found = start.read(args[0], arguments, lengths.shape[0], copies);
  if (found == Reading::readable) found = step.read(args[2], arguments, lengths.shape[0], copies);
  if (found == Reading::readable) found = rows.read(lengths, args[3]);
  if (found != Reading::readable) return Outcome::unread(found);
  // The result has the dtype of one of the arrays. All must be of one library.
  PyObject* like = args[1];
  const ArrayView* view = &lengths;
  if (start.given) like = args[0], view = &start.view;
  if (step.given && (!start.given || !is_int32(step.view))) like = args[2], view = &step.view;
  const bool one_library =
      (!start.given || start.view.tensor == lengths.tensor) && (!step.given || step.view.tensor == lengths.tensor);
  int64_t bytes;
  RangesTask task{rows.offset, rows.n, start.table, step.table,      start.of_all,
                  step.of_all, false,  nullptr,     is_int32(*view), false};
  if (!one_library || !fits_machine(rows.total, view->dtype->itemsize, bytes)) return Outcome::declined();
  const int threads = threads_for(rows.n * 8);
  int64_t wrong = -1;
  if (!threads || !work(rows.n * 8, [&] { wrong = ranges_fit(task, threads); })) return Outcome::failed();
  if (wrong >= 0) return Outcome::declined();
  return made(like, *view, &rows.total, 1, args[4], [&](char* to, int n_threads, bool stream) {
    task.dst = to, task.stream = stream;
    kernels().ranges(task, n_threads);
  });
}

// Whether Python makes a mask of so many bytes, and finds memory for it.
static bool is_large_mask(int64_t bytes, PyObject* out) {
  return out == Py_None && (bytes >= largest_mask || tuning.guard_blocks);
}

// (lengths, max_len, side, out) -> bool[n, max_len]. side: "left" or "right"; None for the right one.
Outcome ragged_mask(PyObject* const* args, Py_ssize_t) {
  Arguments arguments;
  ArrayView lengths;
  RowLengths rows;
  Reading found = arguments.integers(args[0], lengths);
  bool left;
  if (!read_side(args[2], left)) return Outcome::declined();
  if (found == Reading::readable && is_large_mask(lengths.shape[0], args[3])) found = Reading::unreadable;
  if (found == Reading::readable) found = rows.read(lengths, Py_None);
  if (found != Reading::readable) return Outcome::unread(found);
  const int64_t most = rows.longest();
  int64_t room = most, bytes;
  if (args[1] != Py_None && (!exact_int(args[1], room) || room < most)) return Outcome::declined();
  if (!fits_machine(rows.n, room, bytes) || is_large_mask(bytes, args[3])) return Outcome::declined();
  const int64_t shape[2] = {rows.n, room};
  ArrayView like = lengths;
  if (!(like.dtype = bool_like(lengths))) return Outcome::declined();
  return made(args[0], like, shape, 2, args[3], [&](char* to, int threads, bool) {
    pad({nullptr, to, rows.offset, left, rows.n, room, 1, nullptr, 0}, threads);
  });
}

// Copies spans as pairs of their start and end. Returns false if one does not ascend within [0, n].
static bool read_spans(const ArrayView& starts, const ArrayView& ends, int64_t n, int64_t* pairs) {
  bool right = true;
  for (int64_t i = 0, n_spans = starts.n_values(); i < n_spans; ++i) {
    const int64_t begin = integer_at(starts, i), end = integer_at(ends, i);
    right = right && begin >= 0 && begin <= end && end <= n;
    pairs[2 * i] = begin, pairs[2 * i + 1] = end;
  }
  return right;
}

// (starts, ends, n, out) -> bool[..., n]: which positions are between a start and its end, along the last dim
Outcome ragged_spans(PyObject* const* args, Py_ssize_t) {
  Arguments arguments;
  ArrayView starts, ends;
  int64_t n, bytes;
  if (!exact_int(args[2], n) || n < 0) return Outcome::declined();
  Reading found = arguments.integers(args[0], starts, 0);
  if (found == Reading::readable) found = arguments.integers(args[1], ends, starts.ndim);
  if (found != Reading::readable) return Outcome::unread(found);
  if (starts.ndim == 0 || starts.ndim != ends.ndim || starts.tensor != ends.tensor || !starts.contiguous() ||
      !ends.contiguous() || !std::equal(starts.shape, starts.shape + starts.ndim, ends.shape))
    return Outcome::declined();
  const int last = starts.ndim - 1;
  const int64_t n_spans = starts.n_values(), k = starts.shape[last], rows = k ? n_spans / k : 0;
  if (!k || is_large_mask(n_spans, args[3]) || !fits_machine(n_spans, 16, bytes)) return Outcome::declined();
  if (!fits_machine(rows, n, bytes) || is_large_mask(bytes, args[3])) return Outcome::declined();
  Numbers memory;
  int64_t* const pairs =
      memory.get(2 * n_spans);  // copied, so that the values that are checked are those that are used
  ArrayView like = starts;
  if (!read_spans(starts, ends, n, pairs) || !(like.dtype = bool_like(starts))) return Outcome::declined();
  int64_t shape[max_read_dims];
  std::copy_n(starts.shape, last, shape), shape[last] = n;
  return made(args[0], like, shape, starts.ndim, args[3],
              [&](char* to, int threads, bool) { mark_spans({pairs, to, rows, k, n}, threads); });
}

// (x, lengths, max_len, value, side, out) -> rows padded to one length. value: the bytes of an element; None for zeros.
// side: as above.
Outcome ragged_pad(PyObject* const* args, Py_ssize_t) {
  Arguments arguments;
  ArrayView x, lengths;
  RowLengths rows;
  Reading found = arguments.array(args[0], x);
  if (found == Reading::readable) found = arguments.integers(args[1], lengths);
  if (found == Reading::readable) found = rows.read(lengths, Py_None);
  if (found != Reading::readable) return Outcome::unread(found);
  bool left;
  if (x.ndim < 1 || x.ndim >= max_read_dims || !x.contiguous() || !read_side(args[4], left)) return Outcome::declined();
  const int64_t most = rows.longest();
  int64_t room = most, values, bytes, shape[max_read_dims];
  const bool enough = args[2] == Py_None || (exact_int(args[2], room) && room >= most);
  if (x.shape[0] != rows.total || !enough || !rows.total) return Outcome::declined();
  const int64_t each = x.n_values() / rows.total * x.dtype->itemsize;
  if (!each || __builtin_mul_overflow(rows.n, room, &values) || !fits_machine(values, each, bytes))
    return Outcome::declined();
  shape[0] = rows.n, shape[1] = room, std::copy_n(x.shape + 1, x.ndim - 1, shape + 2);
  constexpr int64_t zeros[2] = {};  // an element of any dtype
  const char* element = reinterpret_cast<const char*>(zeros);
  if (args[3] != Py_None) {
    if (!PyBytes_CheckExact(args[3]) || PyBytes_Size(args[3]) != x.dtype->itemsize) return Outcome::declined();
    element = PyBytes_AsString(args[3]);
  }
  const auto fill = [&](char* to, int threads, bool) {
    pad({x.data, to, rows.offset, left, rows.n, room, each, element, x.dtype->itemsize}, threads);
  };
  return made(args[0], x, shape, x.ndim + 1, args[5], fill);
}

// (x, lengths, total, side, out) -> rows without their padding
Outcome ragged_unpad(PyObject* const* args, Py_ssize_t) {
  Arguments arguments;
  ArrayView x, lengths;
  RowLengths rows;
  Reading found = arguments.array(args[0], x);
  if (found == Reading::readable) found = arguments.integers(args[1], lengths);
  if (found == Reading::readable) found = rows.read(lengths, args[2]);
  if (found != Reading::readable) return Outcome::unread(found);
  bool left;
  if (x.ndim < 2 || !x.contiguous() || !read_side(args[3], left)) return Outcome::declined();
  const int64_t n_rows = x.shape[0], length = x.shape[1];
  if (n_rows != rows.n || !rows.total || rows.longest() > length) return Outcome::declined();
  const int64_t each = x.n_values() / (n_rows * length) * x.dtype->itemsize;
  int64_t bytes, shape[max_read_dims];
  if (!each || !fits_machine(rows.total, each, bytes)) return Outcome::declined();
  shape[0] = rows.total, std::copy_n(x.shape + 2, x.ndim - 2, shape + 1);
  const auto fill = [&](char* to, int threads, bool) {
    unpad({x.data, to, rows.offset, left, n_rows, length, each, nullptr, 0}, threads);
  };
  return made(args[0], x, shape, x.ndim - 1, args[4], fill);
}

}  // namespace tenter
