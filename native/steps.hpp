// Calls of kernels without their addresses, which serve every array of a layout.
#pragma once
#include <cstdint>

namespace tenter {

struct KernelCall {
  KernelCall() = default;
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;
  virtual ~KernelCall() = default;
  // On this thread, with the interpreter's lock, as letting go of it costs as much as small work.
  virtual void run_here(uintptr_t src, uintptr_t dst) const = 0;
  virtual void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const = 0;
  virtual const char* name() const = 0;
};

}  // namespace tenter
