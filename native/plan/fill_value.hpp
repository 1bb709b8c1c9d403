// The fill value of the edge modes `constant` and `extrapolate`, if it is not 0.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "system/words.hpp"

namespace tenter {

#define TENTER_FILL_KINDS(row) row(none) row(added) row(filled)
TENTER_ENUM(FillKind, fill, TENTER_FILL_KINDS)

// How the fill value gets into a result (tenter._execution.fill_value).
//   added   `value` times the weight that is not on inputs is added to each sum
//   filled  outputs with at most half of their weight on inputs become `element`, a value of the result's dtype
struct FillValue {
  FillKind kind = FillKind::none;
  double value = 0;
  char element[16] = {};

  // A dim of a result.
  //   inside  for each output, how much of its weight is on inputs; null if all of it is
  //   axis    the dim's number in the array: weights are multiplied in the order of axes, whatever their order in
  //   memory
  struct ResultDim {
    int64_t n;
    const double* inside;
    int axis;
  };
  // For FillKind::added: adds in float64 to sums in float32 or float64, and converts to the dtype of the sums, then of
  // the result. `from` and `to` may be the same memory.
  //   dims        from slowest to fastest in memory
  //   dtype       of the result; of complex numbers, of their parts
  //   is_complex    whether values are complex numbers
  void add(const FillValue::ResultDim* dims, int n_dims, Dtype sums, Dtype dtype, bool is_complex, const char* from,
           char* to) const;
  // For FillKind::filled: puts `element` into a result.
  void fill(const FillValue::ResultDim* dims, int n_dims, int64_t itemsize, char* to) const;
};

}  // namespace tenter
