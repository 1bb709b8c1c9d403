// Memory for results and how many threads there are, which Python's code knows, for calls that the core makes by
// itself.
#pragma once
#include <Python.h>

#include <exception>
#include <new>
#include <stdexcept>

#include "arrays.hpp"
#include "threads.hpp"

namespace tenter {

// Memory for a result like x, its address, and whether streaming stores should write it. bytes: of the result. order:
// its dims from slowest to fastest in memory, as a tuple; null where they are in order. Null with an error, or without
// where Python's code shall go another way.
PyObject* result_of(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, char*& data,
                    bool& stream, PyObject* order = nullptr);
int thread_count();  // 0 with an error
int64_t machine_memory();
// large_empty: (x, shape, order) -> (array, address, past caches); thread_count; the machine's memory. False with an
// error.
bool set_up_results(PyObject* large_empty, PyObject* thread_count, PyObject* memory);

// Calls f; false with Python's error in place of its exception.
template <class F>
bool no_exception(F&& f) {
  try {
    f();
    return true;
  } catch (const std::bad_alloc&) { PyErr_NoMemory(); } catch (const Interrupted&) {  // which has set the error
  }
  return false;
}

}  // namespace tenter
