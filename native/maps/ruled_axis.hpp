// The map of one resampled axis, made from its rule and a call's numbers.
#pragma once
#include <memory>
#include <vector>

#include "maps/axis_map.hpp"
#include "rules/axis_rule.hpp"

namespace tenter {

// How the call sums along its axes.
//   dtype       dtype of the values that are summed
//   transposed  whether the call computes a gradient
//   fills       whether outputs without an input get the fill value in the end: until then they are copies of any
//   input.
//               Else their rows are empty
struct AxisSums {
  Dtype dtype;
  bool transposed, fills;
};

struct RuledAxis {
  std::unique_ptr<AxisMap> map;  // null if the axis does not change
  std::vector<double> inside;    // for each output, how much of its weight is on inputs; empty if all of it does
  // Makes the map from the forward call's lengths n_in and n_out. Both functions return false where Python must do it:
  // tables would be large, or numbers have more bits than the core supports.
  bool make(const AxisSums& of, const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by,
            Arithmetic how);
  // Computes `inside` for an axis that is summed. weight_rule: the rule that gives the weights; null for the map's own
  // rule.
  bool add_weights(const AxisRule* weight_rule, const AxisNumbers& by);

 private:
  bool make_copy(SourceIndex&& of, bool fills);
  bool make_indexed_sums(SourceIndex&& of);
  bool make_rounded(const Sampling& of);
  bool make_pillow(const NamedFilter& filter, int64_t n_in, int64_t n_out, const Box* box);

  const AxisRule* rule_ = nullptr;
  int64_t n_in_ = 0, n_out_ = 0;
};

}  // namespace tenter
