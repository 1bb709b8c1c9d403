// Sums of rows with very many taps, a chunk of taps at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "levels/signals-inl.hpp"

namespace tenter {
namespace {

template <class Acc>
bool add_taps_in(Dtype in, const char* src, int64_t stride, const double* weight, int64_t n, double* sum) {
  constexpr int64_t together = 512;
  Conversion<Acc> c;
  if (!conversion_of(in, c, typename SummedIn<Acc>::types{})) return false;
  char moved[together * 8];
  Acc wide[together];
  Acc total = Acc(*sum);
  for (int64_t at = 0; at < n; at += together) {
    const int64_t some = std::min(together, n - at);
    const char* from = src + at * stride;
    if (stride != c.itemsize) {
      for (int64_t k = 0; k < some; ++k) std::memcpy(moved + k * c.itemsize, from + k * stride, size_t(c.itemsize));
      from = moved;
    }
    if (c.widen) c.widen(from, some, wide);
    else std::memcpy(wide, from, size_t(some) * sizeof(Acc));
    for (int64_t k = 0; k < some; ++k) {
      const Acc w = Acc(weight[at + k]);
      if constexpr (fused) total = std::fma(wide[k], w, total);
      else total += wide[k] * w;
    }
  }
  *sum = double(total);
  return true;
}

// Adds n values, `stride` bytes apart, times weights to a sum of the accumulator's dtype.
void add_taps(Dtype in, Accumulate acc, const char* src, int64_t stride, const double* weight, int64_t n, double* sum) {
  const bool found = acc == Accumulate::f32 ? add_taps_in<float>(in, src, stride, weight, n, sum)
                                            : add_taps_in<double>(in, src, stride, weight, n, sum);
  if (!found) no_kernel("no kernel of long rows for these dtypes");
}

}  // namespace
}  // namespace tenter
