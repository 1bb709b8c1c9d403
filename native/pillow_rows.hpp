// Which inputs an output of Pillow's resampling reads, and with which weights.
#pragma once
#include <cstdint>
#include <vector>

namespace tenter {

enum class PillowFilter : int { box, bilinear, hamming, bicubic, lanczos };

struct PillowRows {
  std::vector<int64_t> start, offset;  // n_out, n_out + 1
  std::vector<double> weight;          // multiples of 2^-22
};

// The rows of an axis whose positions from begin to end become n_out outputs; n_in and n_out above 0.
PillowRows pillow_rows(PillowFilter filter, int64_t n_in, float begin, float end, int64_t n_out);

}  // namespace tenter
