// Memory that a caller gives for a result, as `out`.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays.hpp"
#include "results.hpp"
#include "tuning.hpp"

namespace tenter {

// While this thread writes to a caller's memory, which is to be whole when a signal is answered.
extern thread_local bool holds_signals;
struct HeldSignals {
  const bool before = holds_signals;
  HeldSignals() { holds_signals = true; }
  ~HeldSignals() { holds_signals = before; }
};

struct Target {
  PyObject* object;
  ArrayView view;

  // out, to which the caller may write. False where Python's code shall refuse it, or make a result first: it is of
  // another kind or dtype than x, or lies where x does.
  bool read(PyObject* out, const ArrayView& x);
  // Whether it is of a result's shape, and the core writes results to it.
  bool takes(const int64_t* shape, int ndim, const int* order) const;
  // The object, with what `write` made: (address, with streaming stores), contiguous in the order of dims. order: from
  // the slowest; null where they are in order. Null with an error. Of a result that it takes.
  template <class F>
  PyObject* fill(const int* order, F&& write) const {
    const bool direct = lies(order);
    const int64_t bytes = view.n_values() * view.dtype->itemsize;
    Room room;
    const HeldSignals held;
    char* to = view.data;
    const bool made = no_exception([&] {
      if (!direct) to = room.get(bytes);
      write(to, direct && bytes >= tuning.stream_bytes);
    });
    return made && (direct || work(bytes, [&] { place(to, order); })) ? Py_NewRef(object) : nullptr;
  }

 private:
  bool lies(const int* order) const;  // as a fresh result would
  void place(const char* made, const int* order) const;
};

}  // namespace tenter
