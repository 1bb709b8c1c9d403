// Conversion of integers whose sums are floats.
#pragma once
#include <cstdint>

#include "kernels/kernels.hpp"

namespace tenter {

// Converts n integers to float64, in which sums of integers of up to 32 bits are exact.
void widen(Dtype d, const char* src, double* dst, int64_t n);

}  // namespace tenter
