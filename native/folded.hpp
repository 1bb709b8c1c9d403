// Rows whose taps are past the edges of an axis that goes on there, or in any order: on the axis as it is.
#pragma once
#include <cstdint>
#include <vector>

#include "sampling.hpp"

namespace tenter {

// Row o has the taps [offset[o], offset[o + 1]).
struct Taps {
  std::vector<int64_t> offset, column;
  std::vector<double> weight;
};
Taps taps_of(const Sampling& sampling);  // all that count for something

// Rows on the axis: adjacent inputs, `rows`, where these hold the taps, else `taps` of any inputs. Windows that slide
// over an axis as it goes on keep the order in which they read it.
struct FoldedRows {
  bool adjacent;
  Rows rows;
  Taps taps;
  bool is_identity(int64_t n_in) const;
};
FoldedRows fold_rows(int64_t n_in, Taps&& given, Edge edge);

// Inputs in such an order that those of each row are adjacent, and where rows begin there. A row that begins with the
// inputs with which the row before it ends shares these, so windows that slide over a periodic axis take that axis and
// what goes on past its ends, not every tap.
struct LaidOut {
  std::vector<int64_t> order, start;
};
LaidOut laid_out(int64_t n_rows, const int64_t* offset, const int64_t* index);

// Of any rows, in their order.
Taps transposed(const Taps& taps, int64_t n_in);

}  // namespace tenter
