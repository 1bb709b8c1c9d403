// Which inputs an output of Pillow's resampling reads, and with which weights.
#pragma once
#include <cstdint>
#include <vector>

#include "filters.hpp"

namespace tenter {

// Weights are k / 2^22. units: k, where all fit 32 bits, else there are weights.
struct PillowRows {
  std::vector<int64_t> start, offset;  // n_out, n_out + 1
  std::vector<int32_t> units;
  std::vector<double> weights;
  bool fits_bytes;  // as fits_bytes (bytes.hpp)

  void make_weights();
};

// A filter of Pillow's; null of one that it has not.
const NamedFilter* of_pillow(const Filter& filter);

// The rows of an axis whose positions from begin to end become n_out outputs; n_in and n_out above 0.
PillowRows pillow_rows(const NamedFilter& filter, int64_t n_in, float begin, float end, int64_t n_out);

// The weights of rows whose inputs are known: output o lies at begin + (o + 0.5) * step, and distances are multiplied
// by `unit`. As units, or as weights where there are no units.
struct PillowTask {
  FilterKind filter;
  double begin, step, unit;
  int64_t n_out;
  const int64_t *start, *offset;
  int32_t* units;
  double* weights;
};
enum class PillowFit : int { none, integers, bytes };  // none: some unit needs more than 32 bits

}  // namespace tenter
