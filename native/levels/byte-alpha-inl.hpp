// Premultiplies 8-bit colors by alpha, and divides by it, as Pillow does: products are rounded to 255ths, quotients are
// truncated.
#pragma once
#include "levels/tap-groups-inl.hpp"

namespace tenter {
namespace {

inline Vec<uint16_t> by_255ths(Vec<uint16_t> a, Vec<uint16_t> b) {
  const Vec<uint16_t> product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}
template <int C>
inline Bytes multiply_alpha(Bytes x) {
  typedef Vec<uint16_t> H;
  const H even = (H)x & 0xff, odd = (H)x >> 8;
  if constexpr (C == 2) return (Bytes)(by_255ths(even, odd) | odd << 8);
  typedef Vec<uint32_t> U;
  const U alpha = (U)x >> 24;
  return (Bytes)(by_255ths(even, (H)(alpha | alpha << 16)) | by_255ths(odd, (H)(alpha | 255u << 16)) << 8);
}

template <int C>
void divide_alpha(uint8_t* p, int64_t n_pixels) {
  typedef VecN<std::conditional_t<C == 4, uint32_t, uint16_t>, lanes<int32_t>> Pixels;
  auto divided = [](Pixels pixels) {
    const Words x = __builtin_convertvector(pixels, Words), alpha = (Words)((Vec<uint32_t>)x >> (C == 4 ? 24 : 8));
    const Vec<float> divisor = __builtin_convertvector(alpha, Vec<float>);
    Words result = alpha << (C == 4 ? 24 : 8);
    for (int c = 0; c < C - 1; ++c) {
      const Words color = x >> (8 * c) & 255;
      // A float32 quotient is exact enough. The numerator is below 2^16 and the denominator below 2^8, so a quotient is
      // never closer to the next integer than its rounding error.
      Words q = __builtin_convertvector(__builtin_convertvector(color * 255, Vec<float>) / divisor, Words);
      q = q < 255 ? q : splat(255);
      result |= (((alpha == 0) | (alpha == 255)) ? color : q) << (8 * c);
    }
    return __builtin_convertvector(result, Pixels);
  };
  int64_t i = 0;
  for (; i + lanes<int32_t> <= n_pixels; i += lanes<int32_t>)
    store_bits(p + i * C, divided(load_unaligned<Pixels>(p + i * C)));
  if (i == n_pixels) return;
  uint8_t some[sizeof(Pixels)] = {};
  std::memcpy(some, p + i * C, (n_pixels - i) * C);
  store_bits(some, divided(load_unaligned<Pixels>(some)));
  std::memcpy(p + i * C, some, (n_pixels - i) * C);
}
inline void divide_alpha(uint8_t* p, int64_t n_values, int64_t inner) {
  if (inner == 2) divide_alpha<2>(p, n_values / 2);
  else divide_alpha<4>(p, n_values / 4);
}

}  // namespace
}  // namespace tenter
