// Vectors of an instruction set's width, and the operations for which some set has an instruction.
//
// Files named -inl.hpp are compiled once per instruction set (level.cpp). Everything in them is in an unnamed
// namespace: of an inline function that two sets share, the linker would keep one, perhaps with instructions that the
// machine lacks. Generic versions are templates in this file; simd-SET-inl.hpp specializes them.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/dtypes.hpp"
#include "kernels/places.hpp"
#include "system/integers.hpp"

#if defined(TENTER_NEON)
#include <arm_neon.h>
#elif defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <smmintrin.h>  // only up to SSE4.1: the headers of later sets add a third of a second to each compilation
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
inline void store_bits(void* p, V v) {
  std::memcpy(p, &v, sizeof v);
}
// `bytes` bytes as vectors of at most the set's width. On NEON, GCC would build wider vectors from single values.
template <int bytes, class T = uint8_t>
using Part = VecN<T, (bytes < vector_bytes ? bytes : vector_bytes) / int(sizeof(T))>;
template <int bytes, class V>
inline void store_copies(void* p, V v) {
  for (int b = 0; b < bytes; b += int(sizeof v)) std::memcpy(static_cast<char*>(p) + b, &v, sizeof v);
}
template <class T>
inline Vec<T> splat(T value) {
  return value - Vec<T>{};
}

// ---- fewer values than a vector has, with no access past them

// Copies n < `most` bytes, n a multiple of `unit`, in two moves that overlap.
template <int most, int unit>
inline void copy_few(char* to, const char* from, int64_t n) {
  const auto move = [&]<class T>(T first) {
    first = load_unaligned<T>(from);
    const T last = load_unaligned<T>(from + n - int64_t(sizeof(T)));
    store_bits(to, first), store_bits(to + n - int64_t(sizeof(T)), last);
  };
  if (most > 32 && n >= 32) move(VecN<uint8_t, 32>{});
  else if (most > 16 && n >= 16) move(VecN<uint8_t, 16>{});
  else if (most > 8 && n >= 8) move(uint64_t{});
  else if (most > 4 && unit < 8 && n >= 4) move(uint32_t{});
  else if (most > 2 && unit < 4 && n >= 2) move(uint16_t{});
  else if (unit < 2 && n > 0) move(uint8_t{});
}

// The n < 8 bytes at p as the low bytes of a word, n a multiple of `unit`.
template <int unit>
inline uint64_t low_bytes(const char* p, int64_t n) {
  const auto word = [&]<class T>(T first) {
    first = load_unaligned<T>(p);
    return uint64_t(first) | uint64_t(load_unaligned<T>(p + n - int64_t(sizeof(T)))) << 8 * (n - int64_t(sizeof(T)));
  };
  if (n >= 4) return word(uint32_t{});
  if (unit < 4 && n >= 2) return word(uint16_t{});
  return unit < 2 && n > 0 ? uint8_t(*p) : 0;
}

// A vector of the n values at p, fewer than it has, and zeros. It isn't put together in memory: a load of smaller
// stores waits until these have left the processor.
template <class V>
inline V load_few(const char* p, int64_t n) {
  constexpr int unit = sizeof(V{}[0]), most = sizeof(V);
  n *= unit;
  V v{};
  if constexpr (most <= 8) {
    const uint64_t low = low_bytes<unit>(p, n);
    std::memcpy(&v, &low, most);
  } else if constexpr (most == 16) {
    typedef VecN<uint64_t, 2> Words;
    if (n < 8) v = (V)Words{low_bytes<unit>(p, n), 0};
    else v = (V)Words{load_unaligned<uint64_t>(p), load_unaligned<uint64_t>(p + n - 8) >> 8 * (15 - n) >> 8};
  } else {
    std::memcpy(&v, p, n);
  }
  return v;
}

// ---- operations that instruction sets specialize

// Whether any lane of a comparison is true.
template <class V>
inline bool any(V mask) {
  static_assert(sizeof(V) == vector_bytes);
  const auto words = (Vec<int64_t>)mask;
  int64_t bits = 0;
  for (int l = 0; l < lanes<int64_t>; ++l) bits |= words[l];
  return bits != 0;
}

// sum + x * w, fused where the set has an instruction for it. Contraction is off (CMakeLists.txt), so this function
// alone decides the rounding: every loop gives the same value.
template <class T>
inline Vec<T> multiply_add(Vec<T> x, Vec<T> w, Vec<T> sum) {
  return sum + x * w;
}
#if defined(__FMA__) || defined(TENTER_NEON)
constexpr bool fused = true;
#else
constexpr bool fused = false;
#endif

// How permutations address values (kernels/places.hpp). A type of its own: on x86-64 plain numbers would work too, and
// no test there would find the difference.
template <class T>
struct Places {
  Index<T> at;
};
// Makes places from numbers of values, and moves places further.
template <class T>
inline Places<T> places(Index<T> numbers) {
  typedef std::remove_reference_t<decltype(numbers[0])> I;
  return {numbers * place_step<I> + first_place<I>};
}
template <class T>
inline Places<T> moved(Places<T> places, int64_t by) {
  typedef std::remove_reference_t<decltype(places.at[0])> I;
  return {places.at + I(uint64_t(by) * uint64_t(place_step<I>))};
}
// Lane l gets the value at places[l] of a, or of a and b concatenated. Only where `permutable`.
template <class T>
constexpr bool permutable = false;
template <class T>
inline Vec<T> permute(Vec<T> a, Places<T> places) {
  return (void)places, a;
}
template <class T>
inline Vec<T> permute(Vec<T> a, Vec<T> b, Places<T> places) {
  return (void)places, (void)b, a;
}

// The same for 16 bytes, by numbers below 16 or 32. Only if `permutable<uint8_t>`.
typedef VecN<uint8_t, 16> Sixteen;
template <class V>
inline V permute_bytes(V a, V numbers) {
  return (void)numbers, a;
}
template <class V>
inline V permute_bytes(V a, V b, V numbers) {
  return (void)numbers, (void)b, a;
}
#if defined(__SSSE3__)  // a number with its upper bit set gives 0
template <>
constexpr bool permutable<uint8_t> = true;
template <>
inline Sixteen permute_bytes<Sixteen>(Sixteen a, Sixteen numbers) {
  return (Sixteen)_mm_shuffle_epi8((__m128i)a, (__m128i)numbers);
}
template <>
inline Sixteen permute_bytes<Sixteen>(Sixteen a, Sixteen b, Sixteen numbers) {
  const Sixteen low = permute_bytes(a, numbers + uint8_t(0x70)), high = permute_bytes(b, numbers - uint8_t(16));
  return numbers < 16 ? low : high;
}
#endif

// Byte l of each 16 gets byte index[l] of the same 16; indices are below 16.
constexpr bool shuffles_bytes =
#if defined(__SSSE3__)
    true;
#else
    false;
#endif
template <class V>
inline V shuffle_bytes(V bytes, V index) {
  return (void)index, bytes;
}

// Streaming (non-temporal) stores, to addresses aligned to a vector, and their fence. Ordinary stores where the set has
// none, and in sanitized builds, since sanitizers do not see what these intrinsics write.
constexpr bool can_stream =
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

// Conversions of half precision, 8-bit and 16-bit values to float and back. convert-inl.hpp has generic code for sets
// without them.
template <class T>
constexpr bool widens = false;  // whether the set has widen<T>
template <class T>
inline Vec<float> widen(const void* p);
template <class T>
constexpr bool narrows = false;  // whether the set has narrow<T>, which rounds half to even and saturates
template <class T>
inline void narrow(void* p, Vec<float> v);
template <class T>
constexpr bool truncates = false;  // whether the set has truncate<T>: the low bits of each lane
template <class T>
inline void truncate(void* p, Vec<int32_t> v);

}  // namespace
}  // namespace tenter

#if defined(TENTER_NEON)
#include "levels/simd-neon-inl.hpp"
#elif defined(__AVX512F__)
#include "levels/simd-avx512-inl.hpp"
#elif defined(__AVX2__)
#include "levels/simd-avx2-inl.hpp"
#elif defined(__SSE2__)
#include "levels/simd-sse2-inl.hpp"
#endif
