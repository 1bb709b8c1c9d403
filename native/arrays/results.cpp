#include "arrays/results.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>

#include "arrays/array_libraries.hpp"
#include "arrays/boxes.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// A result in a block of the pool; null with an error. Parameters are as in result_of and Fresh.
PyObject* in_block(const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, char*& data, bool& stream,
                   const int* order) {
  std::unique_ptr<Block> block;
  try {
    block = std::make_unique<Block>(bytes);
  } catch (const std::bad_alloc&) {
    return PyErr_Format(PyExc_MemoryError, "result: no memory for %lld bytes", static_cast<long long>(bytes));
  }
  data = block->p, stream = bytes >= tuning.stream_bytes && block->used;  // fresh pages are in cache
  if (like.tensor) return tensor_in(std::move(block), like, shape, ndim, order);
  try {
    const nanobind::object held = nanobind::cast(block.release(), nanobind::rv_policy::take_ownership);
    return array_over(held.ptr(), like, shape, ndim);
  } catch (nanobind::python_error& failed) { failed.restore(); } catch (const std::exception&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

// A large result that Python allocates. Parameters are as in result_of.
Outcome by_python(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, const int* order, Fresh& y) {
  ArrayView own;  // large_empty makes results of x's dtype only
  const Reading found_own = order ? Reading::unreadable : read_array(x, own, true);
  if (found_own == Reading::failed) return Outcome::failed();
  if (found_own == Reading::readable && own.dtype != like.dtype) return empty(like, shape, ndim, y.data);
  const Owned sizes(shape_tuple(shape, ndim)), dims(order ? int_tuple(order, ndim) : Py_NewRef(Py_None));
  if (!sizes || !dims) return Outcome::failed();
  PyObject* const args[3] = {x, sizes.get(), dims.get()};
  const Owned found(PyObject_Vectorcall(like.tensor ? torch.large_empty : numpy.large_empty, args, 3, nullptr));
  PyObject* array;
  unsigned long long at;
  int past_caches;
  if (!found || !PyArg_ParseTuple(found.get(), "OKp", &array, &at, &past_caches)) return Outcome::failed();
  y.data = reinterpret_cast<char*>(at), y.stream = past_caches;
  return Outcome::done(Owned(Py_NewRef(array)));
}

}  // namespace

Fresh result_of(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, const int* order,
                bool recorded) {
  if (order && !like.tensor) {
    int64_t in_memory[max_read_dims];
    for (int k = 0; k < ndim; ++k) in_memory[k] = shape[order[k]];
    Fresh y = result_of(x, like, in_memory, ndim, bytes);
    if (!y.is_made()) return y;
    const Owned held = std::move(y.array).result();
    y.array = Outcome::of_python(permuted_view(held.get(), ndim, order));
    return y;
  }
  Fresh y;
  const auto made = [&](Outcome array) {
    y.array = std::move(array);
    return std::move(y);
  };
  const bool by_library = is_left_to_library(bytes);
  if (by_library && recorded && like.tensor && bytes && recycles())
    return made(Outcome::of_python(recorded_empty(like, shape, ndim, bytes, order, y.data)));
  if (by_library && order) return made(empty_permuted(like, shape, ndim, order, y.data));
  if (by_library) return made(empty(like, shape, ndim, y.data));
  if (bytes >= tuning.large_bytes && recycles())
    return made(Outcome::of_python(in_block(like, shape, ndim, bytes, y.data, y.stream, order)));
  return made(by_python(x, like, shape, ndim, order, y));
}

int thread_count() {
  PyObject* const result = PyObject_Vectorcall(calls.thread_count, nullptr, 0, nullptr);
  if (!result) return 0;
  const long n = PyLong_AsLong(result);
  Py_DECREF(result);
  return int(n);
}

bool exact_int(PyObject* x, int64_t& value) {
  if (!number_types.is_int(x)) return false;
  const Owned number(PyNumber_Index(x));
  if (!number) return PyErr_Clear(), false;  // Python's code raises the error
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  return overflow == 0;
}

int64_t machine_memory() { return calls.memory; }

}  // namespace tenter
