#include "arrays/arrays.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "arrays/array_libraries.hpp"
#include "kernels/kernels.hpp"
#include "system/threads.hpp"

namespace tenter {

NumpyLibrary numpy;
TorchLibrary torch;
NumberTypes number_types;
RegisteredCalls calls;
RegisteredGradients gradients;

namespace {

// Whether an object is true: 1, 0, or -1 with an error. Releases the object; null counts as an error.
int truth(PyObject* result) {
  if (!result) return -1;
  const int found = PyObject_IsTrue(result);
  Py_DECREF(result);
  return found;
}

// Finds the dtype that equals another dtype object. Unpickled arrays have new dtype objects. Returns
// null for a dtype with metadata, as a result would lose it.
const ArrayDtype* equal_dtype(PyObject* given) {
  const Owned metadata(PyObject_GetAttr(given, numpy.metadata));
  int64_t number = -1;
  const bool read = metadata && integer(PyObject_GetAttr(given, numpy.num), number);
  if (!read || metadata.get() != Py_None || truth(PyObject_GetAttr(given, numpy.isnative)) != 1)
    return PyErr_Clear(), nullptr;
  for (const ArrayDtype& d : numpy.dtypes)
    if (d.numpy_number == number) return &d;
  return nullptr;
}

Reading read_ndarray(PyObject* x, ArrayView& view) {
  const auto& a = *reinterpret_cast<const NumpyArray*>(x);
  if (a.nd > max_read_dims) return Reading::unreadable;
  const ArrayDtype* dtype = nullptr;
  for (const ArrayDtype& d : numpy.dtypes)
    if (d.object == a.descr) dtype = &d;
  if (!dtype && !(dtype = equal_dtype(a.descr))) return Reading::unreadable;
  view.data = a.data, view.ndim = a.nd, view.tensor = false, view.device = on_cpu, view.device_number = 0;
  view.dtype = dtype;
  for (int d = 0; d < a.nd; ++d) view.shape[d] = a.dimensions[d], view.stride[d] = a.strides[d];
  return Reading::readable;
}

// Finds out what PyTorch's dispatch keys would say. The read fails for sparse, batched, quantized and nested tensors.
// There is no address for functional, meta and zero tensors, and for empty ones. The neg and conj bits are asked for.
Reading read_ordinary(PyObject* x, DLTensor& t, bool may_be_empty) {
  if (torch.read(x, &t) != 0) {
    PyErr_Clear();
    return Reading::traced;
  }
  const bool empty = std::find(t.shape, t.shape + t.ndim, 0) != t.shape + t.ndim;
  if (!(t.data || (may_be_empty && empty))) return Reading::unreadable;
  const int negative = truth(method(x, torch.is_neg));
  if (negative) return negative < 0 ? Reading::failed : Reading::traced;
  if (t.code == complex_code) {
    const int conjugate = truth(method(x, torch.is_conj));
    if (conjugate) return conjugate < 0 ? Reading::failed : Reading::traced;
  }
  if (t.device.type != on_cpu) {
    const int autocast = truth(PyObject_Vectorcall(torch.autocast, nullptr, 0, nullptr));
    if (autocast) return autocast < 0 ? Reading::failed : Reading::traced;
  }
  return Reading::readable;
}

Reading describe_tensor(PyObject* x, ArrayView& view, bool may_be_empty = false) {
  DLTensor t;
  if (const Reading found = read_ordinary(x, t, may_be_empty); found != Reading::readable) return found;
  const ArrayDtype* const dtype = torch.dtype_of(t);
  if (!dtype || t.ndim > max_read_dims) return Reading::unreadable;
  view.data = static_cast<char*>(t.data) + t.byte_offset, view.ndim = t.ndim, view.tensor = true;
  view.device = t.device.type, view.device_number = t.device.id, view.dtype = dtype;
  for (int d = 0; d < t.ndim; ++d) view.shape[d] = t.shape[d], view.stride[d] = t.strides[d] * dtype->itemsize;
  return Reading::readable;
}

// Whether a tensor's storage reaches to its last element: the user may have shrunk it. 1, 0, or -1 with an error.
int storage_covers(PyObject* x, const ArrayView& view) {
  const int64_t n_bytes = view.extent();
  if (n_bytes == 0) return 1;
  const Owned storage(method(x, torch.untyped_storage));
  int64_t size, offset;  // in bytes; in elements
  if (!storage || !integer(method(storage.get(), torch.nbytes), size) ||
      !integer(method(x, torch.storage_offset), offset))
    return -1;
  return size >= offset * view.dtype->itemsize + n_bytes;
}

Reading read_tensor(PyObject* x, ArrayView& view, bool may_be_empty = false) {
  const Reading found = describe_tensor(x, view, may_be_empty);
  if (found != Reading::readable) return found;
  const int covers = storage_covers(x, view);
  return covers < 0 ? Reading::failed : covers ? Reading::readable : Reading::unreadable;
}

// Reads a tuple of tuples (object, code, bits, number, itemsize). The dtype objects are never released.
bool read_dtypes(PyObject* list, std::vector<ArrayDtype>& dtypes) {
  for (Py_ssize_t k = 0, n = PyTuple_Size(list); k < n; ++k) {
    ArrayDtype d{};
    if (!PyArg_ParseTuple(PyTuple_GetItem(list, k), "Oiiii", &d.object, &d.code, &d.bits, &d.number, &d.itemsize))
      return false;
    Py_INCREF(d.object);
    dtypes.push_back(d);
  }
  return !PyErr_Occurred();
}

bool same(PyObject* numbers, const int64_t* values, int n, int64_t unit) {
  if (PyTuple_Size(numbers) != n) return false;
  for (int d = 0; d < n; ++d)
    if (PyLong_AsLongLong(PyTuple_GetItem(numbers, d)) * unit != values[d]) return false;
  return !PyErr_Occurred();
}

// Whether the core reads an array as Python does. probe: (array, address, shape, strides, dtype), as Python reads it.
// unit: 1 if strides are in bytes, as NumPy's; 0 if they are in elements, as PyTorch's.
bool agrees(PyObject* probe, int64_t unit) {
  ArrayView view;
  PyObject* const x = PyTuple_GetItem(probe, 0);
  const Reading found = unit == 1 ? read_ndarray(x, view) : read_tensor(x, view);
  return found == Reading::readable && view.data == PyLong_AsVoidPtr(PyTuple_GetItem(probe, 1)) &&
         same(PyTuple_GetItem(probe, 2), view.shape, view.ndim, 1) &&
         same(PyTuple_GetItem(probe, 3), view.stride, view.ndim, unit == 1 ? 1 : view.dtype->itemsize) &&
         view.dtype->object == PyTuple_GetItem(probe, 4);
}

// Reads NumPy's table of C functions from a capsule. Their places in the table are part of NumPy's ABI. Returns false
// if the ABI is not known.
bool read_functions(PyObject* capsule) {
  if (!PyCapsule_CheckExact(capsule)) return false;
  void** const table = static_cast<void**>(PyCapsule_GetPointer(capsule, nullptr));
  if (!table) return false;
  const unsigned version = reinterpret_cast<unsigned (*)()>(table[0])() >> 24;
  if (version != 1 && version != 2) return false;
  numpy.new_array = reinterpret_cast<decltype(numpy.new_array)>(table[94]);
  numpy.set_base = reinterpret_cast<decltype(numpy.set_base)>(table[282]);
  return true;
}

}  // namespace

bool is_numpy(PyObject* x) { return reinterpret_cast<PyObject*>(Py_TYPE(x)) == numpy.type; }

bool is_tensor(PyObject* x) {
  PyObject *const type = reinterpret_cast<PyObject*>(Py_TYPE(x)), *const tensor = torch.type.load();
  return tensor && (type == tensor || type == torch.parameter);
}

Reading read_array(PyObject* x, ArrayView& view, bool may_be_empty) {
  if (is_numpy(x)) return read_ndarray(x, view);
  return is_tensor(x) ? read_tensor(x, view, may_be_empty) : Reading::unreadable;
}

Reading read_detached(PyObject* x, ArrayView& view, bool may_be_empty) {
  const Reading found = read_array(x, view, may_be_empty);
  if (found != Reading::readable || !view.tensor) return found;
  const int wants = wants_grad(x);
  return wants < 0 ? Reading::failed : wants ? Reading::traced : Reading::readable;
}

Reading read_outline(PyObject* x, ArrayOutline& to) {
  if (is_tensor(x)) {
    DLTensor t;
    if (const Reading found = read_ordinary(x, t, true); found != Reading::readable) return found;
    to.number = int64_t(t.code) << 32 | int64_t(t.bits) << 16 | t.lanes;
    to.data = static_cast<char*>(t.data) + t.byte_offset, to.shape = t.shape, to.stride = t.strides;
    to.ndim = t.ndim, to.device = t.device.type, to.device_number = t.device.id;
    return Reading::readable;
  }
  if (!is_numpy(x)) return Reading::unreadable;
  const auto& a = *reinterpret_cast<const NumpyArray*>(x);
  to.dtype = Owned(PyObject_GetAttr(a.descr, numpy.str));
  const bool read = to.dtype && integer(PyObject_GetAttr(a.descr, numpy.num), to.number) && to.number >= 0;
  if (!read || truth(PyObject_GetAttr(a.descr, numpy.hasobject)) != 0) return PyErr_Clear(), Reading::unreadable;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  to.data = a.data, to.shape = a.dimensions, to.stride = a.strides, to.ndim = a.nd;
  return Reading::readable;
}

int calls_are_traced() {
  for (Py_ssize_t k = 0, n = PyTuple_Size(torch.tracers); k < n; ++k) {
    const int found = truth(PyObject_Vectorcall(PyTuple_GetItem(torch.tracers, k), nullptr, 0, nullptr));
    if (found) return found;
  }
  PyObject* const level = value_in(torch.forward_ad, torch.current_level);
  if (!level) return PyErr_Format(PyExc_RuntimeError, "PyTorch: expected a level of forward mode"), -1;
  int64_t n;
  return integer(level, n) ? n >= 0 : -1;
}

Reading tracing_of(PyObject* x) {
  const int traced = is_tensor(x) ? calls_are_traced() : 0;
  return traced < 0 ? Reading::failed : traced ? Reading::traced : Reading::readable;
}

int wants_grad(PyObject* x) {
  const int wants = truth(torch.get_attribute(torch.requires_grad, x, nullptr));
  return wants <= 0 ? wants : truth(PyObject_Vectorcall(torch.grad_enabled, nullptr, 0, nullptr));
}

PyObject* ordinary(PyObject* const* args, Py_ssize_t) {
  ArrayView x;
  Reading found = is_tensor(args[0]) ? tracing_of(args[0]) : Reading::unreadable;
  if (found == Reading::readable) found = describe_tensor(args[0], x);
  return found == Reading::failed ? nullptr : PyBool_FromLong(found == Reading::readable);
}

// (ndarray, dtypes, probe, large_empty, NumPy's table of C functions or None) -> whether the core can read arrays.
PyObject* register_numpy(PyObject* const* args, Py_ssize_t) {
  if (!read_dtypes(args[1], numpy.dtypes)) return nullptr;
  if (!(numpy.metadata = PyUnicode_InternFromString("metadata"))) return nullptr;
  if (!(numpy.num = PyUnicode_InternFromString("num"))) return nullptr;
  if (!(numpy.isnative = PyUnicode_InternFromString("isnative"))) return nullptr;
  if (!(numpy.str = PyUnicode_InternFromString("str"))) return nullptr;
  if (!(numpy.hasobject = PyUnicode_InternFromString("hasobject"))) return nullptr;
  if (!(numpy.transpose = PyUnicode_InternFromString("transpose"))) return nullptr;
  for (ArrayDtype& d : numpy.dtypes)
    if (!integer(PyObject_GetAttr(d.object, numpy.num), d.numpy_number)) return nullptr;
  const bool readable = agrees(args[2], 1) && read_functions(args[4]);
  if (PyErr_Occurred()) return nullptr;
  numpy.large_empty = Py_NewRef(args[3]);
  if (readable) numpy.type = Py_NewRef(args[0]);
  return PyBool_FromLong(readable);
}

// (exchange API or None, Tensor, Parameter, empty, dtypes, tracers, forward_ad, autocast, is_grad_enabled, probe,
// empty_strided, large_empty, Size, apply, forward, backward) -> whether the core can read tensors. The last three are
// the Function's, see RegisteredGradients.
PyObject* register_torch(PyObject* const* args, Py_ssize_t) {
  join_openmp();
  torch.sizes = Py_NewRef(args[12]), gradients.forward = Py_NewRef(args[14]), gradients.backward = Py_NewRef(args[15]);
  if (!(gradients.name_call = PyUnicode_InternFromString("call"))) return nullptr;
  gradients.apply = Py_NewRef(args[13]);
  constexpr const char* capsule = "dlpack_exchange_api";
  if (!PyCapsule_IsValid(args[0], capsule)) Py_RETURN_FALSE;
  const auto* const api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(args[0], capsule));
  if (api->major != 1 || !api->read || !api->make) Py_RETURN_FALSE;
  const Owned storage(PyObject_CallMethod(PyTuple_GetItem(args[9], 0), "untyped_storage", nullptr));
  if (!storage) return nullptr;
  PyObject *const tensors = args[1], *const storages = reinterpret_cast<PyObject*>(Py_TYPE(storage.get()));
  const struct {
    PyObject** at;
    PyObject* type;
    const char* name;
  } attributes[] = {{&torch.is_neg, tensors, "is_neg"},
                    {&torch.is_conj, tensors, "is_conj"},
                    {&torch.untyped_storage, tensors, "untyped_storage"},
                    {&torch.nbytes, storages, "nbytes"},
                    {&torch.storage_offset, tensors, "storage_offset"},
                    {&torch.requires_grad, tensors, "requires_grad"},
                    {&torch.expand, tensors, "expand"},
                    {&torch.numel, tensors, "numel"}};
  for (const auto& attribute : attributes)
    if (!(*attribute.at = PyObject_GetAttrString(attribute.type, attribute.name))) return nullptr;
  torch.get_attribute = reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(torch.requires_grad), Py_tp_descr_get));
  if (!(torch.current_level = PyUnicode_InternFromString("_current_level"))) return nullptr;
  if (!(torch.dtype_keyword = Py_BuildValue("(s)", "dtype"))) return nullptr;
  if (!read_dtypes(args[4], torch.dtypes)) return nullptr;
  torch.read = api->read, torch.make = api->make, torch.empty = Py_NewRef(args[3]), torch.tracers = Py_NewRef(args[5]);
  torch.empty_strided = Py_NewRef(args[10]), torch.forward_ad = Py_NewRef(PyModule_GetDict(args[6])),
  torch.autocast = Py_NewRef(args[7]), torch.grad_enabled = Py_NewRef(args[8]), torch.large_empty = Py_NewRef(args[11]);
  const bool readable = agrees(args[9], 0);
  if (PyErr_Occurred()) return nullptr;
  for (const ArrayDtype& d : torch.dtypes)
    if (d.number == int(Dtype::f32)) torch.usual = &d;
  if (readable) torch.parameter = Py_NewRef(args[2]), torch.type = Py_NewRef(args[1]);
  return PyBool_FromLong(readable);
}

}  // namespace tenter
