// Sums of rows with very many taps, a chunk of parts (long_sums.hpp) at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/long_sums.hpp"
#include "levels/signals-inl.hpp"

namespace tenter {
namespace {

template <class Acc>
bool sum_parts_in(Dtype in, const char* src, int64_t stride, const double* weight, const int64_t* begin, double* sum) {
  Conversion<Acc> c;
  if (!conversion_of(in, c, typename SummedIn<Acc>::types{})) return false;
  char moved[sum_part * 8];
  Acc wide[parts_together][sum_part], part[parts_together];
  int64_t least = sum_part;
  for (int p = 0; p < parts_together; ++p) {
    const int64_t n = begin[p + 1] - begin[p];
    const char* from = src + begin[p] * stride;
    least = std::min(least, n), part[p] = Acc(-0.0);  // adding the first product leaves that unchanged
    if (stride != c.itemsize) {
      for (int64_t k = 0; k < n; ++k) std::memcpy(moved + k * c.itemsize, from + k * stride, size_t(c.itemsize));
      from = moved;
    }
    if (c.widen) c.widen(from, n, wide[p]);
    else std::memcpy(wide[p], from, size_t(n) * sizeof(Acc));
  }
  auto add_tap = [&](int p, int64_t k) __attribute__((always_inline)) {
    const Acc w = Acc(weight[begin[p] - begin[0] + k]);
    if constexpr (fused) part[p] = std::fma(wide[p][k], w, part[p]);
    else part[p] += wide[p][k] * w;
  };
  for (int64_t k = 0; k < least; ++k)
    for (int p = 0; p < parts_together; ++p) add_tap(p, k);
  for (int p = 0; p < parts_together; ++p) {
    for (int64_t k = least; k < begin[p + 1] - begin[p]; ++k) add_tap(p, k);
    sum[p] = double(part[p]);
  }
  return true;
}

// The sums of `parts_together` parts of a row, in turns, as each addition waits for the one before: values `stride`
// bytes apart times weights. Part p has the inputs [begin[p], begin[p + 1]); weights begin with the first one.
void sum_parts(Dtype in, Accumulate acc, const char* src, int64_t stride, const double* weight, const int64_t* begin,
               double* sum) {
  const bool found = acc == Accumulate::f32 ? sum_parts_in<float>(in, src, stride, weight, begin, sum)
                                            : sum_parts_in<double>(in, src, stride, weight, begin, sum);
  if (!found) no_kernel("no kernel of long rows for these dtypes");
}

}  // namespace
}  // namespace tenter
