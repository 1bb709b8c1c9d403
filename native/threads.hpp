// A pool of threads for loops whose iterations are independent.
#pragma once
#include <chrono>
#include <cstdint>
#include <type_traits>

#include "tuning.hpp"

namespace tenter {

struct Team {
  int threads;
  bool wake;  // whether the work is worth waking sleeping threads
};

// Thrown when a loop was stopped before its end: the result is incomplete.
struct Interrupted {};

// Polled by the calling thread of a long loop: whether to stop. Set once, when the module is initialized.
extern bool (*interrupted)();

// Limits polls for signals to one per poll_milliseconds.
class Polling {
 public:
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(poll_milliseconds)) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Calls body(context, i) for every i in [0, n), on at most `team.threads` threads, and returns when all are done. Which
// thread runs which i is not defined, so results must not depend on it: kernels split work by shape alone.
// Runs on the calling thread alone when the pool is busy (nested or concurrent calls), and when its threads sleep and
// team.wake is false.
// Throws std::bad_alloc if a body did, Interrupted if `interrupted` returned true.
void parallel_raw(int64_t n, Team team, void (*body)(void*, int64_t), void* context);

template <class F>
void parallel(int64_t n, Team team, F&& body) {
  using Body = std::remove_reference_t<F>;
  parallel_raw(n, team, [](void* f, int64_t i) { (*static_cast<Body*>(f))(i); }, &body);
}

// The team for work that reads and writes that many bytes.
inline Team team_for(int64_t bytes, int threads) {
  return {bytes < tuning.parallel_bytes ? 1 : threads, bytes >= tuning.wake_bytes};
}

// Uses the OpenMP threads of the process, if it has loaded OpenMP, instead of the pool's: OpenMP threads spin for
// milliseconds after each loop, and a second pool would oversubscribe the cores.
void join_openmp();

[[noreturn]] void sleep_until_exit();  // of the process

bool forked();  // whether this process is a child of the one that loaded the library

}  // namespace tenter
