// The map of a resampled axis, made of its rule and a call's numbers.
#pragma once
#include <memory>
#include <vector>

#include "axis_map.hpp"
#include "axis_rule.hpp"

namespace tenter {

// What decides about an axis's map, of its call. dtype: that sums are of.
struct AxisSums {
  Dtype dtype;
  bool in_bytes, transposed;
};

struct RuledAxis {
  std::unique_ptr<AxisMap> map;  // null of an axis that stays as it is
  std::vector<double> inside;    // by outputs the weight that inputs have, once it is found; empty: one
  // Of n_in inputs of the rule, n_out outputs. False, as below, where Python's code shall make it: tables are large, or
  // numbers have more bits than the core keeps.
  bool make(const AxisSums& of, const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by,
            Arithmetic how);
  // Finds the weight that inputs have in each output of a sum. weighs: the rule that says it, where that is another.
  bool weigh(const AxisRule* weighs, const AxisNumbers& by);

 private:
  bool make_copy(Picking&& of);
  bool make_picked_sums(Picking&& of);
  bool make_rounded(const Sampling& of);
  bool make_pillow(const NamedFilter& filter, int64_t n_in, int64_t n_out, const Box* box);

  const AxisRule* rule_ = nullptr;
  int64_t n_in_ = 0, n_out_ = 0;
};

}  // namespace tenter
