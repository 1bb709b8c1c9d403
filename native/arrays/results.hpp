// Memory for results, and the number of threads, for calls that run in the core. Python's settings decide on both.
#pragma once
#include <Python.h>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

#include "arrays/arrays.hpp"
#include "arrays/outcome.hpp"
#include "system/gil.hpp"
#include "system/threads.hpp"
#include "system/tuning.hpp"

namespace tenter {

// A new result.
//   array   the array or tensor, or why there is none
//   data    its address
//   stream  whether streaming stores should write it
struct Fresh {
  Outcome array = Outcome::declined();
  char* data = nullptr;
  bool stream = false;

  bool is_made() const { return array.is_done(); }
};
// Makes a result.
//   x         the call's array, given to Python's functions that make results
//   like      the library and dtype of the result
//   bytes     bytes of the result
//   order     its dims from slowest to fastest in memory; null if it is contiguous
//   recorded  whether its gradient is recorded (recorded_empty)
Fresh result_of(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes,
                const int* order = nullptr, bool recorded = false);
// Whether NumPy or PyTorch allocates results of so many bytes.
inline bool is_left_to_library(int64_t bytes) {
  return bytes < std::min(tuning.large_bytes, tuning.stream_bytes) && !tuning.guard_blocks;
}
int thread_count();  // 0 with an error
// Threads for work on so many bytes; 0 with an error.
inline int threads_for(int64_t bytes) { return bytes < tuning.parallel_bytes ? 1 : thread_count(); }
int64_t machine_memory();  // in bytes
// The most bytes that a result and its temporaries may have for the core to plan the call.
inline int64_t most_planned_bytes() { return std::min(tuning.planned_bytes, machine_memory()); }

// Calls f. If it throws std::bad_alloc or Interrupted, sets a Python error and returns false.
template <class F>
bool no_exception(F&& f) {
  try {
    f();
    return true;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const Interrupted&) {  // the signal handler's error is set
  }
  return false;
}

// Runs work on so many bytes. Releases the interpreter's lock if that costs little compared with the work.
template <class F>
void run_unlocked(int64_t bytes, F&& f) {
  if (bytes < (1 << 14)) f();
  else without_gil(f);
}

// run_unlocked with no_exception's handling of exceptions.
template <class F>
bool work(int64_t bytes, F&& f) {
  return no_exception([&] { run_unlocked(bytes, f); });
}

// Reads an int of Python or NumPy. Returns false for True, for 1.0 and for ints beyond int64.
bool exact_int(PyObject* x, int64_t& value);

}  // namespace tenter
