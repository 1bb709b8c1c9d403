// Missing values of arrays that are resized (tenter._execution.masked).
#pragma once
#include <cstdint>

#include "kernels/kernels.hpp"

namespace tenter {

// n contiguous floats, of float32 or float64.
//   mask    0 where a value is missing; null for none. It has `period` elements, which are read again and again
//   skips   whether NaN is missing
//   filled  the values, and 0 where they are missing
//   ones    1 where a value is there, else 0; may be null
struct Gaps {
  const void* values;
  const uint8_t* mask;
  int64_t period;
  int64_t n;
  Dtype dtype;
  bool skips;
  void* filled;
  void* ones;

  void fill(int threads) const;
};

// Divides n contiguous sums by their shares, in place. NaN where a share is not above a number.
void divide_by_shares(void* sums, const void* shares, int64_t n, Dtype dtype, double above, int threads);

}  // namespace tenter
