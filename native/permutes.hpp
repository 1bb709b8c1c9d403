// How vectors of outputs along the fastest axis read their inputs: outputs that lie together read inputs that lie
// nearly together, so for each tap a vector of inputs, permuted, times a vector of weights.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace tenter {

// For a weighted map of (columns, inner) values that lie together, and vectors of `lanes` values of `bytes` bytes.
// Vector v is that of outputs v * lanes and on; the last is that of the last outputs, some of which it makes a second
// time.
struct Permutes {
  // All taps in one loaded vector, in two, or in two loaded again for each tap.
  enum Reach : int8_t { one, two, moving };
  // Vectors that are made in the same way.
  struct Run {
    int64_t lo, hi;
    int64_t weight;  // where the weights of the first begin: taps * lanes for each
    int32_t taps;
    Reach reach;
    bool ragged;  // do lanes differ in how many taps they have?
  };
  int lanes, bytes;
  int64_t inner, row;  // row: elements of an input row
  std::vector<Run> run;
  std::vector<int64_t> base;               // of each vector, the element of the input row that is loaded first
  std::vector<char> index, count, weight;  // as integers and floats of `bytes` bytes; index and count: lanes a vector

  // Where most inputs are read by nobody, those that are read are picked first, `at` these elements. In pairs, where no
  // output has more than two taps: the above is then for rows of pairs. Else all outputs' first taps, then their second
  // and so on; weight holds `pitch` for each tap, of every output value, and count as many.
  std::vector<int64_t> at;
  bool pairs;
  int64_t pitch;
  int32_t taps;
  bool ragged;
};

// False where the map's windows lie too far apart for that.
bool make_permutes(const WindowMap& m, int64_t inner, int lanes, int bytes, Permutes& made);

}  // namespace tenter
