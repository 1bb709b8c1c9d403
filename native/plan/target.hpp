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

  // Reads `out`, a writable array; the reference is borrowed. Returns false where Python must refuse it or make the
  // result first: it is not of the library, device and dtype of x, it overlaps x, or its elements may share memory.
  bool read(PyObject* out, const ArrayView& x);
  // Whether `out` has the shape of the result, and the core can write the result to it. order: as below.
  bool takes(const int64_t* shape, int ndim, const int* order) const;
  // Where a normalized result goes whose dims are in this order in memory. Returns false if its rows are no rows of
  // `out`. shape: of the result
  bool float_rows(const int64_t* shape, int ndim, const int* order, FloatRows& to) const;
  // Fills `out` and returns it, if it takes the result. write(address, whether to use streaming stores): writes the
  // result. order: the dims of the result from slowest to fastest in memory; null if it is contiguous.
  template <class F>
  Outcome fill(const int* order, F&& write) const {
    const bool direct = has_layout(order);
    const int64_t bytes = view.n_values() * view.dtype->itemsize;
    Room room;
    const DeferredSignals deferred;
    char* to = view.data;
    const bool made = no_exception([&] {
      if (!direct) to = room.get(bytes);
      write(to, direct && bytes >= tuning.stream_bytes);
    });
    const bool placed = made && (direct || work(bytes, [&] { place(to, order); }));
    return placed ? Outcome::done(Owned(Py_NewRef(object))) : Outcome::failed();
  }

 private:
  bool has_layout(const int* order) const;  // whether the layout is that of a new result
  void place(const char* made, const int* order) const;
};

}  // namespace tenter
