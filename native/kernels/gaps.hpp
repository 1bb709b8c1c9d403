// What the kernels of missing values are given (plan/gaps.hpp). All arrays are contiguous, of float32 or float64.
#pragma once
#include <cstdint>

#include "kernels/dtypes.hpp"

namespace tenter {

//   mask    0 where a value is missing; null for none
//   skips   whether NaN is missing
//   filled  the values, and 0 where they are missing
//   ones    1 where a value is there, else 0; may be null
struct FillTask {
  const char* values;
  const uint8_t* mask;
  char* filled;
  char* ones;
  int64_t n;
  Dtype dtype;
  bool skips;
};

// Divides sums by their shares. NaN where a share is not above a number. quotients: may be the sums, if they are not
// streamed
struct DivideTask {
  const char* sums;
  const char* shares;
  char* quotients;
  int64_t n;
  Dtype dtype;
  double above;
  bool stream;
};

}  // namespace tenter
