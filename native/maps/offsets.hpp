// Offsets: the prefix sums of counts. They say where the outputs of each input begin.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace tenter {

// Stores the n + 1 offsets of n counts, which are `stride` bytes apart. Returns the total. If count i is the first that
// is negative or makes the total overflow int64, returns -1 - i. Even if another thread changes the counts meanwhile,
// the offsets ascend from 0 to the total.
int64_t prefix_sum(const char* counts, Dtype dtype, int64_t stride, int64_t n, int64_t* offsets, int threads);

// Returns the offsets of chunks of n contiguous counts, int32 or int64: where the outputs of each chunk begin, and the
// total. Empty if a count is negative or too large, or if a chunk has so large a share of the outputs that the work of
// threads would not be balanced. chunk: counts per chunk.
std::vector<int64_t> chunk_offsets(const void* counts, bool int32_counts, int64_t n, int64_t chunk, int threads);

}  // namespace tenter
