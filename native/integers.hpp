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

// A value of an array, whose memory need not be aligned: code that reads or writes single values of one does so through
// `Loose<T>*`, as the compiler may trust that a `T*` is aligned.
template <class T>
struct LooseOf {
  typedef T type __attribute__((aligned(1), may_alias));
};
template <class T>
using Loose = typename LooseOf<T>::type;

// The same as load_unaligned, by exactly one load: what is checked is what is used, even if another thread writes there
// meanwhile.
template <class T>
TENTER_ALWAYS_INLINE T load_once(const void* p) {
  T value = load_unaligned<T>(p);
  asm volatile("" : "+r"(value));
  return value;
}

// Calls f<N>() for the one of `constants` that equals n; false if none does.
template <int... constants, class F>
TENTER_ALWAYS_INLINE bool with_constant(int64_t n, F&& f) {
  return ((n == constants && (f.template operator()<constants>(), true)) || ...);
}

}  // namespace tenter
