// repeat_interleave by counts that change on every call: reads and checks the counts and copies x, in one call from
// Python.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "arrays/arrays.hpp"
#include "arrays/results.hpp"
#include "calls/lookup.hpp"
#include "calls/repeat_counts.hpp"
#include "maps/counts.hpp"
#include "plan/passes.hpp"
#include "rules/verify.hpp"
#include "system/memory.hpp"

namespace tenter {
namespace {

bool are_alike(PyObject* x, PyObject* counts) {  // whether both are of one library
  return is_tensor(x) ? is_tensor(counts) : is_numpy(x) && is_numpy(counts);
}

// Reads an array and its counts or offsets. Unreadable unless both are of one library, and on the host.
Reading read_both(PyObject* x, ArrayView& from, PyObject* x_counts, ArrayView& counted) {
  if (!are_alike(x, x_counts)) return Reading::unreadable;
  Reading found = read_array(x, from);
  if (found == Reading::readable) found = read_array(x_counts, counted);
  if (found == Reading::readable && (from.device != on_cpu || counted.device != on_cpu)) return Reading::unreadable;
  return found;
}

// Sets the shapes, and the products `outer` and `inner` of the dims before and after `dim`.
void split(Repeated& how, const ArrayView& from, int dim) {
  how.ndim = how.ndim_in = from.ndim, how.dim = dim, how.dtype = from.dtype;
  how.outer = how.inner = 1;
  for (int d = 0; d < from.ndim; ++d) {
    how.shape_in[d] = how.shape_out[d] = from.shape[d];
    if (d != dim) (d < dim ? how.outer : how.inner) *= from.shape[d];
  }
}

// The values of an array, which are copied into the room if they are not adjacent.
const char* contiguous(const ArrayView& from, Room& room, int threads) {
  if (from.contiguous()) return from.data;
  Dim dims[max_read_dims];
  for (int d = 0; d < from.ndim; ++d) dims[d] = {from.shape[d], from.stride[d]};
  char* const packed = room.get(from.n_values() * from.dtype->itemsize);
  pack(dims, from.ndim, from.dtype->itemsize, from.data, packed, threads);
  return packed;
}

}  // namespace

bool is_count(int number) {
  switch (number) {
    case int(Dtype::i64):
    case int(Dtype::i32):
    case int(Dtype::i16):
    case int(Dtype::i8):
    case int(Dtype::u8):
    case int(Dtype::u16):
    case int(Dtype::u32): return true;
    default: return false;  // np.repeat refuses counts of uint64
  }
}

Outcome Repeated::copy(PyObject* x, const ArrayView& from, const Target* target, bool recorded) const {
  const int64_t inner_bytes = inner * from.dtype->itemsize;
  const auto write = [&](char* to, int threads, bool stream) {
    if (from.contiguous()) return counts.copy(from.data, to, outer, inner_bytes, threads, stream);
    if (ndim == from.ndim) return copy_strided(from, to, threads, stream);
    Room room;  // x is flattened: a contiguous copy of it is repeated
    counts.copy(contiguous(from, room, threads), to, outer, inner_bytes, threads, stream);
  };
  return make_result(x, from, shape_out, ndim, target, write, recorded);
}

void Repeated::copy_strided(const ArrayView& from, char* to, int threads, bool stream) const {
  CopyAxis axes[max_read_dims];
  for (int d = 0; d < from.ndim; ++d) {
    const int64_t n = from.shape[d], stride = n > 1 ? from.stride[d] : 0;
    if (d == dim) axes[d] = {CopyAxis::runs, n, counts.total, stride, 1, counts.offset.data()};
    else axes[d] = {CopyAxis::affine, n, n, stride, 1, nullptr};
  }
  CopyTask task{};
  copy_pass(from.dtype->itemsize, axes, from.ndim, task);
  task.src = from.data, task.dst = to, task.stream = stream;
  if constexpr (verifies) verify(task);
  kernels().copy(task, threads);
}

PyObject* Repeated::operands() const {
  char* to;
  const Owned shape(shape_tuple(shape_in, ndim_in)), itemsize(PyLong_FromLong(dtype->itemsize));
  const Owned at(PyLong_FromLong(dim)), total(PyLong_FromLongLong(counts.total));
  const Owned offsets = empty_int64(false, int64_t(counts.offset.size()), to).result();
  if (!shape || !itemsize || !at || !total || !offsets) return nullptr;
  std::memcpy(to, counts.offset.data(), counts.offset.size() * sizeof(int64_t));
  return PyTuple_Pack(7, itemsize.get(), Py_None, shape.get(), shape.get(), offsets.get(), at.get(), total.get());
}

Outcome Repeated::run(PyObject* x, const ArrayView& from) const {
  Outcome y = copy(x, from, nullptr, true);
  if (y.is_declined()) return Outcome::of_python(PyErr_Format(PyExc_MemoryError, "result: no memory"));
  return y;
}

Outcome Repeated::adjoint(PyObject* g) const {
  ArrayView from;
  const Reading found = read_detached(g, from, counts.total == 0);
  if (found != Reading::readable) return Outcome::unread(found);
  bool simple = from.device == on_cpu && from.dtype == dtype && from.ndim == ndim;
  for (int d = 0; simple && d < ndim; ++d) simple = from.shape[d] == shape_out[d];
  if (!simple) return Outcome::declined();
  const int64_t bytes = outer * counts.total * inner * dtype->itemsize;
  const int64_t bytes_in = outer * counts.n() * inner * dtype->itemsize;
  Fresh x = result_of(g, from, shape_in, ndim_in, bytes_in, nullptr, true);
  if (!x.is_made()) return std::move(x.array);
  if (!bytes) {  // all counts are 0
    std::memset(x.data, 0, size_t(bytes_in));
    return std::move(x.array);
  }
  const int threads = threads_for(bytes);
  auto sums = [&] {
    Room room;
    const char* const values = contiguous(from, room, threads);
    counts.sum(values, x.data, Dtype(dtype->number), outer, inner, threads, x.stream);
  };
  return threads && work(bytes, sums) ? std::move(x.array) : Outcome::failed();
}

namespace {

// Sets what of a repeat follows from x and `dim`. Returns false if there is no such dim. at_dim: None to flatten x.
bool set_axis(PyObject* at_dim, const ArrayView& from, Repeated& how) {
  int64_t dim = 0;
  if (at_dim != Py_None && (!exact_int(at_dim, dim) || dim < -from.ndim || dim >= from.ndim)) return false;
  split(how, from, int(dim < 0 ? dim + from.ndim : dim));
  if (at_dim == Py_None) how.ndim = 1, how.outer = how.inner = 1;
  return true;
}

// Whether an array has a count for each of n positions.
bool are_counts(const ArrayView& x, int64_t n) { return is_count(x.dtype->number) && x.ndim == 1 && x.shape[0] == n; }

// Whether the core repeats n positions of x by counts. wants_grad: whether the gradient is recorded. into: whether the
// result is written to an array that is there.
bool is_repeated(const Repeated& how, const ArrayView& from, int64_t n, bool flattens, bool wants_grad, bool into) {
  if (n == 0 || how.inner == 0 || how.outer == 0) return false;
  if (wants_grad) return !into && is_float_number(from.dtype->number) && !(flattens && from.ndim != 1);
  return true;
}

// Whether `Runs` may repeat n positions of x. It takes less memory than a table of offsets.
bool are_many_scalars(const Repeated& how, const ArrayView& from, int64_t n) {
  const int itemsize = from.dtype->itemsize;
  return how.outer == 1 && how.inner == 1 && n > tuning.many_scalars && from.contiguous() &&
         (itemsize == 1 || itemsize == 2 || itemsize == 4 || itemsize == 8);
}

// Reads counts exactly once, into offsets in private memory, before the result is made: another thread may write to
// the counts. Returns false with an error.
bool read_counts(const ArrayView& counted, Counts& to) {
  const int64_t n = counted.shape[0];
  const int threads = threads_for(n * 8);
  const auto at = reinterpret_cast<uintptr_t>(counted.data);
  const int number = counted.dtype->number;
  return threads && work(n * 8, [&] { to = Counts(at, number, counted.stride[0], n, threads); });
}

// Whether a result of so many rows fits in memory.
bool fits(const Repeated& how, int64_t rows) {
  int64_t bytes;
  return !__builtin_mul_overflow(rows, how.outer * how.inner * how.dtype->itemsize, &bytes) &&
         bytes <= machine_memory();
}
bool agrees(PyObject* output_size, int64_t total) {
  int64_t given;
  return output_size == Py_None || (exact_int(output_size, given) && given == total);
}

// Counts of many scalars as `Runs` reads them: where they are, or widened a chunk at a time.
struct WideCounts {
  const ArrayView& counts;
  const bool narrow = counts.dtype->itemsize < 4;
  const int64_t n = counts.shape[0], each = narrow ? 128 * tuning.runs_chunk : n;  // counts per chunk
  Room room;
  int32_t* wide = nullptr;

  explicit WideCounts(const ArrayView& counts) : counts(counts) {}
  // Whether the counts can be read so. What is as wide as Runs needs it must be contiguous.
  bool fit() const { return narrow || counts.stride[0] == counts.dtype->itemsize; }
  int64_t size(int64_t first) const { return std::min(each, n - first); }
  // The counts of the chunk that begins at `first`. They stay there until the next call.
  const void* at(int64_t first) {
    if (!narrow) return counts.data;
    if (!wide) wide = reinterpret_cast<int32_t*>(room.get(std::min(n, each) * int64_t(sizeof(int32_t))));
    switch (Dtype(counts.dtype->number)) {
      case Dtype::i8: widen<int8_t>(first); break;
      case Dtype::u8: widen<uint8_t>(first); break;
      case Dtype::i16: widen<int16_t>(first); break;
      default: widen<uint16_t>(first);
    }
    return wide;
  }

 private:
  template <class Count>
  void widen(int64_t first) {
    const char* const from = counts.data + first * counts.stride[0];
    for (int64_t i = 0, n_here = size(first); i < n_here; ++i)
      wide[i] = load_unaligned<Count>(from + i * counts.stride[0]);
  }
};

// Repeats many scalars whose counts are not read yet. Declined if they need a table of offsets, or are wrong. The
// counts are read again while the result is written, so they must not be in the target.
Outcome repeat_scalars(PyObject* x, const ArrayView& from, const ArrayView& counted, PyObject* output_size,
                       const Target* target, Repeated& how) {
  WideCounts wide(counted);
  if (!are_many_scalars(how, from, wide.n) || !wide.fit() || (target && !target->is_apart(counted)))
    return Outcome::declined();
  const int itemsize = from.dtype->itemsize, threads = threads_for(wide.n * 8);
  if (!threads) return Outcome::failed();
  std::vector<Runs> chunks;
  int64_t total = 0;
  const auto sum = [&] {
    for (int64_t first = 0; first < wide.n && total >= 0; first += wide.each) {
      chunks.emplace_back(wide.at(first), counted.dtype->itemsize < 8, wide.size(first), threads);
      const int64_t its = chunks.back().total();
      total = its < 0 ? -1 : total + its;
    }
  };
  if (!work(wide.n * 8, sum)) return Outcome::failed();
  if (total <= 0 || !agrees(output_size, total) || !fits(how, total)) return Outcome::declined();
  how.shape_out[how.dim] = total;
  return make_result(x, from, how.shape_out, how.ndim, target, [&](char* to, int copiers, bool stream) {
    int64_t first = 0;
    for (Runs& runs : chunks) {
      runs.counts = wide.at(first);
      runs.copy(from.data + first * itemsize, to, itemsize, copiers, stream);
      first += runs.n, to += runs.total() * itemsize;
    }
  });
}

}  // namespace

Outcome repeat_counts(PyObject* x, const CallArguments& names, PyObject* const* args, Py_ssize_t n_args,
                      PyObject* out) {
  PyObject *const x_counts = names.find(Argument::repeats, args, n_args),
                  *const at_dim = names.find(Argument::dim, args, n_args),
                  *const output_size = names.find(Argument::output_size, args, n_args);
  ArrayView from, counted;
  Target into;
  Reading found = read_both(x, from, x_counts, counted);
  if (out && found == Reading::readable) found = into.read(out, from);
  if (found != Reading::readable) return Outcome::unread(found);
  const Target* const target = out ? &into : nullptr;
  auto made = std::unique_ptr<Repeated>(new (std::nothrow) Repeated);
  if (!made) return PyErr_NoMemory(), Outcome::failed();
  Repeated& how = *made;
  if (!set_axis(at_dim, from, how)) return Outcome::declined();
  const bool flattens = at_dim == Py_None;
  const int64_t n = flattens ? from.n_values() : from.shape[how.dim];
  const int wants = from.tensor ? wants_grad(x) : 0;
  if (wants < 0) return Outcome::failed();
  const bool agree = are_counts(counted, n) && is_repeated(how, from, n, flattens, wants, out);
  if (!agree) return Outcome::declined();
  Outcome y = wants ? Outcome::declined() : repeat_scalars(x, from, counted, output_size, target, how);
  const bool too_many = n > machine_memory() / 8;  // offsets, of counts in a broadcast array
  if (!y.is_declined() || too_many) return y;
  if (!read_counts(counted, how.counts)) return Outcome::failed();
  const int64_t total = how.counts.total;
  if (total < 0 || !agrees(output_size, total) || !fits(how, total)) return Outcome::declined();
  how.shape_out[how.dim] = total;
  return wants ? record(x, from, std::move(made)) : how.copy(x, from, target);
}

namespace {

// Copies prefix sums of counts. Returns false unless they are what they should be, from 0 to `total`. The author of a
// graph can pass any offsets, so they are copied and then verified.
bool read_offsets(const ArrayView& offsets, int64_t total, Counts& to) {
  to.total = total;
  to.offset.resize(size_t(offsets.shape[0]));
  std::memcpy(to.offset.data(), offsets.data, to.offset.size() * sizeof(int64_t));
  return to.offset.front() == 0 && to.offset.back() == total && std::is_sorted(to.offset.begin(), to.offset.end());
}

// Reads the arguments of by_offsets. total: null for segment sums. Declines a wrong argument.
bool read_operands(const ArrayView& from, const ArrayView& offsets, PyObject* at_dim, PyObject* total, Repeated& how) {
  const bool prefix_sums = offsets.dtype->number == int(Dtype::i64) && offsets.ndim == 1 && offsets.contiguous();
  int64_t dim;
  if (!prefix_sums || !from.contiguous() || !exact_int(at_dim, dim) || dim < 0 || dim >= from.ndim) return false;
  split(how, from, int(dim));
  const int64_t n = offsets.shape[0] - 1;
  int64_t n_out = from.shape[dim];
  if (total && (n != n_out || !exact_int(total, n_out))) return false;
  if (n <= 0 || n_out <= 0 || how.inner == 0 || how.outer == 0) return false;
  how.shape_in[dim] = n, how.shape_out[dim] = n_out;
  return fits(how, std::max(n, n_out)) && read_offsets(offsets, n_out, how.counts);
}

}  // namespace

// (x, offsets, dim, total) -> x repeated, by the prefix sums of counts. (gradient, offsets, dim) -> its segment sums.
// None where Python must look, also if an argument is wrong.
Outcome by_offsets(PyObject* const* args, Py_ssize_t n_args) {
  const bool sums = n_args == 3;
  PyObject *const x = args[0], *const x_counts = args[1];
  if (!is_tensor(x)) return Outcome::declined();
  ArrayView from, offsets;
  if (const Reading found = read_both(x, from, x_counts, offsets); found != Reading::readable)
    return Outcome::unread(found);
  Repeated how;
  if (!read_operands(from, offsets, args[2], sums ? nullptr : args[3], how)) return Outcome::declined();
  if (!sums) return how.copy(x, from, nullptr);
  if (!is_float_number(from.dtype->number)) return Outcome::declined();
  if (const Reading found = tracing_of(x); found != Reading::readable) return Outcome::unread(found);
  return how.adjoint(x);
}

}  // namespace tenter
