// Where each input's outputs begin, from how many it has.
#pragma once
#include <cstdint>

#include "kernels.hpp"

namespace tenter {

// Writes the n + 1 running totals of counts, which lie `stride` bytes apart, to offsets. Returns the total, or minus
// one minus the position of the first count that is negative, or that takes the total past int64.
int64_t running_totals(const char* counts, Dtype dtype, int64_t stride, int64_t n, int64_t* offsets, int threads);

}  // namespace tenter
