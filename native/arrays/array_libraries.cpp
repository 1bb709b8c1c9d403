#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "arrays/array_libraries.hpp"
#include "kernels/kernels.hpp"
#include "system/integers.hpp"

namespace tenter {
namespace {

Outcome without_memory() {
  // PyTorch raises a RuntimeError if it has no memory. Python's code then raises one with a better message.
  if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return Outcome::failed();
  PyErr_Clear();
  return Outcome::declined();
}

// Reads a tensor that was just made without naming a device. Declined if the default device is not the CPU.
Outcome read_fresh(Owned&& y, DLTensor& t) {
  if (torch.read(y.get(), &t) != 0) return Outcome::failed();
  return t.device.type == on_cpu ? Outcome::done(std::move(y)) : Outcome::declined();
}

}  // namespace

PyObject* permuted_view(PyObject* in_order, int ndim, const int* order) {
  int back[max_read_dims];
  for (int k = 0; k < ndim; ++k) back[order[k]] = k;
  const Owned dims(int_tuple(back, ndim));
  PyObject* const args[2] = {in_order, dims.get()};
  return dims ? PyObject_VectorcallMethod(numpy.transpose, args, 2, nullptr) : nullptr;
}

namespace {

// A tensor that `function` makes of n arguments. args has room for one more. may_leave_out: whether the dtype may be
// left out if it is PyTorch's default: a keyword takes a sixth of the time of the call.
Outcome empty_tensor(PyObject* function, PyObject** args, int n, const ArrayDtype& dtype, bool may_leave_out,
                     char*& data) {
  const bool usual = &dtype == torch.usual.load(std::memory_order_relaxed) && may_leave_out;
  args[n] = dtype.object;
  Owned y(PyObject_Vectorcall(function, args, size_t(n), usual ? nullptr : torch.dtype_keyword));
  if (!y) return without_memory();
  DLTensor t{};
  Outcome made = read_fresh(std::move(y), t);
  if (made.is_done() && usual) {
    const ArrayDtype* const found = torch.dtype_of(t);
    torch.usual.store(found, std::memory_order_relaxed);
    if (found != &dtype) return empty_tensor(function, args, n, dtype, false, data);  // PyTorch has another default now
  }
  data = static_cast<char*>(t.data);
  return made;
}

}  // namespace

Outcome empty(const ArrayView& like, const int64_t* shape, int ndim, char*& data) {
  if (!like.tensor) {
    Py_ssize_t lengths[max_read_dims];
    std::copy_n(shape, ndim, lengths);
    Owned y(numpy.new_array(numpy.type, Py_NewRef(like.dtype->object), ndim, lengths, nullptr, nullptr, 0, nullptr));
    if (!y) return Outcome::failed();
    data = reinterpret_cast<NumpyArray*>(y.get())->data;
    return Outcome::done(std::move(y));
  }
  // Sizes are separate arguments: PyTorch takes longer to read a tuple than to allocate. No dims are an empty tuple.
  PyObject* args[max_read_dims + 1] = {};
  const int n = std::max(1, ndim);
  bool made = true;
  if (!ndim) made = args[0] = PyTuple_New(0);
  for (int d = 0; d < ndim; ++d) made = (args[d] = PyLong_FromLongLong(shape[d])) && made;
  Outcome y = made ? empty_tensor(torch.empty, args, n, *like.dtype, ndim > 0, data) : Outcome::failed();
  for (int d = 0; d < n; ++d) Py_XDECREF(args[d]);
  return y;
}

Outcome empty_permuted(const ArrayView& like, const int64_t* shape, int ndim, const int* order, char*& data) {
  // PyTorch's `empty_permuted` takes longer than `empty_strided`.
  int64_t stride[max_read_dims];
  uint64_t step = 1;  // wraps where a result without elements has other dims that are huge
  for (int k = ndim; k--; step *= uint64_t(std::max<int64_t>(1, shape[order[k]]))) stride[order[k]] = int64_t(step);
  const Owned sizes(shape_tuple(shape, ndim)), strides(shape_tuple(stride, ndim));
  if (!sizes || !strides) return Outcome::failed();
  PyObject* args[3] = {sizes.get(), strides.get()};
  return empty_tensor(torch.empty_strided, args, 2, *like.dtype, true, data);
}

PyObject* array_over(PyObject* buffer, const ArrayView& like, const int64_t* shape, int ndim) {
  const Owned sizes(shape_tuple(shape, ndim));
  if (!sizes) return nullptr;
  PyObject* const args[3] = {sizes.get(), like.dtype->object, buffer};
  return PyObject_Vectorcall(numpy.type, args, 3, nullptr);
}

namespace {

// The context of a tensor that the core makes. The tensor's memory is the block, or the bytes after this struct. The
// struct and the memory are freed with the tensor's storage.
struct TensorContext {
  ManagedTensor managed;
  std::unique_ptr<Block> block;
  int64_t shape[max_read_dims], stride[max_read_dims];

  static void free(TensorContext* context) {
    context->~TensorContext();
    std::free(context);
  }
};
using OwnedContext = std::unique_ptr<TensorContext, void (*)(TensorContext*)>;

OwnedContext context_with(int64_t bytes) {
  void* const memory = std::malloc(sizeof(TensorContext) + size_t(bytes));
  return OwnedContext(memory ? new (memory) TensorContext : nullptr, TensorContext::free);
}

PyObject* tensor_of(OwnedContext context, char* data, const ArrayView& like, const int64_t* shape, int ndim,
                    const int* order) {
  int64_t step = 1;
  for (int k = ndim - 1; k >= 0; --k) {
    const int d = order ? order[k] : k;
    context->shape[d] = shape[d], context->stride[d] = step, step *= shape[d];
  }
  auto release = [](ManagedTensor* t) { TensorContext::free(static_cast<TensorContext*>(t->context)); };
  const DLTensor tensor{data,           {on_cpu, 0},     ndim, uint8_t(like.dtype->code), uint8_t(like.dtype->bits), 1,
                        context->shape, context->stride, 0};
  context->managed = {1, 0, context.get(), release, 0, tensor};
  void* y = nullptr;
  if (torch.make(&context->managed, &y) != 0) return nullptr;
  context.release();
  return static_cast<PyObject*>(y);
}

}  // namespace

PyObject* tensor_in(std::unique_ptr<Block> block, const ArrayView& like, const int64_t* shape, int ndim,
                    const int* order) {
  OwnedContext context = context_with(0);
  if (!context) return PyErr_NoMemory();
  char* const data = block->p;
  context->block = std::move(block);
  return tensor_of(std::move(context), data, like, shape, ndim, order);
}

PyObject* recorded_empty(const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, const int* order,
                         char*& data) {
  constexpr int64_t alignment = 64;  // PyTorch's
  OwnedContext context = context_with(bytes + alignment);
  if (!context) return PyErr_NoMemory();
  data = reinterpret_cast<char*>(round_up(reinterpret_cast<intptr_t>(context.get() + 1), alignment));
  return tensor_of(std::move(context), data, like, shape, ndim, order);
}

Outcome empty_int64(bool tensor, int64_t n, char*& data) {
  ArrayView like{};
  like.tensor = tensor;
  for (const ArrayDtype& d : tensor ? torch.dtypes : numpy.dtypes)
    if (d.number == int(Dtype::i64)) like.dtype = &d;
  if (!like.dtype)
    return PyErr_SetString(PyExc_RuntimeError, "int64: expected a dtype that is read"), Outcome::failed();
  return empty(like, &n, 1, data);
}

const ArrayDtype* bool_like(const ArrayView& x) {
  for (const ArrayDtype& d : x.tensor ? torch.dtypes : numpy.dtypes)
    if (d.code == bool_code) return &d;
  return nullptr;
}

}  // namespace tenter
