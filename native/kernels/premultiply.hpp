// Premultiplying colors by alpha, and dividing by it.
#pragma once
#include <cstdint>

#include "kernels/kernels.hpp"

namespace tenter {

// Contiguous pixels of 2 or 4 channels; the last channel is alpha. Converts values to floats and premultiplies their
// colors; or, if `divides`, converts such floats back to values: colors are divided by alpha if that is above the
// threshold `alpha`, else 0. Floats are float64 if the dtype is, else float32.
struct PremultiplyTask {
  const void* src;
  void* dst;
  Dtype dtype;  // of the values
  int64_t n_pixels;
  int channels;
  bool divides;
  double alpha;
};

}  // namespace tenter
