// How an axis is resampled, by what holds for any lengths.
#pragma once
#include <optional>

#include "axis_part.hpp"
#include "sampling.hpp"

namespace tenter {

// widens: the filter is stretched where the axis shrinks. sums_to_one: its weights do so by themselves. Of areas that
// are touched, which are those of whole axes, all but the lengths is given by the rule.
struct WholeAxis {
  Rule rule;
  Align align;
  Sampling::Weights weights;
  std::optional<Filter> filter;  // of the core's, that has these weights
  double support;
  bool widens, sums_to_one;
  Edge edge;

  // Of all of an axis, whose positions are none of ONNX's own.
  Sampling sampling(int64_t n_in, int64_t n_out) const;
  // Of a part of the axis, or by a scale; none where positions have more bits than the core keeps, or descend.
  std::optional<Sampling> sampling(int64_t n_in, int64_t n_out, const AxisPart& part, const Scale* scale) const;
};
constexpr int64_t longest_whole_axis = int64_t(1) << 51;  // so that ratios of whole numbers are right

}  // namespace tenter
