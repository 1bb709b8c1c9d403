// The rows at the ends of an axis with a periodic edge mode.
#pragma once
#include <cstdint>
#include <vector>

#include "rules/folded.hpp"

namespace tenter {

// The edge mode changes only the rows before `lo` and from `hi` on. The rule gives all other rows.
struct Ends {
  // order: the inputs in the order in which the rows read them, and rows begin at positions of `order`. If it is empty,
  // rows read adjacent inputs of the axis.
  struct Some {
    std::vector<int64_t> order;
    Rows rows;
  };
  int64_t lo, hi;
  bool gathers;  // whether `before` and `after` have an order
  Some before, after;
};
// transposed: the rows at the ends of the transpose.
Ends ends_of(const Sampling& rule, bool transposed);
// About how many taps the rows at the ends have.
double taps_at_ends(const Sampling& rule);

}  // namespace tenter
