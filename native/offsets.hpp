// Offsets: prefix sums of counts, which say where each input's outputs begin.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace tenter {

// Stores the n + 1 offsets, from 0 to the total, of counts that are `stride` bytes apart. Returns the total, or minus
// one minus the position of the first count that is negative or makes the total overflow int64. Another thread may
// change the counts meanwhile: the offsets ascend from 0 to the total all the same.
int64_t prefix_sum(const char* counts, Dtype dtype, int64_t stride, int64_t n, int64_t* offsets, int threads);

// The offsets of chunks of n contiguous counts, int32 or int64: where each chunk's outputs begin, and the total. Empty
// if a count is negative or too large for this, or if one chunk has too large a share of the outputs for threads to
// balance.
std::vector<int64_t> chunk_offsets(const void* counts, bool int32_counts, int64_t n, int64_t chunk, int threads);

}  // namespace tenter
