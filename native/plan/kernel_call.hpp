// A call of a kernel without its addresses and threads, used for all arrays of one layout.
#pragma once
#include <cstdint>

#include "kernels/rates.hpp"

namespace tenter {

struct FloatRows;

// An axis of a task: its length before and after, and the taps of all its rows.
struct SummedAxis {
  int64_t n, n_out, taps;
};
// The work of sums along three axes, in this order. size: bytes of an input or output; wide: of a sum.
template <class Task>
Work work_of(const Task& t, const SummedAxis& first, const SummedAxis& second, const SummedAxis& third, int64_t size,
             int64_t wide) {
  double each = double(t.inner);
  for (int d = 0; d < t.n_outer; ++d) each *= double(t.outer_shape[d]);
  const double n[] = {double(first.n), double(second.n), double(third.n)};
  const double made[] = {double(first.n_out), double(second.n_out), double(third.n_out)};
  const double taps =
      double(first.taps) * n[1] * n[2] + made[0] * double(second.taps) * n[2] + made[0] * made[1] * double(third.taps);
  return {.bytes = each * double(size) * (n[0] * n[1] * n[2] + made[0] * made[1] * made[2]),
          .taps = each * taps * double(wide) / 4};
}

struct KernelCall {
  KernelCall() = default;
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;
  virtual ~KernelCall() = default;
  // Runs on this thread and keeps the interpreter's lock, as releasing it costs as much as small work.
  virtual void run_here(uintptr_t src, uintptr_t dst) const = 0;
  // Runs on up to `threads` threads without the interpreter's lock. stream: whether to use streaming stores.
  virtual void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const = 0;
  // The same, with rows of the result stored as floats. Returns false, before anything is done, if the kernel cannot.
  virtual bool run_to_floats(uintptr_t, const FloatRows&, int) const { return false; }
  // Whether run_here changes nothing, so that threads without the interpreter's lock may call it.
  virtual bool any_thread() const { return true; }
  virtual Kernel kernel() const = 0;
  virtual Work work() const = 0;
  double nanoseconds() const { return tenter::nanoseconds(kernel(), work()); }
  // Positions in tables that the call has besides the maps' own; they bound the cache of plans.
  virtual int64_t positions() const { return 0; }
};

}  // namespace tenter
