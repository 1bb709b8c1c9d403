// x86-64 and x86-64-v2. Included by simd-inl.hpp.
#pragma once

namespace tenter {
namespace {

#if defined(__SSSE3__)
template <>
inline Vec<uint8_t> shuffle_bytes<Vec<uint8_t>>(Vec<uint8_t> bytes, Vec<uint8_t> index) {
  return (Vec<uint8_t>)_mm_shuffle_epi8((__m128i)bytes, (__m128i)index);
}
#endif

#if !defined(TENTER_VERIFY)
template <>
inline void stream_bits<Vec<int64_t>>(void* p, Vec<int64_t> v) {
  _mm_stream_si128((__m128i*)p, (__m128i)v);
}
#endif

template <>
constexpr bool widens<uint8_t> = true;
template <>
constexpr bool narrows<uint8_t> = true;
template <>
inline Vec<float> widen<uint8_t>(const void* p) {
  const __m128i zero = _mm_setzero_si128(), bytes = _mm_cvtsi32_si128(load_unaligned<int32_t>(p));
  return (Vec<float>)_mm_cvtepi32_ps(_mm_unpacklo_epi16(_mm_unpacklo_epi8(bytes, zero), zero));
}
template <>
inline void narrow<uint8_t>(void* p, Vec<float> v) {  // max gives its second operand for a NaN
  const __m128i i = _mm_cvtps_epi32(_mm_min_ps(_mm_max_ps((__m128)v, _mm_setzero_ps()), _mm_set1_ps(255)));
  const __m128i words = _mm_packs_epi32(i, i);
  store_bits(p, _mm_cvtsi128_si32(_mm_packus_epi16(words, words)));
}

}  // namespace
}  // namespace tenter
