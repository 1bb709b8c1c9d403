// Integers whose sums are floats.
#pragma once
#include <cstdint>

#include "kernels.hpp"

namespace tenter {

// Integers of up to 32 bits as float64, which holds their sums exactly.
bool widens(Dtype d);
void widen(Dtype d, const char* src, double* dst, int64_t n);

}  // namespace tenter
