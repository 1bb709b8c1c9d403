#include "arrays.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "dlpack.hpp"
#include "kernels.hpp"

namespace tenter {
namespace {

// ---- NumPy: the head of its array, which is the same for all versions that share an ABI; read_numpy verifies it.
struct NumpyArray {
  PyObject_HEAD char* data;
  int nd;
  Py_ssize_t* dimensions;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* descr;
};

struct {
  PyObject *type = nullptr, *empty = nullptr;
  std::vector<KnownDtype> dtypes;
} numpy;

// ---- PyTorch, by DLPack's exchange API.
struct {
  int (*read)(void*, DLTensor*) = nullptr;
  int (*make)(ManagedTensor*, void**) = nullptr;
  PyObject *type = nullptr, *parameter = nullptr, *empty = nullptr, *dtype_keyword = nullptr;
  PyObject *followers = nullptr, *forward_ad = nullptr, *autocast = nullptr, *grad_enabled = nullptr;
  PyObject *is_neg, *is_conj, *untyped_storage, *nbytes, *storage_offset, *requires_grad, *current_level, *expand,
      *numel;
  std::vector<KnownDtype> dtypes;
  const KnownDtype* usual = nullptr;  // what `empty` last gave without a dtype
} torch;

// Of a view, whose bytes int64 must count.
constexpr int64_t max_elements = int64_t{1} << 58;
constexpr int complex_code = 5, bool_code = 6;  // DLPack's

PyObject* method(PyObject* x, PyObject* name) { return PyObject_VectorcallMethod(name, &x, 1, nullptr); }

// A call's truth: 1, 0 or -1.
int truth(PyObject* result) {
  if (!result) return -1;
  const int found = PyObject_IsTrue(result);
  Py_DECREF(result);
  return found;
}

bool integer(PyObject* result, int64_t& value) {
  if (!result) return false;
  value = PyLong_AsLongLong(result);
  Py_DECREF(result);
  return !(value == -1 && PyErr_Occurred());
}

Reading read_ndarray(PyObject* x, ArrayView& view) {
  const auto& a = *reinterpret_cast<const NumpyArray*>(x);
  if (a.nd > max_read_dims) return Reading::unreadable;
  const KnownDtype* dtype = nullptr;
  for (const KnownDtype& d : numpy.dtypes)
    if (d.object == a.descr) dtype = &d;
  if (!dtype) return Reading::unreadable;
  view.data = a.data, view.ndim = a.nd, view.tensor = false, view.device = on_cpu, view.device_number = 0;
  view.dtype = dtype;
  for (int d = 0; d < a.nd; ++d) view.shape[d] = a.dimensions[d], view.stride[d] = a.strides[d];
  return Reading::readable;
}

const KnownDtype* dtype_of(const DLTensor& t) {
  for (const KnownDtype& d : torch.dtypes)
    if (d.code == t.code && d.bits == t.bits && t.lanes == 1) return &d;
  return nullptr;
}

// The dispatch keys that PyTorch's code looks at show here as: a read that fails (sparse, batched, quantized, nested
// tensors), no address (functional, meta, zero tensors, and empty ones), and two bits that are asked for.
Reading read_tensor(PyObject* x, ArrayView& view, bool may_be_empty = false) {
  DLTensor t;
  if (torch.read(x, &t) != 0) {
    PyErr_Clear();
    return Reading::recorded;
  }
  if (t.ndim > max_read_dims) return Reading::unreadable;
  const KnownDtype* const dtype = dtype_of(t);
  bool empty = false;
  for (int d = 0; d < t.ndim; ++d) empty = empty || t.shape[d] == 0;
  if (!dtype || !(t.data || (may_be_empty && empty))) return Reading::unreadable;
  const int negative = truth(method(x, torch.is_neg));
  if (negative) return negative < 0 ? Reading::failed : Reading::recorded;
  if (t.code == complex_code) {
    const int conjugate = truth(method(x, torch.is_conj));
    if (conjugate) return conjugate < 0 ? Reading::failed : Reading::recorded;
  }
  if (t.device.type != on_cpu) {
    const int autocast = truth(PyObject_Vectorcall(torch.autocast, nullptr, 0, nullptr));
    if (autocast) return autocast < 0 ? Reading::failed : Reading::recorded;
  }
  view.data = static_cast<char*>(t.data) + t.byte_offset, view.ndim = t.ndim, view.tensor = true;
  view.device = t.device.type, view.device_number = t.device.id, view.dtype = dtype;
  for (int d = 0; d < t.ndim; ++d) view.shape[d] = t.shape[d], view.stride[d] = t.strides[d] * dtype->itemsize;
  return Reading::readable;
}

// Of tuples (object, code, bits, number, itemsize). The objects are kept for good.
bool read_dtypes(PyObject* list, std::vector<KnownDtype>& dtypes) {
  for (Py_ssize_t k = 0, n = PyTuple_Size(list); k < n; ++k) {
    KnownDtype d{};
    if (!PyArg_ParseTuple(PyTuple_GetItem(list, k), "Oiiii", &d.object, &d.code, &d.bits, &d.number, &d.itemsize))
      return false;
    Py_INCREF(d.object);
    dtypes.push_back(d);
  }
  return !PyErr_Occurred();
}

PyObject* kept(PyObject* x) {
  Py_INCREF(x);
  return x;
}

bool same(PyObject* numbers, const int64_t* values, int n, int64_t unit) {
  if (PyTuple_Size(numbers) != n) return false;
  for (int d = 0; d < n; ++d)
    if (PyLong_AsLongLong(PyTuple_GetItem(numbers, d)) * unit != values[d]) return false;
  return !PyErr_Occurred();
}

// Whether a view of an array is what the array says of itself. probe: (array, address, shape, strides, dtype).
bool agrees(PyObject* probe, int64_t unit) {
  ArrayView view;
  PyObject* const x = PyTuple_GetItem(probe, 0);
  const Reading found = unit == 1 ? read_ndarray(x, view) : read_tensor(x, view);
  return found == Reading::readable && view.data == PyLong_AsVoidPtr(PyTuple_GetItem(probe, 1)) &&
         same(PyTuple_GetItem(probe, 2), view.shape, view.ndim, 1) &&
         same(PyTuple_GetItem(probe, 3), view.stride, view.ndim, unit == 1 ? 1 : view.dtype->itemsize) &&
         view.dtype->object == PyTuple_GetItem(probe, 4);
}

}  // namespace

bool is_numpy(PyObject* x) { return reinterpret_cast<PyObject*>(Py_TYPE(x)) == numpy.type; }

bool is_tensor(PyObject* x) {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(x));
  return torch.type && (type == torch.type || type == torch.parameter);
}

Reading read_array(PyObject* x, ArrayView& view, bool may_be_empty) {
  if (is_numpy(x)) return read_ndarray(x, view);
  return is_tensor(x) ? read_tensor(x, view, may_be_empty) : Reading::unreadable;
}

int followed() {
  for (Py_ssize_t k = 0, n = PyTuple_Size(torch.followers); k < n; ++k) {
    const int found = truth(PyObject_Vectorcall(PyTuple_GetItem(torch.followers, k), nullptr, 0, nullptr));
    if (found) return found;
  }
  int64_t level;
  if (!integer(PyObject_GetAttr(torch.forward_ad, torch.current_level), level)) return -1;
  return level >= 0;
}

int holds(PyObject* x, const KnownDtype& dtype, int64_t n_bytes) {
  if (n_bytes == 0) return 1;
  const Owned storage(method(x, torch.untyped_storage));
  int64_t held, offset;
  if (!storage || !integer(method(storage.get(), torch.nbytes), held) ||
      !integer(method(x, torch.storage_offset), offset))
    return -1;
  return held >= offset * dtype.itemsize + n_bytes;
}

int wants_grad(PyObject* x) {
  const int wants = truth(PyObject_GetAttr(x, torch.requires_grad));
  return wants <= 0 ? wants : truth(PyObject_Vectorcall(torch.grad_enabled, nullptr, 0, nullptr));
}

PyObject* empty(const ArrayView& like, PyObject* const* sizes, int n_sizes, char*& data) {
  PyObject* y;
  // Without a dtype that PyTorch takes anyway: a keyword takes a sixth of the call.
  const bool usual = like.tensor && like.dtype == torch.usual && n_sizes;
  if (like.tensor) {  // sizes one by one: PyTorch takes longer to read a tuple than to allocate
    PyObject* args[max_read_dims + 1];
    for (int d = 0; d < n_sizes; ++d) args[d] = sizes[d];
    args[n_sizes] = like.dtype->object;
    y = PyObject_Vectorcall(torch.empty, args, size_t(n_sizes), usual ? nullptr : torch.dtype_keyword);
  } else {
    const Owned shape(PyTuple_New(n_sizes));
    if (!shape) return nullptr;
    for (int d = 0; d < n_sizes; ++d) PyTuple_SetItem(shape.get(), d, kept(sizes[d]));
    PyObject* const args[2] = {shape.get(), like.dtype->object};
    y = PyObject_Vectorcall(numpy.empty, args, 2, nullptr);
  }
  if (!y) {
    if (PyErr_ExceptionMatches(PyExc_RuntimeError)) PyErr_Clear();  // PyTorch's want of memory, which Python words
    return nullptr;
  }
  if (like.tensor) {
    DLTensor t;
    const bool read = torch.read(y, &t) == 0;
    if (!read || t.device.type != on_cpu) {  // another default device
      Py_DECREF(y);
      return nullptr;
    }
    if (usual && (torch.usual = dtype_of(t)) != like.dtype) {  // another default dtype
      Py_DECREF(y);
      return empty(like, sizes, n_sizes, data);
    }
    data = static_cast<char*>(t.data);
  } else {
    data = reinterpret_cast<NumpyArray*>(y)->data;
  }
  return y;
}

PyObject* empty(const ArrayView& like, const int64_t* shape, int ndim, char*& data) {
  PyObject* sizes[max_read_dims] = {};
  bool made = true;
  for (int d = 0; d < ndim; ++d) made = (sizes[d] = PyLong_FromLongLong(shape[d])) && made;
  PyObject* const y = made ? empty(like, sizes, ndim, data) : nullptr;
  for (int d = 0; d < ndim; ++d) Py_XDECREF(sizes[d]);
  return y;
}

PyObject* array_over(PyObject* buffer, const ArrayView& like, const int64_t* shape, int ndim) {
  const Owned sizes(shape_tuple(shape, ndim));
  if (!sizes) return nullptr;
  PyObject* const args[3] = {sizes.get(), like.dtype->object, buffer};
  return PyObject_Vectorcall(numpy.type, args, 3, nullptr);
}

PyObject* tensor_in(std::unique_ptr<Block> block, const ArrayView& like, const int64_t* shape, int ndim) {
  struct Held {
    ManagedTensor managed;
    std::unique_ptr<Block> block;
    int64_t shape[max_read_dims], stride[max_read_dims];
  };
  auto held = std::make_unique<Held>();
  int64_t step = 1;
  for (int d = ndim - 1; d >= 0; --d) held->shape[d] = shape[d], held->stride[d] = step, step *= shape[d];
  auto release = [](ManagedTensor* t) { delete static_cast<Held*>(t->context); };
  const DLTensor tensor{block->p,    {on_cpu, 0},  ndim, uint8_t(like.dtype->code), uint8_t(like.dtype->bits), 1,
                        held->shape, held->stride, 0};
  held->managed = {1, 0, held.get(), release, 0, tensor};
  held->block = std::move(block);
  void* y = nullptr;
  if (torch.make(&held->managed, &y) != 0) return nullptr;
  held.release();
  return static_cast<PyObject*>(y);
}

PyObject* plain(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected a tensor");
  ArrayView x;
  const int follows = is_tensor(args[0]) ? followed() : 1;
  const bool found = !follows && read_tensor(args[0], x) == Reading::readable;
  if (PyErr_Occurred()) return nullptr;
  return PyBool_FromLong(found);
}

PyObject* expand_view(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (!torch.expand) Py_RETURN_NONE;
  PyObject* call[max_read_dims + 1];
  const bool tuple = n == 2 && PyTuple_CheckExact(args[1]);
  const Py_ssize_t n_sizes = tuple ? PyTuple_Size(args[1]) : n - 1;
  if (n_sizes < 1 || n_sizes > max_read_dims) Py_RETURN_NONE;
  call[0] = args[0];
  double most = 1;
  for (Py_ssize_t d = 0; d < n_sizes; ++d) {
    call[d + 1] = tuple ? PyTuple_GetItem(args[1], d) : args[d + 1];
    if (!PyLong_CheckExact(call[d + 1])) Py_RETURN_NONE;
    const double size = PyLong_AsDouble(call[d + 1]);
    most *= size;
    if (size < 0) most = HUGE_VAL;  // a length of x
    if (PyErr_Occurred()) {
      PyErr_Clear();
      Py_RETURN_NONE;
    }
  }
  PyObject* y = PyObject_VectorcallMethod(torch.expand, call, size_t(n_sizes) + 1, nullptr);
  if (!y && (PyErr_ExceptionMatches(PyExc_RuntimeError) || PyErr_ExceptionMatches(PyExc_TypeError))) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  if (!y || most < max_elements) return y;
  int64_t n_values;
  const bool counted = integer(method(y, torch.numel), n_values);
  if (counted && n_values < max_elements) return y;
  Py_DECREF(y);
  if (!counted) return nullptr;
  Py_RETURN_NONE;
}

PyObject* empty_int64(bool tensor, int64_t n, char*& data) {
  ArrayView like{};
  like.tensor = tensor;
  for (const KnownDtype& d : tensor ? torch.dtypes : numpy.dtypes)
    if (d.number == int(Dtype::i64)) like.dtype = &d;
  if (!like.dtype) return PyErr_Format(PyExc_RuntimeError, "int64: expected a dtype that is read");
  return empty(like, &n, 1, data);
}

const KnownDtype* bool_like(const ArrayView& x) {
  for (const KnownDtype& d : x.tensor ? torch.dtypes : numpy.dtypes)
    if (d.code == bool_code) return &d;
  return nullptr;
}

// (ndarray, empty, dtypes, probe) -> whether arrays are read.
PyObject* read_numpy(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 4) return PyErr_Format(PyExc_TypeError, "expected 4 arguments");
  if (!read_dtypes(args[2], numpy.dtypes)) return nullptr;
  const bool readable = agrees(args[3], 1);
  if (PyErr_Occurred()) return nullptr;
  if (readable) numpy.empty = kept(args[1]), numpy.type = kept(args[0]);
  return PyBool_FromLong(readable);
}

// (exchange API, Tensor, Parameter, empty, dtypes, followers, forward_ad, autocast, is_grad_enabled, probe) -> whether
// tensors are read.
PyObject* read_torch(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 10) return PyErr_Format(PyExc_TypeError, "expected 10 arguments");
  constexpr const char* capsule = "dlpack_exchange_api";
  if (!PyCapsule_IsValid(args[0], capsule)) Py_RETURN_FALSE;
  const auto* const api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(args[0], capsule));
  if (api->major != 1 || !api->read || !api->make) Py_RETURN_FALSE;
  const struct {
    PyObject** at;
    const char* name;
  } names[] = {{&torch.is_neg, "is_neg"},
               {&torch.is_conj, "is_conj"},
               {&torch.untyped_storage, "untyped_storage"},
               {&torch.nbytes, "nbytes"},
               {&torch.storage_offset, "storage_offset"},
               {&torch.requires_grad, "requires_grad"},
               {&torch.expand, "expand"},
               {&torch.numel, "numel"},
               {&torch.current_level, "_current_level"}};
  for (const auto& name : names)
    if (!(*name.at = PyUnicode_InternFromString(name.name))) return nullptr;
  if (!(torch.dtype_keyword = Py_BuildValue("(s)", "dtype"))) return nullptr;
  if (!read_dtypes(args[4], torch.dtypes)) return nullptr;
  torch.read = api->read, torch.make = api->make, torch.empty = kept(args[3]), torch.followers = kept(args[5]);
  torch.forward_ad = kept(args[6]), torch.autocast = kept(args[7]), torch.grad_enabled = kept(args[8]);
  const bool readable = agrees(args[9], 0);
  if (PyErr_Occurred()) return nullptr;
  if (readable) torch.parameter = kept(args[2]), torch.type = kept(args[1]);
  for (const KnownDtype& d : torch.dtypes)
    if (d.number == int(Dtype::f32)) torch.usual = &d;
  return PyBool_FromLong(readable);
}

}  // namespace tenter
