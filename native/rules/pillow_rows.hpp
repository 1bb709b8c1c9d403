// The rows of Pillow's resampling: which inputs an output reads, and with which weights.
#pragma once
#include <cstdint>
#include <vector>

#include "rules/filters.hpp"

namespace tenter {

// Weights are units / 2^22. `weights` is used instead of `units` if some unit does not fit 32 bits.
struct PillowRows {
  std::vector<int64_t> start, offset;  // n_out, n_out + 1
  std::vector<int32_t> units;
  std::vector<double> weights;
  bool fits_bytes;  // as the function fits_bytes (bytes.hpp)

  void make_weights();  // fills in `weights` from the units
};

// The filter among Pillow's; null if Pillow does not have it.
const NamedFilter* of_pillow(const Filter& filter);

// The rows of an axis whose pixels from begin to end become n_out outputs. n_in and n_out are positive.
PillowRows pillow_rows(const NamedFilter& filter, int64_t n_in, float begin, float end, int64_t n_out);

// Computes the weights of rows whose inputs are given. Output o is at begin + (o + 0.5) * step, and distances are
// multiplied by `unit`. Writes `units`, or `weights` if `units` is null.
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
