// Tables that say how vectors of outputs along the fastest axis read their inputs. Neighboring outputs read neighboring
// inputs. So for each tap, a vector of loaded inputs is permuted and multiplied by a vector of weights.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace tenter {

// The tables of a map over contiguous (columns, inner) values, for vectors of `lanes` values of `bytes` bytes. Vector v
// has the outputs from v * lanes on. The last vector has the last `lanes` outputs and overlaps the one before.
struct PermuteTables {
  // Where the inputs of a vector are: in one loaded vector, in two, or in two that are loaded again for each tap.
  enum Reach : int8_t { one, two, moving };
  // Adjacent vectors for which the kernel runs the same code.
  struct Run {
    int64_t lo, hi;
    int64_t weight;  // position of the first vector's weights; each vector has taps * lanes of them
    int32_t taps;
    Reach reach;
    bool ragged;  // whether lanes differ in their number of taps
  };
  int lanes, bytes;
  int64_t inner, row;  // row: elements of an input row
  std::vector<Run> run;
  std::vector<int64_t> base;  // for each vector, the element of the input row at which its first load begins
  // Integers and floats of `bytes` bytes. For each vector `lanes` places (places.hpp), `lanes` counts of taps, and
  // weights.
  std::vector<char> index, count, weight;

  // For maps that leave most inputs unread: the elements of the input row that are gathered first. Empty for other
  // maps. With `pairs`, no output has more than two taps: both are gathered next to each other, and the tables above
  // are for rows of such pairs. Otherwise the first taps of all outputs are gathered, then their second taps, and so
  // on: `weight` has `pitch` values for each tap, one for each output value, and `count` has `pitch` values in all.
  std::vector<int64_t> gather;
  bool pairs;
  int64_t pitch;
  int32_t taps;
  bool ragged;
};

// Returns false if the inputs of a vector's outputs are too far apart, or tables would not pay.
bool make_permute_tables(const WindowMap& m, int64_t inner, int lanes, int bytes, PermuteTables& made);

}  // namespace tenter
