// Scratch buffers of tasks, recycled between them. Not thread_local: the process ends if there is no memory for a
// thread's first use of a thread_local object, or for the registration of its destructor.
#pragma once
#include <cstdint>

#include "integers.hpp"

namespace tenter {

// A buffer that grows, without keeping its contents.
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
  void trim();               // frees a large buffer
  void release();
};

// A buffer for each purpose, as a task may need several at a time.
struct Workspace {
  Scratch staging, tile, row, plane, packed, raw, gathered, inputs, sums, taps, row_taps, index, table;
};

Workspace* acquire_workspace();      // throws std::bad_alloc
void release_workspace(Workspace*);  // frees large buffers and keeps the rest for another task

// A task's workspace, acquired at its first use.
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
