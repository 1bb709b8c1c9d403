// The part of an axis that is resampled, and where outputs lie in it, in exact fractions.
#pragma once
#include <cstdint>

#include "line.hpp"
#include "words.hpp"

namespace tenter {

// From edge to edge: `extent` pixels from `low` on, in parts of a pixel of which there are `of`.
struct AxisPart {
  Wide low, extent, of;
};
// The part that a call's box names, and its ends as doubles.
struct Box {
  AxisPart part;
  double begin, end;
};
// Outputs / inputs, where positions follow it: numerator / denominator, and as a double.
struct Scale {
  Wide numerator, denominator;
  double value;
};
// A fraction in words, such as -1/3, in lowest terms, and as the nearest double; false if it has more bits than the
// core keeps.
struct Fraction {
  Wide numerator, denominator;
  double value;
  bool read(const char* words);
};
// Of the ends begin < end.
bool box_of(const Fraction& begin, const Fraction& end, Box& to);

// Of edges and scales that are read: pixels beyond which, and parts finer than which, they are left to Python's code;
// parts beside a scale; and outputs.
constexpr int64_t farthest_edge = int64_t(1) << 24, most_part_outputs = int64_t(1) << 24;
constexpr int finest_edge = 60, finest_scaled = 30;

// What the first and the last output are lined up with (tenter.geometry.Geometry). The flag of a row says whether the
// name is ONNX's.
// clang-format off
#define TENTER_ALIGNS(row) \
  row(center, false) \
  row(corners, false) \
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
// Whether a step leads from corner to corner, else from edge to edge; and whether positions are centers of outputs'
// areas.
inline bool by_corners(Align a) {
  return a == Align::corners || a == Align::corner_areas || a == Align::tf_crop_and_resize;
}
inline bool by_halves(Align a, int64_t n_out) {
  return a == Align::center || a == Align::corner_areas || a == Align::half_pixel_symmetric ||
         (a == Align::pytorch_half_pixel && n_out != 1);
}

// Output o lies at (first + o * step) / unit (tenter.geometry.Geometry.units). scale: null where positions follow
// sizes. False, as below, where this takes more bits than the core keeps.
struct Units {
  Wide first, step, unit;
};
bool units_of(const AxisPart& p, Align align, int64_t n_out, const Scale* scale, Units& to);
bool line_of(const Units& u, int64_t n_out, Line& to);

// How many inputs an output has, or 1 where these are fewer: numerator / denominator, or 0 / 0 if these have more bits
// than double, and as a double.
struct Stretch {
  int64_t numerator, denominator;
  double ratio;
};
bool stretch_of(Wide inputs, Wide outputs, Stretch& to);
// The product; false as above. Sums of a few products are then below 2^126.
bool multiply(Wide a, Wide b, Wide& to);

}  // namespace tenter
