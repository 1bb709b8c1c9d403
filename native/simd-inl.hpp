// Vectors of an instruction set's width, and what each set has an instruction for, by name.
//
// Files named -inl.hpp are compiled once for each instruction set (level.cpp), so all they define lies in an unnamed
// namespace: were two sets to share an inline function, the linker would keep one of them, perhaps with instructions
// that the machine lacks. What is generic stands here as a template; simd-SET-inl.hpp specializes it.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenter {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

template <class T>
constexpr int lanes = vector_bytes / int(sizeof(T));
template <class T, int N>
struct VecOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using VecN = typename VecOf<T, N>::type;
template <class T>
using Vec = VecN<T, lanes<T>>;

template <int N>
using Unsigned = std::conditional_t<
    N == 1, uint8_t, std::conditional_t<N == 2, uint16_t, std::conditional_t<N == 4, uint32_t, uint64_t>>>;  // N bytes
template <class T>
using Index = Vec<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;  // lanes of a Vec<T>

template <class V>
inline V load_bits(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
inline void store_bits(void* p, V v) {
  std::memcpy(p, &v, sizeof v);
}
template <class T>
inline Vec<T> splat(T value) {
  return value - Vec<T>{};
}

// ---- What instruction sets differ in.

// Is any lane of a comparison true?
template <class V>
inline bool any(V mask) {
  static_assert(sizeof(V) == vector_bytes);
  const auto words = (Vec<int64_t>)mask;
  int64_t bits = 0;
  for (int l = 0; l < lanes<int64_t>; ++l) bits |= words[l];
  return bits != 0;
}

// sum + x * w, fused where the set has it. Contraction is off (CMakeLists.txt), so this alone decides the rounding, and
// a value comes out the same whichever loop computes it.
template <class T>
inline Vec<T> multiply_add(Vec<T> x, Vec<T> w, Vec<T> sum) {
  return sum + x * w;
}
#if defined(__FMA__)
constexpr bool fused = true;
#else
constexpr bool fused = false;
#endif

// Lane l gets value index[l] of a; of a and b one after another. Only where `permutable`.
template <class T>
constexpr bool permutable = false;
template <class T>
inline Vec<T> permute(Vec<T> a, Index<T> index) {
  return (void)index, a;
}
template <class T>
inline Vec<T> permute(Vec<T> a, Vec<T> b, Index<T> index) {
  return (void)index, (void)b, a;
}

// Stores past the caches, to addresses that are whole vectors, and their fence. Without them: ordinary stores, as in
// sanitized builds, since sanitizers do not see what these intrinsics write.
constexpr bool streams =
#if defined(__SSE2__)
    true;
#else
    false;
#endif
template <class V>
inline void stream_bits(void* p, V v) {
  store_bits(p, v);
}
inline void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// Half precision, 8 and 16 bits to float and back; where there is no instruction for it, in steps (convert-inl.hpp).
template <class T>
constexpr bool widens = false;  // has the set widen<T>?
template <class T>
inline Vec<float> widen(const void* p);
template <class T>
constexpr bool narrows = false;  // has the set narrow<T>, which rounds half to even and saturates?
template <class T>
inline void narrow(void* p, Vec<float> v);
template <class T>
constexpr bool truncates = false;  // has the set truncate<T>, the low bits of each lane?
template <class T>
inline void truncate(void* p, Vec<int32_t> v);

}  // namespace
}  // namespace tenter

#if defined(__AVX512F__)
#include "simd-avx512-inl.hpp"
#elif defined(__AVX2__)
#include "simd-avx2-inl.hpp"
#elif defined(__SSE2__)
#include "simd-sse2-inl.hpp"
#endif
