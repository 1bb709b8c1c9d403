// x86-64-v3: AVX2, FMA, F16C. Included by simd-inl.hpp.
#pragma once

namespace tenter {
namespace {

template <>
inline bool any<Vec<int64_t>>(Vec<int64_t> mask) {
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
}

template <>
inline Vec<float> multiply_add<float>(Vec<float> x, Vec<float> w, Vec<float> sum) {
  return (Vec<float>)_mm256_fmadd_ps((__m256)x, (__m256)w, (__m256)sum);
}
template <>
inline Vec<double> multiply_add<double>(Vec<double> x, Vec<double> w, Vec<double> sum) {
  return (Vec<double>)_mm256_fmadd_pd((__m256d)x, (__m256d)w, (__m256d)sum);
}

template <>
constexpr bool permutable<float> = true;
template <>
inline Vec<float> permute<float>(Vec<float> a, Places<float> places) {
  return (Vec<float>)_mm256_permutevar8x32_ps((__m256)a, (__m256i)places.at);  // uses the low bits of a place
}
template <>
inline Vec<float> permute<float>(Vec<float> a, Vec<float> b, Places<float> places) {
  return places.at < lanes<float> ? permute<float>(a, places) : permute<float>(b, places);
}

// Of doubles, both halves: no instruction permutes 64 bits by variable places.
template <>
constexpr bool permutable<double> = true;
inline Vec<double> permute_halves(Vec<double> a, Places<double> places) {
  const __m256i twice = _mm256_shuffle_epi32((__m256i)(places.at + places.at), 0b10100000);
  const __m256i halves = _mm256_or_si256(twice, _mm256_set1_epi64x(int64_t(1) << 32));
  return (Vec<double>)_mm256_permutevar8x32_ps((__m256)a, halves);
}
template <>
inline Vec<double> permute<double>(Vec<double> a, Places<double> places) {
  return permute_halves(a, places);
}
template <>
inline Vec<double> permute<double>(Vec<double> a, Vec<double> b, Places<double> places) {
  return places.at < lanes<double> ? permute_halves(a, places) : permute_halves(b, places);
}

template <>
inline Vec<uint8_t> shuffle_bytes<Vec<uint8_t>>(Vec<uint8_t> bytes, Vec<uint8_t> index) {
  return (Vec<uint8_t>)_mm256_shuffle_epi8((__m256i)bytes, (__m256i)index);
}

#if !defined(TENTER_VERIFY)
template <>
inline void stream_bits<Vec<int64_t>>(void* p, Vec<int64_t> v) {
  _mm256_stream_si256((__m256i*)p, (__m256i)v);
}
#endif

#if !defined(TENTER_VERIFY)  // sanitizers do not see these loads
template <>
inline VecN<uint32_t, 8> load_few<VecN<uint32_t, 8>>(const char* p, int64_t n) {
  const VecN<int32_t, 8> lane{0, 1, 2, 3, 4, 5, 6, 7};
  return (VecN<uint32_t, 8>)_mm256_maskload_epi32((const int*)p, (__m256i)(lane < int32_t(n)));
}
template <>
inline VecN<uint64_t, 4> load_few<VecN<uint64_t, 4>>(const char* p, int64_t n) {
  const VecN<int64_t, 4> lane{0, 1, 2, 3};
  return (VecN<uint64_t, 4>)_mm256_maskload_epi64((const long long*)p, (__m256i)(lane < n));
}
#endif

template <>
constexpr bool widens<f16> = true;
template <>
constexpr bool widens<uint8_t> = true;
template <>
constexpr bool widens<uint16_t> = true;
template <>
constexpr bool widens<int16_t> = true;
template <>
inline Vec<float> widen<f16>(const void* p) {
  return (Vec<float>)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
}
template <>
inline Vec<float> widen<uint8_t>(const void* p) {
  return (Vec<float>)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)));
}
template <>
inline Vec<float> widen<uint16_t>(const void* p) {
  return (Vec<float>)_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)));
}
template <>
inline Vec<float> widen<int16_t>(const void* p) {
  return (Vec<float>)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i*)p)));
}

template <>
constexpr bool narrows<f16> = true;
template <>
constexpr bool narrows<uint8_t> = true;
template <>
constexpr bool narrows<uint16_t> = true;
template <>
constexpr bool narrows<int16_t> = true;
template <>
inline void narrow<f16>(void* p, Vec<float> v) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph((__m256)v, 0));
}
// Whole numbers from lo to hi. max gives its second operand for a NaN.
inline __m256i clamped(Vec<float> v, float lo, float hi) {
  return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps((__m256)v, _mm256_set1_ps(lo)), _mm256_set1_ps(hi)));
}
template <>
inline void narrow<uint8_t>(void* p, Vec<float> v) {
  const __m256i i = clamped(v, 0, 255);
  const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
  _mm_storel_epi64((__m128i*)p, _mm_packus_epi16(words, words));
}
template <>
inline void narrow<uint16_t>(void* p, Vec<float> v) {
  const __m256i i = clamped(v, 0, 65535);
  _mm_storeu_si128((__m128i*)p, _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1)));
}
template <>
inline void narrow<int16_t>(void* p, Vec<float> v) {
  const __m256i i = clamped(v, -32768, 32767);
  _mm_storeu_si128((__m128i*)p, _mm_packs_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1)));
}

}  // namespace
}  // namespace tenter
