// AArch64's NEON, and what came with FEAT_BF16. Included by simd-inl.hpp.
#pragma once

namespace tenter {
namespace {

template <>
inline bool any<Vec<int64_t>>(Vec<int64_t> mask) {
  return vmaxvq_u32((uint32x4_t)mask) != 0;
}

template <>
inline Vec<float> multiply_add<float>(Vec<float> x, Vec<float> w, Vec<float> sum) {
  return (Vec<float>)vfmaq_f32((float32x4_t)sum, (float32x4_t)x, (float32x4_t)w);
}
template <>
inline Vec<double> multiply_add<double>(Vec<double> x, Vec<double> w, Vec<double> sum) {
  return (Vec<double>)vfmaq_f64((float64x2_t)sum, (float64x2_t)x, (float64x2_t)w);
}

template <>
inline Sixteen permute_bytes<Sixteen>(Sixteen a, Sixteen numbers) {
  return (Sixteen)vqtbl1q_u8((uint8x16_t)a, (uint8x16_t)numbers);
}
template <>
inline Sixteen permute_bytes<Sixteen>(Sixteen a, Sixteen b, Sixteen numbers) {
  return (Sixteen)vqtbl2q_u8({{(uint8x16_t)a, (uint8x16_t)b}}, (uint8x16_t)numbers);
}
template <>
constexpr bool permutable<uint8_t> = true;
template <>
constexpr bool permutable<float> = true;
template <>
constexpr bool permutable<double> = true;
template <>
inline Vec<float> permute<float>(Vec<float> a, Places<float> places) {
  return (Vec<float>)permute_bytes((Sixteen)a, (Sixteen)places.at);
}
template <>
inline Vec<double> permute<double>(Vec<double> a, Places<double> places) {
  return (Vec<double>)permute_bytes((Sixteen)a, (Sixteen)places.at);
}
template <>
inline Vec<float> permute<float>(Vec<float> a, Vec<float> b, Places<float> places) {
  return (Vec<float>)permute_bytes((Sixteen)a, (Sixteen)b, (Sixteen)places.at);
}
template <>
inline Vec<double> permute<double>(Vec<double> a, Vec<double> b, Places<double> places) {
  return (Vec<double>)permute_bytes((Sixteen)a, (Sixteen)b, (Sixteen)places.at);
}

template <>
constexpr bool widens<f16> = true;
template <>
constexpr bool widens<uint8_t> = true;
template <>
constexpr bool widens<uint16_t> = true;
template <>
inline Vec<float> widen<f16>(const void* p) {
  return (Vec<float>)vcvt_f32_f16(load_unaligned<float16x4_t>(p));
}
template <>
inline Vec<float> widen<uint8_t>(const void* p) {
  const uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(load_unaligned<uint32_t>(p)));
  return (Vec<float>)vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
}
template <>
inline Vec<float> widen<uint16_t>(const void* p) {
  return (Vec<float>)vcvtq_f32_u32(vmovl_u16(load_unaligned<uint16x4_t>(p)));
}

template <>
constexpr bool narrows<f16> = true;
template <>
constexpr bool narrows<uint8_t> = true;
template <>
constexpr bool narrows<uint16_t> = true;
template <>
inline void narrow<f16>(void* p, Vec<float> v) {
  store_bits(p, vcvt_f16_f32((float32x4_t)v));
}
template <>
inline void narrow<uint16_t>(void* p, Vec<float> v) {  // a NaN becomes 0
  store_bits(p, vqmovn_u32(vcvtnq_u32_f32((float32x4_t)v)));
}
template <>
inline void narrow<uint8_t>(void* p, Vec<float> v) {
  const uint16x4_t words = vqmovn_u32(vcvtnq_u32_f32((float32x4_t)v));
  store_bits(p, vget_lane_u32(vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(words, words))), 0));
}
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
template <>
constexpr bool narrows<bf16> = true;
template <>
inline void narrow<bf16>(void* p, Vec<float> v) {
  store_bits(p, vcvt_bf16_f32((float32x4_t)v));
}
#endif

template <>
constexpr bool truncates<uint8_t> = true;
template <>
constexpr bool truncates<uint16_t> = true;
template <>
inline void truncate<uint8_t>(void* p, Vec<int32_t> v) {
  const uint16x4_t words = vmovn_u32((uint32x4_t)v);
  store_bits(p, vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0));
}
template <>
inline void truncate<uint16_t>(void* p, Vec<int32_t> v) {
  store_bits(p, vmovn_u32((uint32x4_t)v));
}

}  // namespace
}  // namespace tenter
