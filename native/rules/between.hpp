// Positions between coordinates whose steps may have any lengths (tenter._rules.between).
#pragma once
#include <cstdint>

namespace tenter {

// Coordinates that ascend, and positions in any order: both of float64 or int64.
template <class Number>
struct Between {
  const Number* coordinates;
  int64_t n;
  const Number* at;
  int64_t n_at;

  // A position at most `rounding` from a coordinate is there: `placed` gets the coordinate, else the position.
  //   ahead  the first coordinate that is not below it; n for none
  //   last   the last that is not above it; -1 for none
  void place(Number rounding, Number* placed, int64_t* last, int64_t* ahead, int threads) const;

  // The rows of lines through two coordinates each, for placed positions: weights of zero, at the ends of rows, are
  // left out. clips: whether positions outside of the coordinates are moved to their ends. `weight` has room for two
  // weights of each row. Returns how many there are.
  int64_t lines(const int64_t* last, bool clips, int64_t* start, int64_t* offset, double* weight, int threads) const;
};

extern template struct Between<double>;
extern template struct Between<int64_t>;

}  // namespace tenter
