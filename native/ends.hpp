// What differs from other edges where an axis goes on past its edges.
#pragma once
#include <cstdint>
#include <vector>

#include "folded.hpp"

namespace tenter {

// An axis that goes on past its edges differs from others in the rows at its ends alone: those of targets before `lo`
// and from `hi` on. All other rows are the rule's.
struct Ends {
  // order: sources in the order in which the rows read them. Empty where these are adjacent on the axis, and rows begin
  // there.
  struct Some {
    std::vector<int64_t> order;
    Rows rows;
  };
  int64_t lo, hi;
  bool gathers;  // whether there are orders
  Some before, after;
};
// Of a rule of an axis that goes on: of outputs, or of the inputs of its transpose.
Ends ends_of(const Sampling& rule, bool transposed);
// How many taps the rows at the ends have, about.
double taps_at_ends(const Sampling& rule);

}  // namespace tenter
