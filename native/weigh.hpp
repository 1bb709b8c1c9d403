// Pixels whose colors are weighted by the alpha that lies last.
#pragma once
#include <cstdint>

#include "kernels.hpp"

namespace tenter {

// n pixels of 2 or 4 channels: values to floats, their colors times alpha; or from such floats, colors divided by alpha
// where that is above `alpha`, else 0. Floats are float64 for that dtype, else float32. Contiguous.
struct WeighTask {
  const void* src;
  void* dst;
  Dtype dtype;  // of values
  int64_t n_pixels;
  int channels;
  bool divides;
  double alpha;
};

}  // namespace tenter
