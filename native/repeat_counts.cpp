// repeat_interleave by counts that change on every call: read where they lie, checked, and copied by, in one call from
// Python.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "arrays.hpp"
#include "counts.hpp"
#include "lookup.hpp"
#include "memory.hpp"
#include "passes.hpp"
#include "repeat_counts.hpp"
#include "results.hpp"
#include "verify.hpp"

namespace tenter {
namespace {

// Of Python's code: a call that records a gradient, (x, Repeated) -> array, and the backward of its Function, (ctx,
// gradient) -> (gradient of x, None), for all that the core does not take.
PyObject *repeat_differentiable = nullptr, *repeat_backward = nullptr;

// The name of what a Function's ctx keeps.
PyObject* name_how = nullptr;

// An array and its counts or offsets, both on the host.
Reading read_both(PyObject* x, ArrayView& from, PyObject* given, ArrayView& counted) {
  Reading found = read_array(x, from);
  if (found == Reading::readable) found = read_array(given, counted);
  if (found == Reading::readable && (from.device != on_cpu || counted.device != on_cpu)) return Reading::unreadable;
  return found;
}

// What a Function's ctx keeps, as a capsule. Null with an error.
constexpr const char* capsule = "tenter.Repeated";
const Repeated* read(PyObject* how) { return static_cast<const Repeated*>(PyCapsule_GetPointer(how, capsule)); }

PyObject* none() {
  Py_INCREF(Py_None);
  return Py_None;
}

// Takes the dims apart at `dim`.
void split(Repeated& how, const ArrayView& from, int dim) {
  how.ndim = how.ndim_in = from.ndim, how.dim = dim, how.dtype = from.dtype;
  how.outer = how.inner = 1;
  for (int d = 0; d < from.ndim; ++d) {
    how.shape_in[d] = how.shape_out[d] = from.shape[d];
    if (d != dim) (d < dim ? how.outer : how.inner) *= from.shape[d];
  }
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
    default: return false;  // of uint64 NumPy's dialect knows nothing
  }
}

PyObject* Repeated::copy(PyObject* x, const ArrayView& from, bool recorded) const {
  const int64_t inner_bytes = inner * from.dtype->itemsize, bytes = outer * counts.total * inner_bytes;
  char* to;
  bool stream;
  PyObject* const y = result_of(x, from, shape_out, ndim, bytes, to, stream, nullptr, recorded);
  if (!y || !bytes) return y;
  const int threads = threads_for(bytes);
  const auto copy = [&] {
    if (from.contiguous()) return counts.copy(from.data, to, outer, inner_bytes, threads, stream);
    if (ndim == from.ndim) return copy_strided(from, to, threads, stream);
    Dim dims[max_read_dims];  // flattened
    for (int d = 0; d < from.ndim; ++d) dims[d] = {from.shape[d], from.stride[d]};
    Room room;
    char* const packed = room.get(from.n_values() * from.dtype->itemsize);
    pack(dims, from.ndim, from.dtype->itemsize, from.data, packed, threads);
    counts.copy(packed, to, outer, inner_bytes, threads, stream);
  };
  if (threads && work(bytes, copy)) return y;
  Py_DECREF(y);
  return nullptr;
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

// (offsets, dim, total, x's shape): the operands of the adjoint operator.
PyObject* Repeated::operands() const {
  char* to;
  Owned offsets(empty_int64(false, int64_t(counts.offset.size()), to)), shape(PyTuple_New(ndim_in));
  if (!offsets || !shape) return nullptr;
  std::memcpy(to, counts.offset.data(), counts.offset.size() * sizeof(int64_t));
  for (int d = 0; d < ndim_in; ++d) {
    PyObject* const n = PyLong_FromLongLong(shape_in[d]);
    if (!n) return nullptr;
    PyTuple_SetItem(shape.get(), d, n);
  }
  return Py_BuildValue("(NiLN)", offsets.release(), dim, static_cast<long long>(counts.total), shape.release());
}

// (Repeated) -> the operands of the adjoint operator.
PyObject* repeated_operands(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected counts");
  const Repeated* const how = read(args[0]);
  return how ? how->operands() : nullptr;
}

// The forward of a Function, (ctx, x, Repeated) -> the result.
PyObject* repeated(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return PyErr_Format(PyExc_TypeError, "expected a ctx, an array and counts");
  const Repeated* const counted = read(args[2]);
  if (!counted) return nullptr;
  const Repeated& how = *counted;
  ArrayView from;
  const Reading found = read_array(args[1], from);
  if (found == Reading::failed) return nullptr;
  if (found != Reading::readable || from.device != on_cpu || from.dtype != how.dtype || from.ndim != how.ndim_in ||
      !std::equal(from.shape, from.shape + from.ndim, how.shape_in))
    return PyErr_Format(PyExc_RuntimeError, "x: expected the array whose counts these are");
  if (PyObject_SetAttr(args[0], name_how, args[2]) < 0) return nullptr;
  PyObject* const y = how.copy(args[1], from, true);
  if (!y && !PyErr_Occurred()) PyErr_SetString(PyExc_MemoryError, "result: no memory");
  return y;
}

// The backward of the same, a method of ctx: (gradient) -> (gradient of x, None).
PyObject* repeated_backward(PyObject* ctx, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected a gradient");
  const Owned how(PyObject_GetAttr(ctx, name_how));
  if (!how) return nullptr;
  const Repeated* const counted = read(how.get());
  const Owned x(counted ? counted->sum(args[0]) : nullptr);
  if (!x) return nullptr;
  if (x.get() != Py_None) return PyTuple_Pack(2, x.get(), Py_None);
  PyObject* const both[2] = {ctx, args[0]};
  return PyObject_Vectorcall(repeat_backward, both, 2, nullptr);
}

PyObject* Repeated::sum(PyObject* g) const {
  ArrayView from;
  if (!is_tensor(g)) Py_RETURN_NONE;
  const int follows = followed();
  if (follows) return follows < 0 ? nullptr : none();
  const Reading found = read_array(g, from, counts.total == 0);
  if (found == Reading::failed) return nullptr;
  bool simple = found == Reading::readable && from.device == on_cpu && from.dtype == dtype && from.ndim == ndim;
  for (int d = 0; simple && d < ndim; ++d) simple = from.shape[d] == shape_out[d];
  if (!simple || !(counts.total == 0 || from.contiguous())) Py_RETURN_NONE;
  const int wants = wants_grad(g);
  if (wants < 0) return nullptr;
  if (wants) Py_RETURN_NONE;
  char* to;
  bool stream;
  const int64_t bytes = outer * counts.total * inner * dtype->itemsize;
  const int64_t bytes_in = outer * counts.n() * inner * dtype->itemsize;
  PyObject* const x = result_of(g, from, shape_in, ndim_in, bytes_in, to, stream, nullptr, true);
  if (!x) return PyErr_Occurred() ? nullptr : none();
  if (!bytes) {  // counts of 0 alone
    std::memset(to, 0, size_t(bytes_in));
    return x;
  }
  const int threads = threads_for(bytes);
  auto sums = [&] { counts.sum(from.data, to, Dtype(dtype->number), outer, inner, threads, stream); };
  if (threads && work(bytes, sums)) return x;
  Py_DECREF(x);
  return nullptr;
}

// (what `results` need...)
PyObject* set_up_counts(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return PyErr_Format(PyExc_TypeError, "expected 3 arguments");
  if (!set_up_results(args[0], args[1], args[2])) return nullptr;
  Py_RETURN_NONE;
}

// (differentiable, backward)
PyObject* set_up_gradients(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "expected 2 arguments");
  if (!(name_how = PyUnicode_InternFromString("how"))) return nullptr;
  Py_INCREF(args[0]), repeat_differentiable = args[0];
  Py_INCREF(args[1]), repeat_backward = args[1];
  Py_RETURN_NONE;
}

// Counts are read once, to offsets of memory that is nobody else's, before the result is made.
PyObject* repeat_counts(PyObject* x, PyObject* given, PyObject* at_dim, PyObject* size) {
  ArrayView from, counted;
  const bool tensors = is_tensor(x);
  if (tensors ? !is_tensor(given) : !(is_numpy(x) && is_numpy(given))) Py_RETURN_NONE;
  if (const Reading found = read_both(x, from, given, counted); found != Reading::readable)
    return found == Reading::failed ? nullptr : none();
  if (!is_count(counted.dtype->number) || counted.ndim != 1) Py_RETURN_NONE;
  auto made = std::unique_ptr<Repeated>(new (std::nothrow) Repeated);
  if (!made) return PyErr_NoMemory();
  Repeated& how = *made;
  int64_t n = 1, dim = 0;
  if (at_dim != Py_None && (!exact_int(at_dim, dim) || dim < -from.ndim || dim >= from.ndim)) Py_RETURN_NONE;
  dim += dim < 0 ? from.ndim : 0;
  split(how, from, int(dim));
  if (at_dim != Py_None) n = from.shape[dim];
  else n = from.n_values(), how.ndim = 1, how.outer = how.inner = 1;
  const bool scalars = how.outer == 1 && how.inner == 1;
  if (counted.shape[0] != n || n == 0 || how.inner == 0 || how.outer == 0) Py_RETURN_NONE;
  const int wants = tensors ? wants_grad(x) : 0;
  if (wants < 0) return nullptr;
  if (wants && at_dim == Py_None && from.ndim != 1) Py_RETURN_NONE;
  const bool by_runs = from.dtype->itemsize <= 8 && from.contiguous() && !wants;  // which take less memory
  if (scalars && n > tuning.many_scalars && by_runs) Py_RETURN_NONE;
  if (wants && !is_float_number(from.dtype->number)) Py_RETURN_NONE;
  const int threads = threads_for(n * 8);
  if (!threads) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(counted.data);
  const int number = counted.dtype->number;
  if (!work(n * 8, [&] { how.counts = Counts(at, number, counted.stride[0], n, threads); })) return nullptr;
  const int64_t total = how.counts.total;
  int64_t bytes;
  if (total < 0 || __builtin_mul_overflow(total, how.outer * how.inner * from.dtype->itemsize, &bytes)) Py_RETURN_NONE;
  int64_t output_size;
  if (size != Py_None && (!exact_int(size, output_size) || output_size != total)) Py_RETURN_NONE;
  if (bytes > machine_memory()) Py_RETURN_NONE;
  how.shape_out[dim] = total;
  if (!wants) {
    PyObject* const y = how.copy(x, from);
    if (!y && !PyErr_Occurred()) Py_RETURN_NONE;
    return y;
  }
  const Owned held(PyCapsule_New(made.get(), capsule, [](PyObject* c) { delete read(c); }));
  if (!held) return nullptr;
  made.release();
  PyObject* const both[2] = {x, held.get()};
  return PyObject_Vectorcall(repeat_differentiable, both, 2, nullptr);
}

// (x, offsets, dim, total) -> the result by prefix sums that a graph's author may pass any of: they are copied, then
// verified. (gradient, offsets, dim) -> its segment sums. None where Python's code must look closer, and for all wrong.
PyObject* by_offsets(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
  if (n_args != 3 && n_args != 4) return PyErr_Format(PyExc_TypeError, "expected 3 or 4 arguments");
  const bool sums = n_args == 3;
  PyObject *const x = args[0], *const given = args[1];
  if (!is_tensor(x) || !is_tensor(given)) Py_RETURN_NONE;
  ArrayView from, offsets;
  if (const Reading found = read_both(x, from, given, offsets); found != Reading::readable)
    return found == Reading::failed ? nullptr : none();
  int64_t dim, total;
  const bool prefix_sums = offsets.dtype->number == int(Dtype::i64) && offsets.ndim == 1 && offsets.contiguous();
  if (!prefix_sums || !from.contiguous() || !exact_int(args[2], dim) || dim < 0 || dim >= from.ndim) Py_RETURN_NONE;
  total = from.shape[dim];
  if (!sums && !exact_int(args[3], total)) Py_RETURN_NONE;
  const int64_t n = offsets.shape[0] - 1;
  Repeated how;
  split(how, from, int(dim));
  if (n <= 0 || total <= 0 || how.inner == 0 || how.outer == 0 || (!sums && from.shape[dim] != n)) Py_RETURN_NONE;
  how.shape_in[dim] = n, how.shape_out[dim] = total;
  how.counts.total = total;
  how.counts.offset.resize(size_t(n) + 1);
  std::memcpy(how.counts.offset.data(), offsets.data, (size_t(n) + 1) * sizeof(int64_t));
  const auto& o = how.counts.offset;
  if (o.front() != 0 || o.back() != total || !std::is_sorted(o.begin(), o.end())) Py_RETURN_NONE;
  const int64_t row = how.outer * how.inner * from.dtype->itemsize;
  int64_t bytes;
  if (__builtin_mul_overflow(std::max(n, total), row, &bytes) || bytes > machine_memory()) Py_RETURN_NONE;
  if (!sums) return how.copy(x, from);
  if (!is_float_number(from.dtype->number)) Py_RETURN_NONE;
  return how.sum(x);
}

}  // namespace tenter
