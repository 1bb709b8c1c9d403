// How vectors of outputs along the fastest axis read their inputs. Neighboring outputs read neighboring inputs, so for
// each tap a vector of loaded inputs is permuted and multiplied by a vector of weights.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace tenter {

// Of a map over contiguous (columns, inner) values, for vectors of `lanes` values of `bytes` bytes. Vector v holds the
// outputs from v * lanes on; the last vector holds the last `lanes` outputs and overlaps the one before.
struct PermuteTables {
  // Where the inputs of a vector's taps are: in one loaded vector, in two, or in two that are loaded for each tap.
  enum Reach : int8_t { one, two, moving };
  // Adjacent vectors for which the kernel runs the same code.
  struct Run {
    int64_t lo, hi;
    int64_t weight;  // position of the first vector's weights; each vector has taps * lanes
    int32_t taps;
    Reach reach;
    bool ragged;  // lanes differ in their numbers of taps
  };
  int lanes, bytes;
  int64_t inner, row;  // row: elements of an input row
  std::vector<Run> run;
  std::vector<int64_t> base;               // element of the input row that each vector's first load begins at
  std::vector<char> index, count, weight;  // integers and floats of `bytes` bytes; `lanes` places and counts a vector

  // Maps that leave most inputs unread: the elements of the input row that are gathered first; empty for other maps.
  // pairs: no output has more than two taps; each output's two are gathered side by side, and the tables above apply to
  // rows of such pairs. Otherwise the first taps of all outputs are gathered, then their second taps, and so on: weight
  // has `pitch` values for each tap, one for each output value, and count has `pitch` in all.
  std::vector<int64_t> gather;
  bool pairs;
  int64_t pitch;
  int32_t taps;
  bool ragged;
};

// False if the inputs of a vector's outputs are too far apart.
bool make_permute_tables(const WindowMap& m, int64_t inner, int lanes, int bytes, PermuteTables& made);

}  // namespace tenter
