// Results as normalized floats: (x / 255 - mean) / std of 8-bit values x, (x - mean) / std of floats, with planes of
// channels one after the other.
#pragma once
#include <cstdint>

#include "kernels/kernels.hpp"

namespace tenter {

// inverse, rest: two floats whose sum is 1 / std, by which quotients are found without a division. inverse is 0 if this
// may not round all of them as a division does (src/tenter/torch/normalized.py).
struct Normalized {
  float mean, std, inverse, rest;
};

// Where the rows of a result go, and as what. The result is (n, channels, rows, columns), or (n, rows, columns,
// channels) if it is interleaved. dst is (n, channels, rows, columns), contiguous.
struct FloatRows {
  float* dst;
  const Normalized* each;  // of every channel
  int64_t channels, rows, columns;
  bool interleaved;

  int64_t width() const { return interleaved ? columns * channels : columns; }  // values of a row of the result
};

// Normalizes a result that was made before, of 8-bit values or float32. src may be dst, unless it is interleaved.
struct NormalizeTask {
  const void* src;
  Dtype dtype;
  int64_t n_rows;  // of the result
  FloatRows to;
};

}  // namespace tenter
