// Packs rows of pixels of any stride, mostly the negative stride of a flipped picture, into contiguous memory.
#pragma once
#include <cstring>

#include "levels/simd-inl.hpp"

namespace tenter {
namespace {

// Packs pixels of N contiguous bytes.
template <int N>
inline void pack_pixels_of(const char* src, int64_t stride, char* dst, int64_t n) {
  int64_t i = 0;
  if constexpr (N < 16) {
    typedef VecN<uint8_t, 16> Sixteen;
    constexpr int K = 16 / N;
    // Flips K pixels by one load and one store of 16 bytes. The load ends inside the pixel before them, and
    // the store at places of later pixels, which are written afterwards.
    if (stride == -N && n > 2 * K + 1) {
      std::memcpy(dst, src, N);
      for (i = 1; i + K < n - K; i += K) {
        const auto x = load_unaligned<Sixteen>(src - (i + K - 1) * N);
        const auto flipped = [&]<int... b>(std::integer_sequence<int, b...>) __attribute__((always_inline)) {
          return __builtin_shufflevector(x, x, (b < K * N ? (K - 1 - b / N) * N + b % N : 0)...);
        }(std::make_integer_sequence<int, 16>{});
        store_bits(dst + i * N, flipped);
      }
    }
  }
  for (; i < n; ++i) std::memcpy(dst + i * N, src + i * stride, N);
}

// size: the bytes of a pixel, which are contiguous.
inline void pack_pixels(const char* src, int64_t stride, int64_t size, char* dst, int64_t n) {
  if (stride == size) return void(std::memcpy(dst, src, size_t(n * size)));
  const bool done =
      with_constant<1, 2, 3, 4, 6, 8, 12, 16, 24, 32>(size, [&]<int N>() { pack_pixels_of<N>(src, stride, dst, n); });
  for (int64_t i = 0; i < n && !done; ++i) std::memcpy(dst + i * size, src + i * stride, size_t(size));
}

}  // namespace
}  // namespace tenter
