// What lies past the edges of an array, where it is not 0.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "words.hpp"

namespace tenter {

#define TENTER_OUTSIDE_KINDS(row) row(none) row(added) row(filled)
TENTER_ENUM(OutsideKind, outside, TENTER_OUTSIDE_KINDS)

// added: results have `value` times the weight that their inputs lack; filled: outputs whose inputs have at most half
// the weight are `element`, a value of the result's dtype (tenter._execution.outside).
struct Outside {
  OutsideKind kind = OutsideKind::none;
  double value = 0;
  char element[16] = {};

  // Dims of a result from slowest to fastest in memory. inside: the weight that inputs have by outputs; null of a dim
  // that is not resized.
  struct Dim {
    int64_t n;
    const double* inside;
  };
  // Adds to n_dims of sums, in float32 or float64, and makes of these elements of the dtype, which may lie where they
  // do. like_torch: float32 takes float32.
  void add(const Outside::Dim* dims, int n_dims, Dtype sums, Dtype dtype, bool like_torch, const char* from,
           char* to) const;
  void fill(const Outside::Dim* dims, int n_dims, int64_t itemsize, char* to) const;
};

}  // namespace tenter
