// x86-64-v4: AVX-512 F, BW, CD, DQ, VL. Included by simd-inl.hpp.
#pragma once

namespace tenter {
namespace {

template <>
inline bool any<Vec<int64_t>>(Vec<int64_t> mask) {
  return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
}

template <>
inline Vec<float> multiply_add<float>(Vec<float> x, Vec<float> w, Vec<float> sum) {
  return (Vec<float>)_mm512_fmadd_ps((__m512)x, (__m512)w, (__m512)sum);
}
template <>
inline Vec<double> multiply_add<double>(Vec<double> x, Vec<double> w, Vec<double> sum) {
  return (Vec<double>)_mm512_fmadd_pd((__m512d)x, (__m512d)w, (__m512d)sum);
}

template <>
constexpr bool permutable<float> = true;
template <>
constexpr bool permutable<double> = true;
template <>
inline Vec<float> permute<float>(Vec<float> a, Places<float> places) {
  return (Vec<float>)_mm512_permutexvar_ps((__m512i)places.at, (__m512)a);
}
template <>
inline Vec<double> permute<double>(Vec<double> a, Places<double> places) {
  return (Vec<double>)_mm512_permutexvar_pd((__m512i)places.at, (__m512d)a);
}
template <>
inline Vec<float> permute<float>(Vec<float> a, Vec<float> b, Places<float> places) {
  return (Vec<float>)_mm512_permutex2var_ps((__m512)a, (__m512i)places.at, (__m512)b);
}
template <>
inline Vec<double> permute<double>(Vec<double> a, Vec<double> b, Places<double> places) {
  return (Vec<double>)_mm512_permutex2var_pd((__m512d)a, (__m512i)places.at, (__m512d)b);
}

template <>
inline Vec<uint8_t> shuffle_bytes<Vec<uint8_t>>(Vec<uint8_t> bytes, Vec<uint8_t> index) {
  return (Vec<uint8_t>)_mm512_shuffle_epi8((__m512i)bytes, (__m512i)index);
}

#if !defined(TENTER_VERIFY)
template <>
inline void stream_bits<Vec<int64_t>>(void* p, Vec<int64_t> v) {
  _mm512_stream_si512((__m512i*)p, (__m512i)v);
}
#endif

#if !defined(TENTER_VERIFY)  // sanitizers do not see these loads
template <>
inline VecN<uint16_t, 16> load_few<VecN<uint16_t, 16>>(const char* p, int64_t n) {
  return (VecN<uint16_t, 16>)_mm256_maskz_loadu_epi16(__mmask16((1u << n) - 1), p);
}
template <>
inline VecN<uint32_t, 8> load_few<VecN<uint32_t, 8>>(const char* p, int64_t n) {
  return (VecN<uint32_t, 8>)_mm256_maskz_loadu_epi32(__mmask8((1u << n) - 1), p);
}
template <>
inline VecN<uint32_t, 16> load_few<VecN<uint32_t, 16>>(const char* p, int64_t n) {
  return (VecN<uint32_t, 16>)_mm512_maskz_loadu_epi32(__mmask16((1u << n) - 1), p);
}
template <>
inline VecN<uint64_t, 8> load_few<VecN<uint64_t, 8>>(const char* p, int64_t n) {
  return (VecN<uint64_t, 8>)_mm512_maskz_loadu_epi64(__mmask8((1u << n) - 1), p);
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
  return (Vec<float>)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
}
template <>
inline Vec<float> widen<uint8_t>(const void* p) {
  return (Vec<float>)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p)));
}
template <>
inline Vec<float> widen<uint16_t>(const void* p) {
  return (Vec<float>)_mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)));
}
template <>
inline Vec<float> widen<int16_t>(const void* p) {
  return (Vec<float>)_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i*)p)));
}

template <>
constexpr bool narrows<f16> = true;
template <>
constexpr bool narrows<uint8_t> = true;
template <>
inline void narrow<f16>(void* p, Vec<float> v) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph((__m512)v, 0));
}
template <>
inline void narrow<uint8_t>(void* p, Vec<float> v) {  // the narrowing instruction saturates at 255
  const __m512i i = _mm512_cvtps_epi32(_mm512_max_ps((__m512)v, _mm512_setzero_ps()));
  _mm_storeu_si128((__m128i*)p, _mm512_cvtusepi32_epi8(i));
}

template <>
constexpr bool truncates<uint8_t> = true;
template <>
constexpr bool truncates<uint16_t> = true;
template <>
inline void truncate<uint8_t>(void* p, Vec<int32_t> v) {
  _mm_storeu_si128((__m128i*)p, _mm512_cvtepi32_epi8((__m512i)v));
}
template <>
inline void truncate<uint16_t>(void* p, Vec<int32_t> v) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16((__m512i)v));
}

}  // namespace
}  // namespace tenter
