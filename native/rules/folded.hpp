// Rows whose taps are in the padding of an axis, mapped back to inputs.
#pragma once
#include <cstdint>
#include <vector>

#include "rules/sampling.hpp"

namespace tenter {

// Rows of any inputs: row o has the taps [offset[o], offset[o + 1]); a tap reads input `column` with `weight`.
struct Taps {
  std::vector<int64_t> offset, column;
  std::vector<double> weight;
};
Taps taps_of(const Sampling& sampling);  // all taps whose weight is not zero

// Rows of inputs on the axis: `rows` if their inputs are adjacent, else `taps`. Taps are sorted by column, or stay in
// the order of the padded axis if windows slide over it.
struct FoldedRows {
  bool adjacent;
  Rows rows;
  Taps taps;
  bool is_identity(int64_t n_in) const;
};
FoldedRows fold_rows(int64_t n_in, Taps&& given, Edge edge);

// Inputs in an order in which the inputs of each row are adjacent, and the position in it where each row begins. A row
// whose first inputs are the last inputs of the row before shares them. Windows that slide over a periodic axis
// therefore need the axis and its padding, not one value per tap.
struct LaidOut {
  std::vector<int64_t> order, start;
};
LaidOut laid_out(int64_t n_rows, const int64_t* offset, const int64_t* index);

// The transpose of any rows. Each of its rows lists outputs in ascending order.
Taps transposed(const Taps& taps, int64_t n_in);

}  // namespace tenter
