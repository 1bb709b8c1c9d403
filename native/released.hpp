// Work without the interpreter's lock, from threads that may outlive the interpreter.
#pragma once
#include <nanobind/nanobind.h>
#include <pthread.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

namespace tenter {

inline bool finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

inline bool on_main_thread() {
#if defined(__linux__)
  return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return false;
#endif
}

// The lock, released while this lives. When the interpreter ends, taking the lock again ends the thread (Python before
// 3.14) by unwinding its stack, which no function of nanobind's lets through: the process would be aborted. Such a
// thread sleeps until the process is gone instead, as Python's own do from 3.14 on.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // that unwinding: nothing else is thrown there, and it has no object to name
      for (;;) pause();
    }
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

template <class F>
void without_gil(F&& work) {
  Released released;
  work();
}

}  // namespace tenter
