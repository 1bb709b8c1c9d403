// Functions of ragged arrays, from their arguments to a result in one call from Python: of plain arrays and tensors on
// the host, lengths of int32 or int64. What is unusual, and all that is wrong, is left to Python's code: None.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "integers.hpp"
#include "kernels.hpp"
#include "lookup.hpp"
#include "memory.hpp"
#include "offsets.hpp"
#include "ragged.hpp"
#include "results.hpp"
#include "tuning.hpp"

namespace tenter {
namespace {

// Integers of one call: in memory that large results leave behind, as fresh pages cost more than what is written there.
class Numbers {
 public:
  int64_t* get(int64_t n) {
    const int64_t bytes = n * int64_t(sizeof(int64_t));
    if (bytes < large || !recycles()) {
      small_.reset(new int64_t[size_t(n)]);
      return small_.get();
    }
    block_.emplace(bytes);
    return reinterpret_cast<int64_t*>(block_->p);
  }

 private:
  std::unique_ptr<int64_t[]> small_;
  std::optional<Block> block_;
};

// Reads the arrays of one call.
class Arguments {
 public:
  // False where x is no plain array on the host that has the memory it claims, or with an error.
  bool array(PyObject* x, ArrayView& view) {
    const bool tensor = is_tensor(x);
    if (!tensor && !is_numpy(x)) return false;
    if (tensor && !asked_ && followed()) return false;
    asked_ = asked_ || tensor;
    if (read_array(x, view) != Reading::readable || view.device != on_cpu) return false;
    return !tensor || holds(x, *view.dtype, view.extent()) == 1;
  }
  // The same of int32 or int64; ndim: 0 for any.
  bool integers(PyObject* x, ArrayView& view, int ndim = 1) {
    if (!array(x, view)) return false;
    const int number = view.dtype->number;
    return (ndim == 0 || view.ndim == ndim) && (number == int(Dtype::i32) || number == int(Dtype::i64));
  }

 private:
  bool asked_ = false;  // whether anything follows calls on tensors
};

bool is_int32(const ArrayView& x) { return x.dtype->number == int(Dtype::i32); }

// Whether a result of n values of so many bytes each may be made.
bool fits_machine(int64_t n, int64_t itemsize, int64_t& bytes) {
  return !__builtin_mul_overflow(n, itemsize, &bytes) && bytes <= machine_memory();
}

// Lengths as offsets.
struct Rows {
  int64_t n = 0, total = 0;
  const int64_t* offset = nullptr;

  // total_of_all: the sum that they must have, None for any. to: room for the offsets, or null.
  bool read(const ArrayView& lengths, PyObject* total_of_all, int64_t* to = nullptr) {
    n = lengths.shape[0];
    if (!to) to = numbers_.get(n + 1);
    const int threads = threads_for(n * 8);
    const auto sum = [&] {
      total = prefix_sum(lengths.data, Dtype(lengths.dtype->number), lengths.stride[0], n, to, threads);
    };
    if (!threads || !work(n * 8, sum) || total < 0) return false;
    offset = to;
    int64_t expected = total;
    if (total_of_all != Py_None && (!exact_int(total_of_all, expected) || expected != total)) return false;
    return !is_int32(lengths) || total <= std::numeric_limits<int32_t>::max();
  }
  int64_t longest() const {
    int64_t most = 0;
    for (int64_t i = 0; i < n; ++i) most = std::max(most, offset[i + 1] - offset[i]);
    return most;
  }

 private:
  Numbers numbers_;
};

// A result like x of so many bytes, which `fill(to, threads, stream)` writes. read: bytes that it reads for that.
template <class F>
PyObject* made(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, F&& fill,
               int64_t read = 0) {
  char* to;
  bool stream;
  Owned y(result_of(x, like, shape, ndim, bytes, to, stream));
  if (!y) return none_or_error();
  if (!bytes) return y.release();
  const int threads = threads_for(std::max(bytes, read));
  if (!threads || !work(std::max(bytes, read), [&] { fill(to, threads, stream); })) return nullptr;
  return y.release();
}

PyObject* numbered(PyObject* const* args, Py_ssize_t n_args, bool ids) {
  if (n_args != 2) return PyErr_Format(PyExc_TypeError, "expected lengths and a total");
  Arguments arguments;
  ArrayView lengths;
  Rows rows;
  int64_t bytes;
  if (!arguments.integers(args[0], lengths) || !rows.read(lengths, args[1]) ||
      !fits_machine(rows.total, lengths.dtype->itemsize, bytes))
    return none_or_error();
  return made(args[0], lengths, &rows.total, 1, bytes, [&](char* to, int threads, bool stream) {
    kernels().ranges({rows.offset, rows.n, nullptr, nullptr, 0, 1, ids, to, is_int32(lengths), stream}, threads);
  });
}

// One number for all rows, or a table of one each. table: int64, where it is not in the memory that was given.
struct Each {
  int64_t of_all = 0;
  const int64_t* table = nullptr;
  ArrayView view;
  bool given = false;  // as an array

  bool read(PyObject* x, Arguments& arguments, int64_t n) {
    if (exact_int(x, of_all)) return true;
    given = arguments.integers(x, view) && view.shape[0] == n && view.contiguous();
    if (!given) return false;
    if (is_int32(view)) {
      int64_t* const to = numbers_.get(n);
      std::copy_n(reinterpret_cast<const int32_t*>(view.data), n, to);
      table = to;
    } else {
      table = reinterpret_cast<const int64_t*>(view.data);
    }
    of_all = 0;
    return true;
  }

 private:
  Numbers numbers_;
};

struct Span {
  int64_t begin, end;
};

int64_t integer_at(const ArrayView& x, int64_t i) {
  return is_int32(x) ? load_once<int32_t>(x.data + 4 * i) : load_once<int64_t>(x.data + 8 * i);
}

bool is_float(const ArrayView& x) { return x.dtype->number == int(Dtype::f32) || x.dtype->number == int(Dtype::f64); }

// An array and the rows that lie along one of its dims.
struct Ragged {
  ArrayView x;
  Rows rows;
  int64_t outer = 1, inner = 1, dim = 0, bytes = 0;  // of x

  // (x, lengths, dim); last: the last dtype that is served.
  bool read(PyObject* const* args, Dtype last) {
    Arguments arguments;
    ArrayView lengths;
    if (!arguments.array(args[0], x) || !x.contiguous() || x.dtype->number < 0 || x.dtype->number > int(last) ||
        !exact_int(args[2], dim) || dim < -x.ndim || dim >= x.ndim || !arguments.integers(args[1], lengths))
      return false;
    dim += dim < 0 ? x.ndim : 0;
    if ((x.tensor && wants_grad(args[0])) || !rows.read(lengths, Py_None) || x.shape[dim] != rows.total) return false;
    for (int d = 0; d < x.ndim; ++d)
      if (d != dim) (d < dim ? outer : inner) *= x.shape[d];
    return outer && inner && rows.total && fits_machine(outer * rows.total * inner, x.dtype->itemsize, bytes);
  }
  RowsTask task(char* to, bool stream) const {
    return {x.data, to, Dtype(x.dtype->number), rows.offset, rows.n, outer, inner, stream};
  }
};

// (x, lengths, dim) -> a value for each row along dim, which `reduce(task, threads)` writes
template <class F>
PyObject* reduced(PyObject* const* args, Py_ssize_t n_args, Dtype last, F&& reduce) {
  if (n_args != 3) return PyErr_Format(PyExc_TypeError, "expected an array, lengths and a dim");
  Ragged r;
  int64_t shape[max_read_dims], bytes;
  if (!r.read(args, last) || !fits_machine(r.outer * r.rows.n * r.inner, r.x.dtype->itemsize, bytes))
    return none_or_error();
  std::copy_n(r.x.shape, r.x.ndim, shape), shape[r.dim] = r.rows.n;
  const auto fill = [&](char* to, int threads, bool stream) { reduce(r.task(to, stream), threads); };
  return made(args[0], r.x, shape, r.x.ndim, bytes, fill, r.bytes);
}

// The same of x's shape, of float32 and float64.
template <class F>
PyObject* with_rows(PyObject* const* args, Py_ssize_t n_args, F&& change) {
  if (n_args != 3) return PyErr_Format(PyExc_TypeError, "expected an array, lengths and a dim");
  Ragged r;
  if (!r.read(args, Dtype::f64)) return none_or_error();
  const auto fill = [&](char* to, int threads, bool) { change(r.task(to, false), threads); };
  return made(args[0], r.x, r.x.shape, r.x.ndim, r.bytes, fill);
}

template <bool largest>
void extremes(const RowsTask& t, int threads) {
  kernels().extremes({t.src, t.dst, nullptr, t.dtype, t.offset, t.n, t.outer, t.inner, largest}, threads);
}

}  // namespace

// (lengths, total) -> their offsets
PyObject* ragged_offsets(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 2) return PyErr_Format(PyExc_TypeError, "expected lengths and a total");
  Arguments arguments;
  ArrayView lengths;
  Rows rows;
  if (!arguments.integers(args[0], lengths)) return none_or_error();
  const int64_t n = lengths.shape[0] + 1;
  char* to;
  bool stream;
  Owned y(result_of(args[0], lengths, &n, 1, n * lengths.dtype->itemsize, to, stream));
  if (!y || !rows.read(lengths, args[1], is_int32(lengths) ? nullptr : reinterpret_cast<int64_t*>(to)))
    return none_or_error();
  if (is_int32(lengths)) std::copy_n(rows.offset, n, reinterpret_cast<int32_t*>(to));
  return y.release();
}

// (lengths, total) -> the row of each position, and its place in the row
PyObject* ragged_row_ids(PyObject*, PyObject* const* args, Py_ssize_t n) { return numbered(args, n, true); }
PyObject* ragged_positions(PyObject*, PyObject* const* args, Py_ssize_t n) { return numbered(args, n, false); }

// (starts, lengths, steps, total) -> ranges, one after the other
PyObject* ragged_ranges(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 4) return PyErr_Format(PyExc_TypeError, "expected starts, lengths, steps and a total");
  Arguments arguments;
  ArrayView lengths;
  Rows rows;
  Each start, step;
  if (!arguments.integers(args[1], lengths) || !start.read(args[0], arguments, lengths.shape[0]) ||
      !step.read(args[2], arguments, lengths.shape[0]) || !rows.read(lengths, args[3]))
    return none_or_error();
  // The result is like an array whose dtype it has; all must be of one library.
  PyObject* like = args[1];
  const ArrayView* view = &lengths;
  if (start.given) like = args[0], view = &start.view;
  if (step.given && (!start.given || !is_int32(step.view))) like = args[2], view = &step.view;
  const bool one_library =
      (!start.given || start.view.tensor == lengths.tensor) && (!step.given || step.view.tensor == lengths.tensor);
  int64_t bytes;
  RangesTask task{rows.offset, rows.n, start.table, step.table,      start.of_all,
                  step.of_all, false,  nullptr,     is_int32(*view), false};
  if (!one_library || !fits_machine(rows.total, view->dtype->itemsize, bytes)) Py_RETURN_NONE;
  const int threads = threads_for(rows.n * 8);
  int64_t wrong = -1;
  if (!threads || !work(rows.n * 8, [&] { wrong = ranges_fit(task, threads); })) return nullptr;
  if (wrong >= 0) Py_RETURN_NONE;
  return made(like, *view, &rows.total, 1, bytes, [&](char* to, int n_threads, bool stream) {
    task.dst = to, task.stream = stream;
    kernels().ranges(task, n_threads);
  });
}

// (lengths, max_len) -> bool[n, max_len]. A large result is Python's, which knows memory for it.
PyObject* ragged_mask(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 2) return PyErr_Format(PyExc_TypeError, "expected lengths and the largest");
  Arguments arguments;
  ArrayView lengths;
  Rows rows;
  if (!arguments.integers(args[0], lengths) || lengths.shape[0] >= large || !rows.read(lengths, Py_None))
    return none_or_error();
  const int64_t most = rows.longest();
  int64_t room = most, bytes;
  if (args[1] != Py_None && (!exact_int(args[1], room) || room < most)) Py_RETURN_NONE;
  if (!fits_machine(rows.n, room, bytes) || bytes >= large || tuning.guard_blocks) Py_RETURN_NONE;
  const int64_t shape[2] = {rows.n, room};
  ArrayView like = lengths;
  if (!(like.dtype = bool_like(lengths))) Py_RETURN_NONE;
  return made(args[0], like, shape, 2, bytes, [&](char* to, int threads, bool) {
    pad({nullptr, to, rows.offset, rows.n, room, 1, nullptr, 0}, threads);
  });
}

// (starts, ends, n) -> bool[..., n]: positions between a start and its end, along the last dim. A large result is
// Python's.
PyObject* ragged_spans(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 3) return PyErr_Format(PyExc_TypeError, "expected starts, ends and a length");
  Arguments arguments;
  ArrayView starts, ends;
  int64_t n, bytes;
  if (!exact_int(args[2], n) || n < 0 || !arguments.integers(args[0], starts, 0) || starts.ndim == 0 ||
      !arguments.integers(args[1], ends, starts.ndim) || starts.tensor != ends.tensor || !starts.contiguous() ||
      !ends.contiguous())
    return none_or_error();
  if (!std::equal(starts.shape, starts.shape + starts.ndim, ends.shape)) Py_RETURN_NONE;
  const int last = starts.ndim - 1;
  const int64_t n_spans = starts.n_values(), k = starts.shape[last], rows = k ? n_spans / k : 0;
  if (!k || n_spans >= large || !fits_machine(rows, n, bytes) || bytes >= large || tuning.guard_blocks) Py_RETURN_NONE;
  Numbers memory;
  int64_t* const pairs = memory.get(2 * n_spans);  // what is checked is what is used
  bool right = true;
  for (int64_t i = 0; i < n_spans; ++i) {
    const int64_t begin = integer_at(starts, i), end = integer_at(ends, i);
    right = right && begin >= 0 && begin <= end && end <= n;
    pairs[2 * i] = begin, pairs[2 * i + 1] = end;
  }
  ArrayView like = starts;
  if (!right || !(like.dtype = bool_like(starts))) Py_RETURN_NONE;
  int64_t shape[max_read_dims];
  std::copy_n(starts.shape, last, shape), shape[last] = n;
  return made(args[0], like, shape, starts.ndim, bytes,
              [&](char* to, int threads, bool) { mark_spans({pairs, to, rows, k, n}, threads); });
}

// (x, lengths, dim) -> a sum, mean, largest or smallest value of each row along dim
PyObject* segment_sum(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return reduced(args, n, Dtype::bf16, sum_rows);
}
PyObject* segment_mean(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return reduced(args, n, Dtype::f64, mean_rows);
}
PyObject* segment_max(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return reduced(args, n, Dtype::i64, extremes<true>);
}
PyObject* segment_min(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return reduced(args, n, Dtype::i64, extremes<false>);
}

// (x, lengths, dim) -> x less the largest value of each row, and over the sum of each row
PyObject* segment_less_max(PyObject*, PyObject* const* args, Py_ssize_t n) { return with_rows(args, n, less_extremes); }
PyObject* segment_share(PyObject*, PyObject* const* args, Py_ssize_t n) { return with_rows(args, n, share_rows); }

// (x, lengths, max_len) -> rows of one length, zeros behind each
PyObject* ragged_pad(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 3) return PyErr_Format(PyExc_TypeError, "expected an array, lengths and the largest");
  Arguments arguments;
  ArrayView x, lengths;
  Rows rows;
  if (!arguments.array(args[0], x) || x.ndim < 1 || x.ndim >= max_read_dims || !x.contiguous() ||
      (x.tensor && wants_grad(args[0])) || !arguments.integers(args[1], lengths) || !rows.read(lengths, Py_None))
    return none_or_error();
  const int64_t most = rows.longest();
  int64_t room = most, values, bytes, shape[max_read_dims];
  const bool enough = args[2] == Py_None || (exact_int(args[2], room) && room >= most);
  if (x.shape[0] != rows.total || !enough || !rows.total) Py_RETURN_NONE;
  const int64_t each = x.n_values() / rows.total * x.dtype->itemsize;
  if (!each || __builtin_mul_overflow(rows.n, room, &values) || !fits_machine(values, each, bytes)) Py_RETURN_NONE;
  shape[0] = rows.n, shape[1] = room, std::copy_n(x.shape + 1, x.ndim - 1, shape + 2);
  const auto fill = [&](char* to, int threads, bool) {
    constexpr int64_t zeros[2] = {};  // an element of any dtype
    const auto* const zero = reinterpret_cast<const char*>(zeros);
    pad({x.data, to, rows.offset, rows.n, room, each, zero, x.dtype->itemsize}, threads);
  };
  return made(args[0], x, shape, x.ndim + 1, bytes, fill);
}

// (x, lengths, total) -> rows without what fills them up
PyObject* ragged_unpad(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 3) return PyErr_Format(PyExc_TypeError, "expected an array, lengths and a total");
  Arguments arguments;
  ArrayView x, lengths;
  Rows rows;
  if (!arguments.array(args[0], x) || x.ndim < 2 || !x.contiguous() || (x.tensor && wants_grad(args[0])) ||
      !arguments.integers(args[1], lengths) || !rows.read(lengths, args[2]))
    return none_or_error();
  const int64_t n_rows = x.shape[0], length = x.shape[1];
  if (n_rows != rows.n || !rows.total || rows.longest() > length) Py_RETURN_NONE;
  const int64_t each = x.n_values() / (n_rows * length) * x.dtype->itemsize;
  int64_t bytes, shape[max_read_dims];
  if (!each || !fits_machine(rows.total, each, bytes)) Py_RETURN_NONE;
  shape[0] = rows.total, std::copy_n(x.shape + 2, x.ndim - 2, shape + 1);
  const auto fill = [&](char* to, int threads, bool) {
    unpad({x.data, to, rows.offset, n_rows, length, each, nullptr, 0}, threads);
  };
  return made(args[0], x, shape, x.ndim - 1, bytes, fill);
}

}  // namespace tenter
