// Scratch buffers of a task, reused by later tasks. They are not thread_local: if there is no memory when a thread
// first uses a thread_local object, or registers its destructor, the process ends.
#pragma once
#include <cstdint>

#include "system/integers.hpp"

namespace tenter {

// A buffer that grows on demand. Growing drops its contents. `size` is in bytes, `n` in elements.
struct Scratch {
  void* p = nullptr;
  size_t size = 0;

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { release(); }
  template <class T>
  TENTER_ALWAYS_INLINE T* get(int64_t n) {
    const size_t needed = size_t(n) * sizeof(T);
    if (needed > size) grow(needed);
    return static_cast<T*>(p);
  }
  void grow(size_t needed);  // throws std::bad_alloc
  void trim();               // frees the buffer if it is larger than cached_scratch_bytes
  void release();
};

// The buffers of one task: one for each purpose, as a task may need several at a time.
struct Workspace {
  Scratch staging, tile, row, plane, packed, raw, gathered, inputs, sums, taps, row_taps, index, table;
  int64_t counted = 0;  // its bytes when it was last idle
};

Workspace* acquire_workspace();      // throws std::bad_alloc
void release_workspace(Workspace*);  // frees large buffers; the next task reuses the rest
int64_t workspace_bytes();           // of workspaces that are or were idle: at most tuning.idle_scratch_bytes
void clear_workspaces();             // frees the idle ones

// Holds a task's workspace: acquired at its first use, released by the destructor.
class Lease {
 public:
  Lease() = default;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (held_) release_workspace(held_);
  }
  Workspace* operator->() {
    if (!held_) held_ = acquire_workspace();
    return held_;
  }

 private:
  Workspace* held_ = nullptr;
};

}  // namespace tenter
