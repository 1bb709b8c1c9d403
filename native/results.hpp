// Memory for results and how many threads there are, which Python's code knows, for calls that the core makes by
// itself.
#pragma once
#include <Python.h>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

#include "arrays.hpp"
#include "gil.hpp"
#include "threads.hpp"
#include "tuning.hpp"

namespace tenter {

// Memory for a result like x, its address, and whether streaming stores should write it. bytes: of the result. order:
// its dims from slowest to fastest in memory; null where they are in order. recorded: as recorded_empty has
// it. Null with an error, or without where Python's code shall go another way.
PyObject* result_of(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, char*& data,
                    bool& stream, const int* order = nullptr, bool recorded = false);
// Whether results of so many bytes are left to the libraries' own functions.
inline bool is_left_to_library(int64_t bytes) {
  return bytes < std::min(tuning.large_bytes, tuning.stream_bytes) && !tuning.guard_blocks;
}
int thread_count();  // 0 with an error
// Threads for work on so many bytes; 0 with an error.
inline int threads_for(int64_t bytes) { return bytes < tuning.parallel_bytes ? 1 : thread_count(); }
int64_t machine_memory();
// Of a result and what is between its passes; Python's code refuses more.
inline int64_t most_planned_bytes() { return std::min(tuning.planned_bytes, machine_memory()); }
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

// Work of so many bytes, without the interpreter's lock where that costs little beside it.
template <class F>
void run_unlocked(int64_t bytes, F&& f) {
  if (bytes < (1 << 14)) f();
  else without_gil(f);
}

// The same; false with Python's error.
template <class F>
bool work(int64_t bytes, F&& f) {
  return no_exception([&] { run_unlocked(bytes, f); });
}

// An int of Python or NumPy as int64: false for True, for 1.0 and for large ints.
bool exact_int(PyObject* x, int64_t& value);

// What a function gives where Python's code shall look closer, if no error is set.
inline PyObject* none_or_error() {
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace tenter
