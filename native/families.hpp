// Calls that differ from an earlier one by sizes alone: planned and run once in the core.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays.hpp"
#include "boxes.hpp"
#include "kernels.hpp"
#include "passes.hpp"
#include "whole_axis.hpp"

namespace tenter {

enum class Tie : int { floor, ceil, prefer_floor, prefer_ceil };  // tenter.geometry.TIES

// What such calls share, settled by tenter._plans.families. Python's plans of them are made of the same parts: rows by
// WholeAxis or pillow_rows, tasks by window_pass or byte_pass; so they have the same bits.
struct Family {
  // rule: or Pillow's filter of that support, for 8-bit values; or else the formula by which outputs take an input: its
  // step in float32 or in float64, or a line, whose positions by_corners and by_halves say, and `tie` the inputs.
  struct Axis {
    int dim;
    const WholeAxis* rule = nullptr;
    int filter = 0;
    double support = 0;
    int formula = -1;
    bool in_float = false, by_corners = false, by_halves = false;
    Tie tie = Tie::floor;
  };
  Axis axes[most_together];  // by dims
  int n_axes = 0;
  Accumulate acc;
  int ndim;
  int order[max_read_dims];  // of the result's dims from slowest to fastest in memory
  Owned order_tuple;         // the same; null where they are in order
  bool channels_last;        // whether the second of these is the last in the input, for channels_together
  bool strides_decide;       // about the formula of inputs, as in PyTorch
  Owned rules;               // that the axes point to

  // The result of a call with these sizes: an int, or a tuple of one for each axis. from: of x as `boxes` left it,
  // which wants no gradient. Null with an error, or without where Python's code shall plan it.
  PyObject* run(PyObject* x, const ArrayView& from, PyObject* size, const Boxes& boxes) const;
};

// How an array's dims lie to each other, of which the order of a result's dims follows (tenter._arrays.layout): which
// stride is larger, zero, negative or equal to another, which lengths are one, and which stride lies below another
// dim's extent, bit 8 a + b of dims a and b. False where lengths decide more: of dims that overlap or alternate in
// memory.
struct LayoutClass {
  uint8_t from_slow[max_read_dims], ones = 0, zeros = 0, negative = 0, equal = 0;
  uint64_t below = 0;
  bool of(const ArrayView& x);
};

}  // namespace tenter
