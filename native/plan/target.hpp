// The caller's memory for a result: the argument `out`.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays/arrays.hpp"
#include "arrays/results.hpp"
#include "kernels/normalize.hpp"
#include "system/tuning.hpp"

namespace tenter {

// Whether this thread is writing to a caller's memory. Signal handlers then run later, when the result is complete.
extern thread_local bool defers_signals;
struct DeferredSignals {
  const bool before = defers_signals;
  DeferredSignals() { defers_signals = true; }
  ~DeferredSignals() { defers_signals = before; }
};

// How a result is normalized on its way to `out`, which holds floats. each: for every channel; null if nothing is
// normalized. channel: the dim of channels, which are adjacent planes in `out`; -1 if there is one without a dim.
struct Normalization {
  const Normalized* each = nullptr;
  int64_t channels = 1;
  int channel = -1;
};

struct Target {
  PyObject* object;
  ArrayView view;
  Normalization normalization;

  // Reads `out`, a writable array; the reference is borrowed. Unreadable where Python must refuse it or make the result
  // first: it is not of the library, device and dtype of x, it overlaps x, or its elements may share memory.
  Reading read(PyObject* out, const ArrayView& x);
  // Whether `out` has the shape of the result, and its rows if it is normalized. order: as below.
  bool takes(const int64_t* shape, int ndim, const int* order) const;
  // Where a normalized result goes whose dims are in this order in memory. Returns false if its rows are no rows of
  // `out`. shape: of the result
  bool float_rows(const int64_t* shape, int ndim, const int* order, FloatRows& to) const;
  // Fills `out`, which takes the result, and returns it. If it does not have the layout of a new result, the result is
  // made in scratch memory and copied.
  //   order    the dims of the result from slowest to fastest in memory; null if it is contiguous
  //   threads  how many to copy with
  //   write    write(address, whether to use streaming stores): writes the result
  template <class F>
  Outcome fill(const int* order, int threads, F&& write) const {
    const int64_t bytes = view.n_values() * view.dtype->itemsize;
    const bool filled = no_exception([&] {
      if (has_layout(order)) {
        const DeferredSignals deferred;
        return write(view.data, bytes >= tuning.stream_bytes);
      }
      Room room;
      char* const made = room.get(bytes);
      write(made, false);
      const DeferredSignals deferred;
      run_unlocked(bytes, [&] { place(made, order, threads); });
    });
    return filled ? Outcome::done(Owned(Py_NewRef(object))) : Outcome::failed();
  }

 private:
  bool has_layout(const int* order) const;  // whether the layout is that of a new result
  void place(const char* made, const int* order, int threads) const;
};

}  // namespace tenter
