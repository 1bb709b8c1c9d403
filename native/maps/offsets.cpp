#include "maps/offsets.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "system/integers.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// Adds counts [lo, hi) to a total one by one. Returns the new total, or what prefix_sum returns for a wrong count.
template <class Count>
int64_t sum_one_by_one(const char* counts, int64_t stride, int64_t lo, int64_t hi, int64_t total, int64_t* offsets) {
  for (int64_t i = lo; i < hi; ++i) {
    const Count count = load_once<Count>(counts + i * stride);
    if constexpr (std::is_signed_v<Count>)
      if (count < 0) return -1 - i;
    if (__builtin_add_overflow(total, count, &total)) return -1 - i;
    offsets[i + 1] = total;
  }
  return total;
}

// Adds four counts at a time, so that only one addition in four waits for another. Whether a count is negative or large
// is checked once per chunk; a chunk with such a count is then added one by one.
template <class Count>
int64_t prefix_sum_serial(const char* counts, int64_t stride, int64_t n, int64_t* offsets) {
  constexpr int64_t chunk = 1024;
  int64_t total = 0;
  offsets[0] = 0;
  for (int64_t lo = 0; lo < n; lo += chunk) {
    const int64_t hi = std::min(n, lo + chunk);
    const char* at = counts + lo * stride;
    uint64_t any = 0, sum = uint64_t(total);
    int64_t i = lo;
    for (; i + 4 <= hi; i += 4, at += 4 * stride) {
      const auto a = uint64_t(load_once<Count>(at)), b = uint64_t(load_once<Count>(at + stride)),
                 c = uint64_t(load_once<Count>(at + 2 * stride)), d = uint64_t(load_once<Count>(at + 3 * stride));
      const uint64_t two = a + b, three = two + c;
      any |= a | b | c | d;
      offsets[i + 1] = int64_t(sum + a), offsets[i + 2] = int64_t(sum + two), offsets[i + 3] = int64_t(sum + three);
      sum += three + d;
      offsets[i + 4] = int64_t(sum);
    }
    for (; i < hi; ++i, at += stride) {
      const auto a = uint64_t(load_once<Count>(at));
      any |= a, sum += a;
      offsets[i + 1] = int64_t(sum);
    }
    const bool small = any >> 47 == 0 && total >> 62 == 0;  // then the sum of the chunk did not overflow
    total = small ? int64_t(sum) : sum_one_by_one<Count>(counts, stride, lo, hi, total, offsets);
    if (total < 0) return total;
  }
  return total;
}

// Returns the offset of each chunk, and the total. Empty if a count is negative or may be too large for the sum of its
// chunk. contiguous: whether any_stride is the size of a count.
template <class Count, bool contiguous>
std::vector<int64_t> sum_chunks(const char* counts, int64_t any_stride, int64_t n, int64_t chunk, Team team) {
  const int64_t stride = contiguous ? int64_t(sizeof(Count)) : any_stride;
  const int64_t n_chunks = ceil_div(n, chunk);
  std::vector<int64_t> offsets(size_t(n_chunks) + 1, 0);
  std::vector<uint64_t> bits(size_t(n_chunks), 0);
  parallel(n_chunks, team, [&](int64_t c) {
    const int64_t hi = std::min(n, (c + 1) * chunk);
    uint64_t any = 0, sum = 0;
    for (int64_t i = c * chunk; i < hi; ++i) {
      const uint64_t count = uint64_t(load_unaligned<Count>(counts + i * stride));  // a negative count becomes large
      any |= count, sum += count;
    }
    bits[size_t(c)] = any, offsets[size_t(c) + 1] = int64_t(sum);
  });
  for (size_t c = 0; c < size_t(n_chunks); ++c)
    if (bits[c] >> 47 || offsets[c + 1] < 0 || __builtin_add_overflow(offsets[c], offsets[c + 1], &offsets[c + 1]))
      return {};
  return offsets;
}

// Sums the chunks, then adds the counts of each chunk to its offset. Returns false if the serial version must find the
// wrong count. Another thread may change counts between the two readings. Counts that have grown are then cut to the
// sum of their chunk. If counts have shrunk, the last count of the chunk makes up for it.
template <class Count, bool contiguous>
bool prefix_sum_chunks(const char* counts, int64_t any_stride, int64_t n, int64_t* offsets, int threads) {
  const int64_t stride = contiguous ? int64_t(sizeof(Count)) : any_stride;
  const int64_t chunk = tuning.runs_chunk;
  const Team team = team_for(n * int64_t(sizeof(Count) + sizeof(int64_t)), threads);
  const std::vector<int64_t> chunk_offset = sum_chunks<Count, contiguous>(counts, stride, n, chunk, team);
  if (chunk_offset.empty()) return false;
  offsets[0] = 0;
  parallel(int64_t(chunk_offset.size()) - 1, team, [&](int64_t c) {
    const int64_t hi = std::min(n, (c + 1) * chunk);
    int64_t offset = chunk_offset[size_t(c)];
    const int64_t end = chunk_offset[size_t(c) + 1];
    for (int64_t i = c * chunk; i < hi; ++i) {
      const uint64_t count = uint64_t(load_once<Count>(counts + i * stride));  // a negative count becomes large
      offsets[i + 1] = offset += int64_t(std::min(count, uint64_t(end - offset)));
    }
    offsets[hi] = end;
  });
  return true;
}

template <class Count>
int64_t prefix_sum_of(const char* counts, int64_t stride, int64_t n, int64_t* offsets, int threads) {
  if (threads > 1 && n >= tuning.shared_counts) {
    const bool contiguous = stride == int64_t(sizeof(Count));
    if (contiguous ? prefix_sum_chunks<Count, true>(counts, stride, n, offsets, threads)
                   : prefix_sum_chunks<Count, false>(counts, stride, n, offsets, threads))
      return offsets[n];
  }
  return prefix_sum_serial<Count>(counts, stride, n, offsets);
}

}  // namespace

int64_t prefix_sum(const char* counts, Dtype dtype, int64_t stride, int64_t n, int64_t* offsets, int threads) {
  switch (dtype) {
    case Dtype::i8: return prefix_sum_of<int8_t>(counts, stride, n, offsets, threads);
    case Dtype::u8: return prefix_sum_of<uint8_t>(counts, stride, n, offsets, threads);
    case Dtype::i16: return prefix_sum_of<int16_t>(counts, stride, n, offsets, threads);
    case Dtype::u16: return prefix_sum_of<uint16_t>(counts, stride, n, offsets, threads);
    case Dtype::i32: return prefix_sum_of<int32_t>(counts, stride, n, offsets, threads);
    case Dtype::u32: return prefix_sum_of<uint32_t>(counts, stride, n, offsets, threads);
    case Dtype::u64: return prefix_sum_of<uint64_t>(counts, stride, n, offsets, threads);
    default: return prefix_sum_of<int64_t>(counts, stride, n, offsets, threads);
  }
}

std::vector<int64_t> chunk_offsets(const void* counts, bool int32_counts, int64_t n, int64_t chunk, int threads) {
  const char* const p = static_cast<const char*>(counts);
  const Team team = team_for(n * (int32_counts ? 4 : 8), threads);
  std::vector<int64_t> offsets =
      int32_counts ? sum_chunks<int32_t, true>(p, 4, n, chunk, team) : sum_chunks<int64_t, true>(p, 8, n, chunk, team);
  for (size_t c = 1; c < offsets.size(); ++c)
    if (offsets[c] - offsets[c - 1] > std::max(small_chunk, offsets.back() / max_chunk_share)) return {};
  return offsets;
}

}  // namespace tenter
