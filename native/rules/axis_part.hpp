// The region of an axis that is resampled, and the positions of outputs in it, as exact fractions.
#pragma once
#include <cstdint>

#include "rules/line.hpp"
#include "system/words.hpp"

namespace tenter {

// A region of interest along one axis. It begins low / of pixels from the edge of the axis, and is extent / of pixels
// long.
struct AxisPart {
  Wide low, extent, of;
};
// The region that a call's box names, and its begin and end as doubles.
struct Box {
  AxisPart part;
  double begin, end;
};
// A scale, outputs per input: numerator / denominator, and the same as a double.
struct Scale {
  Wide numerator, denominator;
  double value;
};
// A fraction in lowest terms, and the double nearest to it. `read` parses words such as -1/3. It returns false if the
// fraction has more bits than the core supports.
struct Fraction {
  Wide numerator, denominator;
  double value;
  bool read(const char* words);
};
// The box from begin to end, for begin < end. Returns false if it has more bits than the core supports.
bool box_of(const Fraction& begin, const Fraction& end, Box& to);

// Limits of what the core reads; Python handles calls beyond them.
//   farthest_edge      pixels from 0 to an edge of a box
//   most_part_outputs  outputs along an axis with a box
//   finest_edge        bits of the denominator of an edge
//   finest_scaled      the same, if the call has a scale too
constexpr int64_t farthest_edge = int64_t(1) << 24, most_part_outputs = int64_t(1) << 24;
constexpr int finest_edge = 60, finest_scaled = 30;

// How outputs are aligned with inputs (tenter.geometry.Geometry). The flag says whether ONNX alone has it.
// clang-format off
#define TENTER_ALIGNS(row) \
  row(half_pixel, false) \
  row(align_corners, false) \
  row(asymmetric, false) \
  row(corner_areas, false) \
  row(half_pixel_symmetric, true) \
  row(pytorch_half_pixel, true) \
  row(tf_half_pixel_for_nn, true) \
  row(tf_crop_and_resize, true)
// clang-format on
TENTER_ENUM(Align, align, TENTER_ALIGNS)
constexpr bool is_onnx(Align a) {
  constexpr bool flags[] = {TENTER_ALIGNS(TENTER_FLAG)};
  return flags[int(a)];
}
// Whether steps divide the distance between the centers of the first and the last pixel, else the whole extent; and
// whether positions are the centers of outputs' areas.
inline bool by_corners(Align a) {
  return a == Align::align_corners || a == Align::corner_areas || a == Align::tf_crop_and_resize;
}
inline bool by_halves(Align a, int64_t n_out) {
  return a == Align::half_pixel || a == Align::corner_areas || a == Align::half_pixel_symmetric ||
         (a == Align::pytorch_half_pixel && n_out != 1);
}

// The position of output o is (first + o * step) / unit (tenter.geometry.Geometry.units). scale: null if positions
// follow the sizes. This and the functions below return false if numbers have more bits than the core supports.
struct Units {
  Wide first, step, unit;
};
bool units_of(const AxisPart& p, Align align, int64_t n_out, const Scale* scale, Units& to);
bool line_of(const Units& u, int64_t n_out, Line& to);

// How many inputs there are per output, or 1 if there are fewer inputs: numerator / denominator, and the ratio as a
// double. Both are 0 if they have more bits than a double.
struct Stretch {
  int64_t numerator, denominator;
  double ratio;
};
bool stretch_of(Wide inputs, Wide outputs, Stretch& to);
// The product. Products are so small that sums of a few are below 2^126.
bool multiply(Wide a, Wide b, Wide& to);

}  // namespace tenter
