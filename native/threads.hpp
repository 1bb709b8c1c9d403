// A pool of threads for loops whose iterations are independent.
#pragma once
#include <cstdint>
#include <type_traits>

namespace tenter {

struct Team {
  int threads;
  bool wake;  // those that sleep
};

// Calls body(context, i) for every i in [0, n), on at most `team.threads` threads, and returns when all are done.
// Which thread runs which i is free, so results must not depend on it: kernels split work by shape alone.
// Runs on the calling thread when the pool is busy (nested or concurrent calls), and when the pool sleeps and the work
// is not worth waking it.
// Throws std::bad_alloc when a body did.
void parallel_raw(int64_t n, Team team, void (*body)(void*, int64_t), void* context);

template <class F>
void parallel(int64_t n, Team team, F&& body) {
  using Body = std::remove_reference_t<F>;
  parallel_raw(n, team, [](void* f, int64_t i) { (*static_cast<Body*>(f))(i); }, &body);
}

// Who moves so many bytes: below a mebibyte telling another thread costs more than it saves, below eight waking one.
inline Team team_for(int64_t bytes, int threads) { return {bytes < (1 << 20) ? 1 : threads, bytes >= (8 << 20)}; }

// From now on the threads of the OpenMP that is in the process, if there is one: whoever has brought it works with
// those threads, which look for work for milliseconds after every loop of theirs, and would be in the way of others.
void join_openmp();

bool forked();  // is this a child of the process that loaded the library?

}  // namespace tenter
