// Calls that differ from an earlier one by sizes alone: planned and run once in the core.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "arrays.hpp"
#include "given.hpp"
#include "folded.hpp"
#include "kernels.hpp"
#include "outside.hpp"
#include "passes.hpp"
#include "pillow_rows.hpp"
#include "target.hpp"
#include "whole_axis.hpp"

namespace tenter {

// Which pixel a nearest kind takes where its position lies between two.
#define TENTER_TIES(row) row(floor) row(ceil) row(prefer_floor) row(prefer_ceil)
TENTER_ENUM(Tie, tie, TENTER_TIES)

// What such calls share, settled by tenter._plans.families. Python's plans of them are made of the same parts: rows by
// WholeAxis or pillow_rows, tasks by window_pass or byte_pass; so they have the same bits.
struct Family {
  // rule: for 8-bit values summed in integers its weights are rounded, or there is Pillow's filter, `pillow`; or
  // the formula by which outputs take an input: its step in float32 or in float64, or a line, whose positions
  // `align` says, and `tie` the inputs. follows: whether positions follow a call's scale; keeps: unless
  // the axis keeps its length. edge: past which outputs take no input, and which value they have is `outside`'s, or
  // past which the axis goes on. weighs: what has the weight of inputs, where the rule is another.
  struct Axis {
    int dim;
    const WholeAxis* rule = nullptr;
    const NamedFilter* pillow = nullptr;
    int formula = -1;
    bool in_float = false;
    Align align = Align::center;
    Tie tie = Tie::floor;
    bool follows = false, keeps = false;
    Edge edge = Edge::replicate;
    const WholeAxis* weighs = nullptr;
    int at = 0;  // where a call's sequences have this axis's values
  };
  Axis axes[max_read_dims];  // by dims
  int n_axes = 0;
  bool in_bytes = false;   // 8-bit values, summed in integers
  Outside outside;         // which no gradient has
  bool has_value = false;  // for which Python's code has no plan
  Dtype given;             // of arrays, where sums with `outside` are of float64
  Dtype dtype;             // that sums are of: of complex numbers that of their parts
  bool in_parts;
  Accumulate acc;
  int ndim;
  int order[max_read_dims];  // of the result's dims from slowest to fastest in memory
  Owned order_tuple;         // the same; null where they are in order
  bool channels_last;        // whether the second of these is the last in the input, for channels_together
  bool by_dims = true;       // whether axes are those of a call's sequences in turn
  bool strides_decide;       // about the formula of inputs, as in PyTorch
  bool transposed;           // of gradients of such calls: sums by the transposed maps
  Rounding rounding;         // of lengths by scales
  Policy policy;
  Owned rules;    // that the axes point to
  Owned planner;  // tenter._plans.families.Family, by which Python's code plans such calls

  // Whether any axis is summed; else outputs are inputs.
  bool sums() const {
    return transposed || !std::all_of(axes, axes + n_axes, [](auto& a) { return a.formula >= 0; });
  }
  // Whether the core makes gradients too.
  bool is_recorded() const { return !in_bytes && !widens(); }
  bool widens() const { return outside.kind == OutsideKind::added && given != dtype; }
  // The sizes of a call, by its scales if it has none, by dims as its scales then are; and how x lies. False where
  // Python's code shall check them.
  bool read(PyObject* size, const ArrayView& x, Given& given) const;
  // The result of a call, or of gradients the input's. from: of x as `boxes` left it, which wants no gradient. Null
  // with an error, or without where Python's code shall plan it. target: where the result goes; null for fresh memory.
  PyObject* run(PyObject* x, const ArrayView& from, const Given& given, const Target* target = nullptr) const;
};

}  // namespace tenter
