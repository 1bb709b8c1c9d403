// Rows of results as normalized floats.
#pragma once
#include "kernels/normalize.hpp"
#include "levels/convert-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// x / d as a division rounds it, from two floats whose sum is 1 / d. It holds for all but few x and d (N. Brisebarre,
// J.-M. Muller and S. Raina, "Accelerating correctly rounded floating-point division when the divisor is known in
// advance", 2004); callers have tried all their x.
inline Vec<float> quotient(Vec<float> x, float inverse, float rest) {
  return multiply_add<float>(x, inverse, x * splat(rest));
}

// In: uint8_t or float. divides: whether to divide by std rather than to multiply by its inverse.
template <class In, bool divides>
inline Vec<float> normalized(Vec<float> x, const Normalized& by) {
  constexpr float inverse = 1.0f / 255, rest = float(1.0 / 255 - double(inverse));
  if constexpr (std::is_same_v<In, uint8_t>) x = divides ? x / splat(255.0f) : quotient(x, inverse, rest);
  x -= splat(by.mean);
  return divides ? x / splat(by.std) : quotient(x, by.inverse, by.rest);
}

// by: a copy, as the compiler would read a reference again after every store.
template <class In, bool divides>
void normalize_values(const In* src, float* dst, int64_t n, const Normalized by) {
  constexpr int N = lanes<float>;
  int64_t j = 0;
  for (; j + N <= n; j += N) store_bits(dst + j, normalized<In, divides>(load<float, In>(src + j), by));
  if (j < n)
    store_masked<float, float>(dst + j, normalized<In, divides>(load_masked<float, In>(src + j, n - j), by), n - j);
}
template <class In>
void normalize_values(const In* src, float* dst, int64_t n, const Normalized& by) {
  if (!fused || by.inverse == 0) normalize_values<In, true>(src, dst, n, by);
  else normalize_values<In, false>(src, dst, n, by);
}

// Channel c of 16 pixels of C bytes each. Reads no more than these.
template <int C, int c>
inline Sixteen channel(const uint8_t* p) {
  typedef VecN<uint8_t, 32> Thirty;
  const auto a = load_unaligned<Thirty>(p), b = load_unaligned<Thirty>(p + (C - 2) * 16);
  return [&]<int... k>(std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(a, b, (C * k + c < 32 ? C * k + c : C * k + c - (C - 2) * 16 + 32)...);
  }(std::make_integer_sequence<int, 16>{});
}
// Channel c of as many pixels of three floats as a vector has lanes, which is a power of two. So each lane has a value
// of this channel in one of the three vectors: in `vector_with`.
template <int c>
constexpr int vector_with(int lane) {
  int at = c;
  while (at % lanes<float> != lane) at += 3;
  return at / lanes<float>;
}
template <int c>
inline Vec<float> channel_of_three(const float* p) {
  constexpr int N = lanes<float>;
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    auto found = load_unaligned<Vec<float>>(p);
    found = __builtin_shufflevector(found, load_unaligned<Vec<float>>(p + N), (vector_with<c>(l) == 1 ? N + l : l)...);
    found =
        __builtin_shufflevector(found, load_unaligned<Vec<float>>(p + 2 * N), (vector_with<c>(l) == 2 ? N + l : l)...);
    return __builtin_shufflevector(found, found, ((3 * l + c) % N)...);
  }(std::make_integer_sequence<int, N>{});
}
// Channels of n pixels of C values, `pitch` values apart.
template <int C, class In>
inline void split_pixels(const In* src, In* dst, int64_t pitch, int64_t n) {
  int64_t j = 0;
  if constexpr (std::is_same_v<In, uint8_t> && C > 1)
    for (; j + 16 <= n; j += 16)
      [&]<int... c>(std::integer_sequence<int, c...>) {
        (store_bits(dst + c * pitch + j, channel<C, c>(src + j * C)), ...);
      }(std::make_integer_sequence<int, C>{});
  else if constexpr (std::is_same_v<In, float> && C == 3)
    for (; j + lanes<float> <= n; j += lanes<float>)
      [&]<int... c>(std::integer_sequence<int, c...>) {
        (store_bits(dst + c * pitch + j, channel_of_three<c>(src + j * C)), ...);
      }(std::make_integer_sequence<int, C>{});
  for (; j < n; ++j)
    for (int c = 0; c < C; ++c) dst[c * pitch + j] = src[j * C + c];
}

// A row of n pixels of C values, channels `pitch` floats apart.
template <int C, class In>
void normalize_pixels(const In* src, float* dst, int64_t pitch, int64_t n, const Normalized* each) {
  constexpr int64_t most = 256;
  In values[C * most];
  for (int64_t j = 0, size; j < n; j += size) {
    size = std::min(most, n - j);
    split_pixels<C>(src + j * C, values, most, size);
    for (int c = 0; c < C; ++c) normalize_values(values + c * most, dst + c * pitch + j, size, each[c]);
  }
}

// A row of pixels, whose channels go to planes.
template <class In>
void store_pixels(const FloatRows& to, const In* made, int64_t row) {
  const int64_t plane = to.rows * to.columns;
  float* const dst = to.dst + row / to.rows * to.channels * plane + row % to.rows * to.columns;
  const bool few = with_constant<1, 2, 3, 4>(
      to.channels, [&]<int C>() { normalize_pixels<C>(made, dst, plane, to.columns, to.each); });
  for (int64_t c = 0; c < to.channels && !few; ++c)
    for (int64_t k = 0; k < to.columns; ++k)
      normalize_values(made + k * to.channels + c, dst + c * plane + k, 1, to.each[c]);
}

// Rows [lo, hi) of the result, which were made in `made`.
template <class In>
void store_floats(const FloatRows& to, const In* made, int64_t lo, int64_t hi) {
  for (int64_t n; lo < hi; lo += n, made += n * to.width()) {
    n = to.interleaved ? 1 : std::min(hi - lo, to.rows - lo % to.rows);  // rows of a plane are adjacent
    if (to.interleaved) store_pixels(to, made, lo);
    else normalize_values(made, to.dst + lo * to.columns, n * to.columns, to.each[lo / to.rows % to.channels]);
  }
}

inline void store_rows(const FloatRows& to, Dtype dtype, const void* made, int64_t lo, int64_t hi) {
  if (dtype == Dtype::u8) store_floats(to, static_cast<const uint8_t*>(made), lo, hi);
  else store_floats(to, static_cast<const float*>(made), lo, hi);
}

inline void normalize(const NormalizeTask& t, int threads) {
  if (t.dtype != Dtype::u8 && t.dtype != Dtype::f32) no_kernel("no images of this dtype");
  const int64_t width = t.to.width(), some = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, width));
  const int64_t size = t.dtype == Dtype::u8 ? 1 : sizeof(float);
  parallel(ceil_div(t.n_rows, some), team_for(4 * t.n_rows * width, threads), [&](int64_t p) {
    const char* const from = static_cast<const char*>(t.src) + p * some * width * size;
    store_rows(t.to, t.dtype, from, p * some, std::min(t.n_rows, (p + 1) * some));
  });
}

}  // namespace
}  // namespace tenter
