// A pool of threads for loops whose iterations are independent.
#pragma once
#include <cstdint>
#include <type_traits>

#include "tuning.hpp"

namespace tenter {

struct Team {
  int threads;
  bool wake;  // those that sleep
};

// Thrown when the loop that runs has been told to stop: the result is unfinished.
struct Interrupted {};

// Asked by the calling thread of a long loop, several times a second: must it stop? Set once, when the module is made.
extern bool (*interrupted)();

// Calls body(context, i) for every i in [0, n), on at most `team.threads` threads, and returns when all are done.
// Which thread runs which i is free, so results must not depend on it: kernels split work by shape alone.
// Runs on the calling thread when the pool is busy (nested or concurrent calls), and when the pool sleeps and the work
// is not worth waking it.
// Throws std::bad_alloc when a body did, Interrupted when `interrupted` says so.
void parallel_raw(int64_t n, Team team, void (*body)(void*, int64_t), void* context);

template <class F>
void parallel(int64_t n, Team team, F&& body) {
  using Body = std::remove_reference_t<F>;
  parallel_raw(n, team, [](void* f, int64_t i) { (*static_cast<Body*>(f))(i); }, &body);
}

// The threads for work that moves so many bytes.
inline Team team_for(int64_t bytes, int threads) {
  return {bytes < tuning.parallel_bytes ? 1 : threads, bytes >= tuning.wake_bytes};
}

// From now on the threads of the OpenMP that is in the process, if there is one: after each of its loops they look for
// work for milliseconds, and threads of another pool would wait for a core.
void join_openmp();

bool forked();  // is this a child of the process that loaded the library?

}  // namespace tenter
