#include "results.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>

#include "boxes.hpp"
#include "tuning.hpp"

namespace tenter {
namespace {

struct {
  PyObject *large_empty = nullptr, *thread_count = nullptr;
  int64_t memory = 0;
} python_results;

// Of a dtype, in memory that is kept for later results; null with an error.
PyObject* in_block(const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, char*& data, bool& stream,
                   const int* order) {
  std::unique_ptr<Block> block;
  try {
    block = std::make_unique<Block>(bytes);
  } catch (const std::bad_alloc&) {
    return PyErr_Format(PyExc_MemoryError, "result: no memory for %lld bytes", static_cast<long long>(bytes));
  }
  data = block->p, stream = bytes >= tuning.stream_bytes && block->used;  // fresh pages are in the caches
  if (like.tensor) return tensor_in(std::move(block), like, shape, ndim, order);
  try {
    const nanobind::object held = nanobind::cast(block.release(), nanobind::rv_policy::take_ownership);
    return array_over(held.ptr(), like, shape, ndim);
  } catch (nanobind::python_error& failed) { failed.restore(); } catch (const std::exception&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

}  // namespace

PyObject* result_of(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, char*& data,
                    bool& stream, const int* order, bool recorded) {
  stream = false;
  if (order && !like.tensor) {
    int64_t in_memory[max_read_dims];
    for (int k = 0; k < ndim; ++k) in_memory[k] = shape[order[k]];
    const Owned y(result_of(x, like, in_memory, ndim, bytes, data, stream));
    return y ? permuted_view(y.get(), ndim, order) : nullptr;
  }
  const bool plain = is_left_to_library(bytes);
  if (plain && order) return empty_permuted(like, shape, ndim, order, data);
  if (plain && recorded && like.tensor && bytes) return recorded_empty(like, shape, ndim, bytes, data);
  if (plain) return empty(like, shape, ndim, data);
  if (bytes >= tuning.large_bytes && recycles()) return in_block(like, shape, ndim, bytes, data, stream, order);
  ArrayView own;  // Python's code makes results of x's dtype
  const Reading found_own = order ? Reading::unreadable : read_array(x, own, true);
  if (found_own == Reading::failed) return nullptr;
  if (found_own == Reading::readable && own.dtype != like.dtype) return empty(like, shape, ndim, data);
  const Owned sizes(shape_tuple(shape, ndim));
  if (!sizes) return nullptr;
  const Owned dims(order ? int_tuple(order, ndim) : Py_NewRef(Py_None));
  if (!dims) return nullptr;
  PyObject* const args[3] = {x, sizes.get(), dims.get()};
  const Owned found(PyObject_Vectorcall(python_results.large_empty, args, 3, nullptr));
  if (!found) return nullptr;
  PyObject* y;
  unsigned long long at;
  int past_caches;
  if (!PyArg_ParseTuple(found.get(), "OKp", &y, &at, &past_caches)) return nullptr;
  data = reinterpret_cast<char*>(at), stream = past_caches;
  Py_INCREF(y);
  return y;
}

int thread_count() {
  PyObject* const result = PyObject_Vectorcall(python_results.thread_count, nullptr, 0, nullptr);
  if (!result) return 0;
  const long n = PyLong_AsLong(result);
  Py_DECREF(result);
  return int(n);
}

bool exact_int(PyObject* x, int64_t& value) {
  if (!number_types.is_int(x)) return false;
  const Owned number(PyNumber_Index(x));
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  return overflow == 0;
}

int64_t machine_memory() { return python_results.memory; }

bool set_up_results(PyObject* large_empty, PyObject* thread_count, PyObject* memory) {
  Py_INCREF(large_empty), python_results.large_empty = large_empty;
  Py_INCREF(thread_count), python_results.thread_count = thread_count;
  python_results.memory = PyLong_AsLongLong(memory);
  return !PyErr_Occurred();
}

}  // namespace tenter
