// How results are rounded: one value. A call asks for one of the first three, and the planner settles it before it
// decides anything about speed (Planner::settle). What follows reads it.
#pragma once
#include "system/words.hpp"

namespace tenter {

//   once         sums along all axes are rounded as the result is stored
//   each_axis    8-bit values are rounded after each axis, in Pillow's order of axes
//   kept         sums are not rounded: the result has their dtype, and another step reads it
// Settled from these by whole maps, dtype and device:
//   integers     each_axis, where all weights are multiples of 2^-22: bytes are summed in integers
//   clamped      each_axis for other weights: sums are floats, clamped to 8 bits between axes and rounded once
//   fixed_point  once, for bytes that are interpolated along two axes (rules/byte_taps.hpp)
#define TENTER_ROUNDINGS(row) row(once) row(each_axis) row(kept) row(integers) row(clamped) row(fixed_point)
TENTER_ENUM(Rounding, rounding, TENTER_ROUNDINGS)

// Whether something happens to values between axes. Results then depend on the order of axes.
constexpr bool by_axis(Rounding r) {
  return r == Rounding::each_axis || r == Rounding::integers || r == Rounding::clamped;
}
// Whether sums stay as they are until the end. Then passes of one axis give the bits of a pass of several.
constexpr bool rounds_last(Rounding r) { return r == Rounding::once || r == Rounding::kept; }

}  // namespace tenter
