// Parallel loops whose iterations are independent, on a pool of threads.
#pragma once
#include <chrono>
#include <cstdint>
#include <type_traits>

#include "system/tuning.hpp"

namespace tenter {

// How many threads a loop may use, and whether its work is worth waking sleeping threads.
struct Team {
  int threads;
  bool wake;
};

// Thrown when a signal stopped a loop before its end: the result is then incomplete.
struct Interrupted {};

// The calling thread of a long loop asks this function whether to stop. Set once, when the module is initialized; null
// before that.
extern bool (*interrupted)();

// A timer that is due once per poll_milliseconds, to limit how often a loop asks for signals.
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

// Calls body(context, i) for every i in [0, n), on at most `team.threads` threads, and returns when all are done. Any
// thread may run any i, so results must not depend on it: kernels split work by shape only.
// If the pool is busy (nested or concurrent calls), the calling thread does all.
// Throws std::bad_alloc if a body did, and Interrupted if `interrupted` returned true.
void parallel_raw(int64_t n, Team team, void (*body)(void*, int64_t), void* context);

template <class F>
void parallel(int64_t n, Team team, F&& body) {
  using Body = std::remove_reference_t<F>;
  parallel_raw(n, team, [](void* f, int64_t i) { (*static_cast<Body*>(f))(i); }, &body);
}

// The team for work that reads and writes so many bytes, of at most `threads` threads. It is the calling thread alone
//   - for little work;
//   - for work that is not worth waking them, if they sleep;
//   - for all but much work, if they saved no time lately: other processes may be using their cores.
Team team_for(int64_t bytes, int threads);

// The least number of tasks of a loop that writes so many bytes, as threads take tasks from each other and poll for
// signals between two.
int64_t least_tasks(int64_t bytes, Team team);

// From now on loops run on the process's OpenMP threads, if it has loaded OpenMP, instead of the pool's threads. OpenMP
// threads spin for milliseconds after each loop, so a second pool would oversubscribe the cores.
void join_openmp();

[[noreturn]] void sleep_until_exit();  // sleeps until the process exits

bool forked();  // whether this process was forked from the one that loaded the library

}  // namespace tenter
