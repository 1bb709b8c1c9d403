// Sums of bytes times weights of 22 bits, a group of adjacent inputs at a time. Integer sums are exact, so tiles,
// threads and instruction sets change no bit, and missing taps can have a weight of zero.
#pragma once
#include <algorithm>
#include <utility>

#include "levels/convert-inl.hpp"
#include "rules/bytes.hpp"

namespace tenter {
namespace {

constexpr int rows_at_once = lanes<int32_t>;
typedef Vec<int32_t> Words;
typedef Vec<uint8_t> Bytes;

#if defined(__AVX512VNNI__) || defined(__ARM_FEATURE_MATMUL_INT8)
constexpr WeightForm weight_form = WeightForm::pieces;
#elif defined(__SSE2__)
constexpr WeightForm weight_form = WeightForm::halves;
#else
constexpr WeightForm weight_form = WeightForm::whole;
#endif
constexpr int weight_words = words_of(weight_form), group_taps = taps_of(weight_form);

// Bytes of one or two vectors, chosen by a constant function of their place.
template <class F, int... i>
inline Bytes shuffled(Bytes a, Bytes b, F, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, F{}(i)...);
}
template <class F>
inline Bytes shuffled(Bytes a, Bytes b, F f) {
  return shuffled(a, b, f, std::make_integer_sequence<int, vector_bytes>{});
}

#if defined(__SSE2__)
// x0 * w0 + x1 * w1 for the even and the odd 16-bit parts of each lane.
inline Words multiply_pairs(Words x, Words w) {
#if defined(__AVX512BW__)
  return (Words)_mm512_madd_epi16((__m512i)x, (__m512i)w);
#elif defined(__AVX2__)
  return (Words)_mm256_madd_epi16((__m256i)x, (__m256i)w);
#else
  return (Words)_mm_madd_epi16((__m128i)x, (__m128i)w);
#endif
}
#endif

struct Sums {
  Words part[weight_form == WeightForm::pieces ? 3 : weight_form == WeightForm::halves ? 2 : 1];
};
// x: a group in each lane, of bytes or 16-bit halves.
inline void add_group(Sums& s, Words x, const int32_t* w) {
#if defined(__AVX512VNNI__)
  for (int p = 0; p < 3; ++p)
    s.part[p] = (Words)_mm512_dpbusd_epi32((__m512i)s.part[p], (__m512i)x, _mm512_set1_epi32(w[p]));
#elif defined(__ARM_FEATURE_MATMUL_INT8)
  const auto pieces = load_unaligned<int8x16_t>(w);
  s.part[0] = (Words)vusdotq_laneq_s32((int32x4_t)s.part[0], (uint8x16_t)x, pieces, 0);
  s.part[1] = (Words)vusdotq_laneq_s32((int32x4_t)s.part[1], (uint8x16_t)x, pieces, 1);
  s.part[2] = (Words)vusdotq_laneq_s32((int32x4_t)s.part[2], (uint8x16_t)x, pieces, 2);
#elif defined(__SSE2__)
  for (int p = 0; p < 2; ++p) s.part[p] += multiply_pairs(x, splat(w[p]));
#else
  const auto u = (Vec<uint32_t>)x;
  s.part[0] +=
      (Words)(u & 255) * w[0] + (Words)(u >> 8 & 255) * w[1] + (Words)(u >> 16 & 255) * w[2] + (Words)(u >> 24) * w[3];
#endif
}
// A sum plus a half, shifted down. Partial sums may wrap; their total does not.
inline Words total(const Sums& s) {
  typedef Vec<uint32_t> U;
  U sum = (U)s.part[0];
  if constexpr (weight_form == WeightForm::pieces) sum += ((U)s.part[1] << 8) + ((U)s.part[2] << 16);
  if constexpr (weight_form == WeightForm::halves) sum += (U)s.part[1] << 11;
  return (Words)(sum + (1u << (weight_bits - 1))) >> weight_bits;
}

// A vector in a register. GCC makes its load a part of each instruction that uses it.
inline Words in_register(Words x) {
#if defined(__SSE2__)
  asm("" : "+v"(x));
#endif
  return x;
}

// The sums of n vectors. inputs(g, x) stores group g of each to x. `each` vectors share the weights of an output.
template <int n, int each, class F>
TENTER_ALWAYS_INLINE void sum_groups(int64_t groups, const int32_t* const* w, F&& inputs, Words* found) {
  Sums s[n];
  Words x[n];
  // GCC clears arrays of vectors by `rep stos`, which takes longer than the sums of a few taps.
  for (Sums& sum : s)
    for (Words& part : sum.part) part = Words{};
#pragma GCC unroll 1  // else GCC adds all products of an output at last, and spills them
  for (int64_t g = 0; g < groups; ++g) {
    inputs(g, x);
    // If few vectors share weights, sums wait for loads.
    for (int i = 0; i < n; ++i) add_group(s[i], each < 3 ? in_register(x[i]) : x[i], w[i / each] + g * weight_words);
  }
  for (int i = 0; i < n; ++i) found[i] = total(s[i]);
}

// Narrows four vectors of small integers to 8 bits. Within each 16 bytes, the values of a come before those of b, c and
// d.
inline Bytes narrowed(Words a, Words b, Words c, Words d) {
#if defined(__AVX512BW__)
  return (Bytes)_mm512_packus_epi16(_mm512_packs_epi32((__m512i)a, (__m512i)b),
                                    _mm512_packs_epi32((__m512i)c, (__m512i)d));
#elif defined(__AVX2__)
  return (Bytes)_mm256_packus_epi16(_mm256_packs_epi32((__m256i)a, (__m256i)b),
                                    _mm256_packs_epi32((__m256i)c, (__m256i)d));
#elif defined(__SSE2__)
  return (Bytes)_mm_packus_epi16(_mm_packs_epi32((__m128i)a, (__m128i)b), _mm_packs_epi32((__m128i)c, (__m128i)d));
#elif defined(TENTER_NEON)
  const int16x8_t low = vcombine_s16(vqmovn_s32((int32x4_t)a), vqmovn_s32((int32x4_t)b));
  const int16x8_t high = vcombine_s16(vqmovn_s32((int32x4_t)c), vqmovn_s32((int32x4_t)d));
  return (Bytes)vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
#else
  auto cut = [](Words v) {
    v = v < 0 ? Words{} : v;
    return (Bytes)(v > 255 ? splat(255) : v);
  };
  auto pair = [](int i) { return i / 2 * 4 + i % 2; };
  const Bytes low = shuffled(cut(a), cut(b), pair), high = shuffled(cut(c), cut(d), pair);
  return shuffled(low, high, [](int i) { return 2 * i; });
#endif
}

}  // namespace
}  // namespace tenter
