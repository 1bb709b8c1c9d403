// Scratch memory of tasks, kept between them. Not thread_local: a thread that finds no memory for its first use of one,
// or for the registration of its destructor, ends the process.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tenter {

// Memory that grows; what it held is lost then.
struct Scratch {
  void* p = nullptr;
  size_t size = 0;

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(p); }
  template <class A>
  A* get(int64_t n) {
    const size_t need = (size_t(n) * sizeof(A) + 63) / 64 * 64;
    if (need > size) {
      std::free(p);
      size = 0;
      p = std::aligned_alloc(64, need);
      if (!p) throw std::bad_alloc();
      size = need;
    }
    return static_cast<A*>(p);
  }
  void trim() {
    if (size <= (4u << 20)) return;
    std::free(p);
    p = nullptr;
    size = 0;
  }
};

// One for each purpose, as a task may need several at a time.
struct Workspace {
  Scratch staging, tile, row, plane, pick;
};

Workspace* take_workspace();      // throws std::bad_alloc
void give_workspace(Workspace*);  // large scratch is freed, the rest kept for another task

// A task's workspace, taken when it is first needed.
class Lease {
 public:
  Lease() = default;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (taken_) give_workspace(taken_);
  }
  Workspace* operator->() {
    if (!taken_) taken_ = take_workspace();
    return taken_;
  }

 private:
  Workspace* taken_ = nullptr;
};

}  // namespace tenter
