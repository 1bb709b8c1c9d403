// Weights of a filter's taps, a vector of distances at a time.
#pragma once
#include <cstring>

#include "filters.hpp"
#include "simd-inl.hpp"

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

}  // namespace
}  // namespace tenter
