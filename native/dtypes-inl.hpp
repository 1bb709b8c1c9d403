// Dtypes as types.
#pragma once
#include "convert-inl.hpp"
#include "kernels.hpp"

namespace tenter {
namespace {

// The dtypes whose sums are in Acc.
template <class... T>
struct Types {};
template <class Acc>
struct SummedIn;
template <>
struct SummedIn<float> {
  typedef Types<float, f16, bf16, uint8_t, int8_t, uint16_t, int16_t> types;
};
template <>
struct SummedIn<double> {
  typedef Types<double, uint32_t, int32_t, uint64_t, int64_t> types;
};
template <>
struct SummedIn<int64_t> {
  typedef Types<int64_t, uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t> types;
};

template <class T>
constexpr Dtype dtype_of = std::is_same_v<T, float>      ? Dtype::f32
                           : std::is_same_v<T, double>   ? Dtype::f64
                           : std::is_same_v<T, f16>      ? Dtype::f16
                           : std::is_same_v<T, bf16>     ? Dtype::bf16
                           : std::is_same_v<T, uint8_t>  ? Dtype::u8
                           : std::is_same_v<T, int8_t>   ? Dtype::i8
                           : std::is_same_v<T, uint16_t> ? Dtype::u16
                           : std::is_same_v<T, int16_t>  ? Dtype::i16
                           : std::is_same_v<T, uint32_t> ? Dtype::u32
                           : std::is_same_v<T, int32_t>  ? Dtype::i32
                           : std::is_same_v<T, uint64_t> ? Dtype::u64
                                                         : Dtype::i64;

}  // namespace
}  // namespace tenter
