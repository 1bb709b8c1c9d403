// Specializations: what resize and interpolate calls share that differ only in their sizes, scales and boxes.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "arrays/arrays.hpp"
#include "calls/dynamic_arguments.hpp"
#include "kernels/kernels.hpp"
#include "plan/host_plan.hpp"
#include "plan/fill_value.hpp"
#include "plan/target.hpp"
#include "rules/axis_rule.hpp"

namespace tenter {

// Made by tenter._plans.specializations. The core plans the calls of a specialization; Python plans the same calls with
// the same functions of the core, so results have the same bits.
struct Specialization {
  //   dim      the dim of the array
  //   rule     how the axis is resampled
  //   follows  whether positions follow the call's scale, else its sizes
  //   weight_rule   the rule that says how much of an output's weight is on inputs, for a fill value; null for `rule`
  //   at       index of this axis in the call's sequences of sizes and scales
  struct Axis {
    int dim;
    const AxisRule* rule = nullptr;
    bool follows = false;
    const AxisRule* weight_rule = nullptr;
    int at = 0;
  };
  Axis axes[max_read_dims];  // in ascending order of dims
  int n_axes = 0;
  Rounding rounding = Rounding::once;  // of the sums; kept if a fill value is added
  bool doubles = false;                // whether arrays are float64
  FillValue fill;                      // none for gradients
  Dtype input;                         // dtype of the arrays; differs from `dtype` if integers are converted for `fill`
  Dtype dtype;      // dtype of the values that are summed: of complex numbers, the dtype of their parts
  bool is_complex;  // whether values are complex numbers
  Accumulate acc;
  int ndim;
  int order[max_read_dims];        // dims of the result from slowest to fastest in memory
  bool in_order;                   // whether `order` is ascending, so that the result is contiguous
  bool by_dims = true;             // whether a call's sequences are in the order of `axes`
  bool strides_decide;             // whether the layout decides which formula finds source indices, as in PyTorch
  bool transposed;                 // whether these calls compute gradients, by the transposed maps
  LengthRounding length_rounding;  // of lengths from scales
  Policy policy;
  Owned rules;    // owns the AxisRules that the axes point to
  Owned planner;  // tenter._plans.specializations.Specialization, by which Python plans such calls

  // Whether any axis is summed; else each output is a copy of one input.
  bool sums() const {
    return transposed || !std::all_of(axes, axes + n_axes, [](auto& a) { return a.rule->is_nearest(); });
  }
  // Whether the core computes gradients of these calls.
  bool is_recorded() const { return !by_axis(rounding) && !widens(); }
  // Whether integers are converted to float64 first, and whether sums are stored in a wider dtype than the result's.
  bool widens() const { return fill.kind == FillKind::added && input != dtype; }
  bool sums_apart() const { return fill.kind == FillKind::added && !is_full_float(dtype); }
  // Completes a call's dynamic arguments, whose boxes and scales were read: sets its sizes, from its scales if `size`
  // is None, sorts sizes and scales by dims, and sets channels_last. Returns false where Python must check the
  // arguments.
  bool read(PyObject* size, const ArrayView& x, DynamicArguments& dynamic) const;
  // The plan of a call; null where Python must plan it.
  //   from    the view of x, flipped as its boxes say; or of the gradient
  //   target  where the result goes; null for fresh memory
  std::unique_ptr<HostPlan> plan(const ArrayView& from, const DynamicArguments& dynamic, const Target* target) const;
};

}  // namespace tenter
