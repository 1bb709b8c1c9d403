// 8-bit values that are interpolated along two axes, with two or four taps each, in fixed point. The columns of each
// input row are summed to 16 bits; outputs are sums of these.
//
// OpenCV's linear interpolation: weights have 11 bits and come from positions in float32, and each product is rounded.
// Other interpolation: weights have 14 bits, sums of columns are rounded to 1/64, and results are rounded once, half to
// even. They are within 0.54 of the exact sums.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace tenter {

constexpr int max_byte_taps = 4;
constexpr int step_bits = 11, tap_bits = 14;
// Results of fewer columns are summed in floats, as they would leave most of a vector unused. That changes their last
// bits, so this is a rule and no threshold.
constexpr int64_t least_fixed_columns = 24;

// The positions of OpenCV's outputs. Output o is at (first_output + o + 0.5) * step - 0.5 on an axis of `length`
// inputs. A map of a chunk reads only inputs from `first_input` on.
struct LinearSteps {
  double step;
  int64_t length, first_output = 0, first_input = 0;
};

// The inputs and the integer weights of each output: `taps` of each per output. OpenCV's padding repeats the input at
// the edge. Other outputs with fewer taps have weights of zero.
struct TapsAxis {
  int64_t n_in, n_out;
  int taps;  // 2 or 4
  std::vector<int32_t> input;
  std::vector<int16_t> weight;

  TapsAxis(const LinearSteps& of, int64_t n_in, int64_t n_out);
  explicit TapsAxis(const WindowMap& of);
  // Whether sums by such rows fit 16 bits for all values.
  static bool fits(const WindowMap& of);
};

// Resamples (outer..., row, column, inner) along row and column into contiguous memory. The input may have any strides.
struct TapsTask {
  const uint8_t* src;
  uint8_t* dst;
  int n_outer;
  int64_t outer_shape[max_axes], outer_stride[max_axes];
  int64_t n_row, row_stride, n_column, column_stride, inner, inner_stride;
  const TapsAxis *row, *column;
  bool rounds_products;  // whether to round each product, as OpenCV does
  bool stream;           // whether to use streaming stores
};

}  // namespace tenter
