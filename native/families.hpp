// Calls that differ from an earlier one by sizes alone: planned and run once in the core.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "arrays.hpp"
#include "axis_rule.hpp"
#include "given.hpp"
#include "kernels.hpp"
#include "outside.hpp"
#include "host_plan.hpp"
#include "target.hpp"

namespace tenter {

// What such calls share, settled by tenter._plans.families. Python's plans of them are made of the same parts: maps by
// AxisRule, tasks by window_pass or byte_pass. So they have the same bits.
struct Family {
  // follows: whether positions follow a call's scale. weighs: what has the weight of inputs, where the rule is another.
  struct Axis {
    int dim;
    const AxisRule* rule = nullptr;
    bool follows = false;
    const AxisRule* weighs = nullptr;
    int at = 0;  // where a call's sequences have this axis's values
  };
  Axis axes[max_read_dims];  // by dims
  int n_axes = 0;
  bool in_bytes = false;  // 8-bit values, summed in integers
  bool doubles = false;   // whether arrays are of float64
  Outside outside;        // which no gradient has
  Dtype given;            // of arrays, where sums with `outside` are of float64
  Dtype dtype;            // that sums are of: of complex numbers that of their parts
  bool in_parts;
  Accumulate acc;
  int ndim;
  int order[max_read_dims];  // of the result's dims from slowest to fastest in memory
  bool in_order;
  bool by_dims = true;  // whether axes are those of a call's sequences in turn
  bool strides_decide;  // about the formula of inputs, as in PyTorch
  bool transposed;      // of gradients of such calls: sums by the transposed maps
  Rounding rounding;    // of lengths by scales
  Policy policy;
  Owned rules;    // that the axes point to
  Owned planner;  // tenter._plans.families.Family, by which Python's code plans such calls

  // Whether any axis is summed; else outputs are inputs.
  bool sums() const {
    return transposed || !std::all_of(axes, axes + n_axes, [](auto& a) { return a.rule->picks(); });
  }
  // Whether the core makes gradients too.
  bool is_recorded() const { return !in_bytes && !widens(); }
  bool widens() const { return outside.kind == OutsideKind::added && given != dtype; }
  // The sizes of a call, by its scales if it has none, by dims as its scales then are; and how x lies. False where
  // Python's code shall check them.
  bool read(PyObject* size, const ArrayView& x, Given& given) const;
  // How a call is done, or of gradients their own; null where Python's code shall plan it. from: of x as `boxes` left
  // it. target: where the result goes; null for fresh memory.
  std::unique_ptr<HostPlan> plan(const ArrayView& from, const Given& given, const Target* target) const;
};

}  // namespace tenter
