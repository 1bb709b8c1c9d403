// The dynamic arguments of a call: those in which the calls of one specialization differ.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays/boxes.hpp"
#include "plan/passes.hpp"

namespace tenter {

// How a length times a scale is rounded to a length.
#define TENTER_LENGTH_ROUNDINGS(row) row(floor) row(round) row(round_even) row(ceil)
TENTER_ENUM(LengthRounding, length_rounding, TENTER_LENGTH_ROUNDINGS)
// Whether the given sizes are used as they are, or fitted with one scale for all axes: none larger, or none smaller.
#define TENTER_POLICIES(row) row(stretch) row(not_larger) row(not_smaller)
TENTER_ENUM(Policy, policy, TENTER_POLICIES)
constexpr int64_t most_length = int64_t(1) << 40;  // Python plans calls on longer axes

struct DynamicArguments {
  int64_t sizes[max_read_dims];  // lengths of the result along the resized axes
  Boxes boxes;
  Scales scales;
  bool channels_last = false;  // whether x has PyTorch's channels-last layout; its gradients may have another

  // The box of an axis; null for the whole axis.
  const Boxes::OfAxis* box(int axis) const {
    return boxes.count && boxes.each[axis].given ? &boxes.each[axis] : nullptr;
  }
  AxisPart extent(int axis, int64_t length) const { return box(axis) ? box(axis)->part : AxisPart{0, length, 1}; }
  // These three set `sizes`. They return false where Python must check the arguments.
  // Reads them. size: an int, or a sequence of one int for each axis.
  bool read_sizes(PyObject* size, int n_axes);
  // Computes them from the scales and the lengths of the axes.
  bool round_sizes(const int64_t* lengths, int n_axes, LengthRounding rounding);
  // Finds one scale for all axes that fits the sizes that were read, and computes the sizes from it.
  bool fit_sizes(const int64_t* lengths, int n_axes, Policy policy);
};

}  // namespace tenter
