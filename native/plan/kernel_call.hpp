// A call of a kernel without its addresses and threads, used for all arrays of one layout.
#pragma once
#include <cstdint>

#include "kernels/choices.hpp"

namespace tenter {

struct FloatRows;

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
  // Positions in tables that the call has besides the maps' own; they bound the cache of plans.
  virtual int64_t positions() const { return 0; }
};

}  // namespace tenter
