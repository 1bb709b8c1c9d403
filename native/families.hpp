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
  bool transposed;           // of gradients of such calls: sums by the transposed maps
  Owned rules;               // that the axes point to
  Owned planner;             // tenter._plans.families.Family, by which Python's code plans such calls

  // Whether the core makes gradients too: not where lengths or strides of the input decide about its maps.
  bool is_recorded() const { return !strides_decide && (axes[0].rule || (axes[0].formula >= 0 && n_axes == 1)); }
  // Sizes along the axes: an int, or a tuple of one for each. False where Python's code shall check them.
  bool read_sizes(PyObject* size, int64_t* to) const;
  // The result of a call with these sizes, or of gradients the input's. from: of x as `boxes` left it, which wants no
  // gradient. Null with an error, or without where Python's code shall plan it.
  PyObject* run(PyObject* x, const ArrayView& from, const int64_t* sizes, const Boxes& boxes) const;
};

}  // namespace tenter
