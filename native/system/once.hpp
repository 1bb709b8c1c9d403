// Values that are made when they are first asked for, and that threads share.
#pragma once
#include <atomic>
#include <memory>

namespace tenter {

// Threads that ask at once may each make the value: one is kept, and all get that one. There is no lock: a child forked
// while another thread holds a lock would deadlock.
template <class T>
class Once {
 public:
  Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;
  ~Once() { delete made_.load(std::memory_order_relaxed); }

  T* found() const { return made_.load(std::memory_order_acquire); }  // null if it was not made yet
  T& keep(std::unique_ptr<T> fresh) {
    T* first = nullptr;
    const bool is_first = made_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel);
    return is_first ? *fresh.release() : *first;
  }
  // make: returns a unique_ptr
  template <class Make>
  T& get(Make&& make) {
    T* const made = found();
    return made ? *made : keep(make());
  }

 private:
  std::atomic<T*> made_{nullptr};
};

}  // namespace tenter
