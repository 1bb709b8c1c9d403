// Where each input's outputs begin, from how many it has.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace tenter {

// Writes the n + 1 running totals of counts, which lie `stride` bytes apart, to offsets. Returns the total, or minus
// one minus the position of the first count that is negative, or that takes the total past int64. Another thread may
// change the counts meanwhile: offsets ascend from 0 to the total all the same.
int64_t running_totals(const char* counts, Dtype dtype, int64_t stride, int64_t n, int64_t* offsets, int threads);

// Totals of the counts before each chunk of that many of them, and of all, for n int64 or (narrow) int32 counts that
// lie together. Empty where a count is negative or too large for that, or where one chunk has so much of the
// whole that threads could not share it.
std::vector<int64_t> chunk_totals(const void* counts, bool narrow, int64_t n, int64_t chunk, int threads);

}  // namespace tenter
