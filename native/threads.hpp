// A pool of threads for loops whose iterations are independent.
#pragma once
#include <cstdint>
#include <type_traits>

namespace tenter {

// Calls body(context, i) for every i in [0, n), on at most `threads` threads, and returns when all are done.
// Which thread runs which i is free, so results must not depend on it: kernels split work by shape alone.
// Runs on the calling thread when the pool is busy (nested or concurrent calls).
// Throws std::bad_alloc when a body did.
void parallel_raw(int64_t n, int threads, void (*body)(void*, int64_t), void* context);

template <class F>
void parallel(int64_t n, int threads, F&& body) {
  using Body = std::remove_reference_t<F>;
  parallel_raw(n, threads, [](void* f, int64_t i) { (*static_cast<Body*>(f))(i); }, &body);
}

bool forked();  // is this a child of the process that loaded the library?

}  // namespace tenter
