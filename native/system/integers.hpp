// Integer arithmetic, unaligned loads, and constants from run-time values. Always inlined: files compiled for different
// instruction sets must share no function (simd-inl.hpp).
#pragma once
#include <cstdint>
#include <cstring>

#define TENTER_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace tenter {

TENTER_ALWAYS_INLINE constexpr int64_t ceil_div(int64_t n, int64_t size) { return (n + size - 1) / size; }
TENTER_ALWAYS_INLINE constexpr int64_t round_up(int64_t n, int64_t multiple) {
  return ceil_div(n, multiple) * multiple;
}

template <class T>
TENTER_ALWAYS_INLINE T load_unaligned(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Loose<T> is T without its alignment. Arrays of callers need not be aligned, and the compiler may assume that a `T*`
// is. Code that reads or writes single values of such an array therefore uses `Loose<T>*`.
template <class T>
struct LooseOf {
  typedef T type __attribute__((aligned(1), may_alias));
};
template <class T>
using Loose = typename LooseOf<T>::type;

// Like load_unaligned, but by exactly one load. The value that is checked is then the value that is used, even if
// another thread writes to the memory in between.
template <class T>
TENTER_ALWAYS_INLINE T load_once(const void* p) {
  T value = load_unaligned<T>(p);
  asm volatile("" : "+r"(value));
  return value;
}

// Calls f<N>() with the N among `constants` that equals n. Returns false if there is none.
template <int... constants, class F>
TENTER_ALWAYS_INLINE bool with_constant(int64_t n, F&& f) {
  return ((n == constants && (f.template operator()<constants>(), true)) || ...);
}

}  // namespace tenter
