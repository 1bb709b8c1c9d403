// The part of an axis that is resampled, and where outputs lie in it, in exact fractions.
#pragma once
#include <cstdint>

#include "line.hpp"

namespace tenter {

// From edge to edge: `extent` pixels from `low` on, in parts of a pixel of which there are `of`.
struct AxisPart {
  Wide low, extent, of;
};
// Outputs / inputs, where positions follow it: numerator / denominator, and as a double.
struct Scale {
  int64_t numerator, denominator;
  double value;
};
// Of edges and scales that are read: pixels beyond which, and parts finer than which, they are left to Python's code;
// parts beside a scale; and outputs.
constexpr int64_t farthest_edge = int64_t(1) << 24, most_part_outputs = int64_t(1) << 24;
constexpr int finest_edge = 60, finest_scaled = 30;

// Output o lies at (first + o * step) / unit (tenter.geometry.Geometry.units). by_corners, by_halves: as WholeAxis has
// them. scale: null where positions follow sizes; none by corners.
struct Units {
  Wide first, step, unit;
};
Units units_of(const AxisPart& p, bool by_corners, bool by_halves, int64_t n_out, const Scale* scale);
// False where positions have more bits than the core keeps, or descend.
bool line_of(const Units& u, int64_t n_out, Line& to);

// How many inputs an output has, or 1 where these are fewer: numerator / denominator, or 0 / 0 if these have more bits
// than double, and as a double.
struct Stretch {
  int64_t numerator, denominator;
  double ratio;
};
Stretch stretch_of(Wide inputs, Wide outputs);

}  // namespace tenter
