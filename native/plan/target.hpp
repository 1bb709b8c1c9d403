// The caller's memory for a result: the argument `out`.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <utility>

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
  PyObject* object = nullptr;  // null: a tensor of normalized floats is made when its shape is known
  ArrayView view;
  Normalization normalization;

  // Reads `out`, a writable array; the reference is borrowed. Unreadable where Python must refuse it or make the result
  // first: it is not of the library, device and dtype of x, it overlaps x, or its elements may share memory.
  Reading read(PyObject* out, const ArrayView& x);
  // Whether `out` does not overlap another array.
  bool is_apart(const ArrayView& x) const;
  // Whether results of x are normalized tensors of floats.
  bool makes_floats(const ArrayView& x) const;
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

// Makes a contiguous result, and calls write(address, threads, whether to use streaming stores) if it has elements.
// Declined if the target does not take the result.
//   x         the call's array, as in result_of
//   like      the library and dtype of the result
//   target    where the result goes, whose memory `write` does not read; null for fresh memory
//   recorded  whether its gradient is recorded
//   read      bytes that `write` reads, if they are more than those of the result
template <class F>
Outcome make_result(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, const Target* target, F&& write,
                    bool recorded = false, int64_t read = 0) {
  int64_t bytes = like.dtype->itemsize;
  for (int d = 0; d < ndim; ++d) bytes *= shape[d];
  read = std::max(bytes, read);
  const int threads = threads_for(read);
  if (!threads) return Outcome::failed();
  const auto run = [&](char* to, bool stream) { run_unlocked(read, [&] { write(to, threads, stream); }); };
  if (target) {
    if (!target->takes(shape, ndim, nullptr)) return Outcome::declined();
    return bytes ? target->fill(nullptr, threads, run) : Outcome::done(Owned(Py_NewRef(target->object)));
  }
  Fresh y = result_of(x, like, shape, ndim, bytes, nullptr, recorded);
  if (y.is_made() && bytes && !no_exception([&] { run(y.data, y.stream); })) return Outcome::failed();
  return std::move(y.array);
}

}  // namespace tenter
