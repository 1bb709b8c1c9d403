// What is a call's own, of those of a family.
#pragma once
#include <Python.h>

#include <cstdint>

#include "boxes.hpp"
#include "passes.hpp"

namespace tenter {

// Of lengths by scales, and of the sizes that a call gives.
#define TENTER_ROUNDINGS(row) row(floor) row(round) row(round_even) row(ceil)
TENTER_ENUM(Rounding, rounding, TENTER_ROUNDINGS)
#define TENTER_POLICIES(row) row(stretch) row(not_larger) row(not_smaller)
TENTER_ENUM(Policy, policy, TENTER_POLICIES)
constexpr int64_t most_length = int64_t(1) << 40;  // tables of longer axes have other rules

struct Given {
  int64_t sizes[max_read_dims];  // made along the axes that are resized
  Boxes boxes;
  Scales scales;
  bool channels_last = false;  // of x, which its gradients need not be: axes but these lie as PyTorch's channels-last

  const Boxes::Each* part(int axis) const {
    return boxes.count && boxes.each[axis].given ? &boxes.each[axis] : nullptr;
  }
  AxisPart extent(int axis, int64_t length) const { return part(axis) ? part(axis)->part : AxisPart{0, length, 1}; }
  // size: an int, or a sequence of one for each axis. False where Python's code shall check them, as below.
  bool read_sizes(PyObject* size, int n_axes);
  // Of scales, of axes with these lengths.
  bool round_sizes(const int64_t* lengths, int n_axes, Rounding rounding);
  // One scale for all axes, by the sizes that were read, and the sizes that follow from it.
  bool fit_sizes(const int64_t* lengths, int n_axes, Policy policy);
};

}  // namespace tenter
