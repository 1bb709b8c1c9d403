// Work without the interpreter's lock (GIL), on threads that may outlive the interpreter.
#pragma once
#include <nanobind/nanobind.h>

#include "system/system.hpp"
#include "system/threads.hpp"

namespace tenter {

#if defined(Py_LIMITED_API)  // the limited API has no such function before Python 3.13
// Looked up when the library is loaded. A lookup at first use could be interrupted by a fork, and the child would then
// wait forever for the lookup's lock.
inline int (*const ask_if_finalizing)() = [] {
  void* const found = loaded_symbol("Py_IsFinalizing");
  return reinterpret_cast<int (*)()>(found ? found : loaded_symbol("_Py_IsFinalizing"));
}();
#endif

inline bool finalizing() {
#if defined(Py_LIMITED_API)
  return !ask_if_finalizing || ask_if_finalizing();
#elif PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// Releases the interpreter's lock for its lifetime, like nanobind's gil_scoped_release. While the interpreter
// finalizes, Python before 3.14 ends a thread that takes the lock by unwinding its stack. nanobind's functions are
// noexcept, so the unwinding would abort the process. Here such a thread sleeps until the process ends, as Python's own
// threads do from 3.14 on.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // the unwinding: it throws no typed object
      sleep_until_exit();
    }
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

template <class F>
void without_gil(F&& work) {
  GilRelease release;
  work();
}

}  // namespace tenter
