// Weights of a filter's taps, a vector of distances at a time.
#pragma once
#include <cstring>

#include "levels/simd-inl.hpp"
#include "rules/filters.hpp"

namespace tenter {
namespace {

void weights(const Filter& filter, const double* distance, int64_t n, double* weight) {
  constexpr int N = lanes<double>;
  with_filter(
      filter,
      [&](auto&& of) __attribute__((always_inline)) {
        int64_t k = 0;
        for (; k + N <= n; k += N) {
          Vec<double> d;
          std::memcpy(&d, distance + k, sizeof d);
          store_bits(weight + k, of(d));
        }
        if (k == n) return;
        Vec<double> d{};
        std::memcpy(&d, distance + k, size_t(n - k) * sizeof *distance);
        d = of(d);
        std::memcpy(weight + k, &d, size_t(n - k) * sizeof *weight);
      },
      [&](auto&& of) {
        for (int64_t k = 0; k < n; ++k) weight[k] = of(distance[k]);
      });
}

// The same at distances that are consecutive multiples of 1 / unit, from the first on. No distance is -0.0.
void line_weights(const Filter& filter, double first, double step, double unit, int64_t n, double* weight) {
  constexpr int N = lanes<double>;
  with_filter(
      filter,
      [&](auto&& of) __attribute__((always_inline)) {
        Vec<double> parts;
        for (int l = 0; l < N; ++l) parts[l] = first + double(l) * step;
        const Vec<double> next = splat(double(N) * step), pixel = splat(unit), none{};
        int64_t k = 0;
        for (; k + N <= n; k += N, parts += next) store_bits(weight + k, of(parts / pixel) + none);
        const Vec<double> last = of(parts / pixel) + none;
        std::memcpy(weight + k, &last, size_t(n - k) * sizeof *weight);
      },
      [&](auto&& of) {
        for (int64_t k = 0; k < n; ++k) weight[k] = of((first + double(k) * step) / unit) + 0.0;
      });
}

}  // namespace
}  // namespace tenter
