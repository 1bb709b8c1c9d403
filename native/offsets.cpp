#include "offsets.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "threads.hpp"

namespace tenter {
namespace {

template <class T>
T count_at(const char* counts, int64_t stride, int64_t i) {
  T count;
  std::memcpy(&count, counts + i * stride, sizeof count);
  return count;
}

// The same, read once: what is checked is what is used, whatever another thread writes there.
template <class T>
T count_now(const char* counts, int64_t stride, int64_t i) {
  T count = count_at<T>(counts, stride, i);
  asm volatile("" : "+r"(count));
  return count;
}

template <class T>
int64_t one_by_one(const char* counts, int64_t stride, int64_t n, int64_t* offsets) {
  int64_t total = 0;
  offsets[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T count = count_now<T>(counts, stride, i);
    if constexpr (std::is_signed_v<T>)
      if (count < 0) return -1 - i;
    if (__builtin_add_overflow(total, count, &total)) return -1 - i;
    offsets[i + 1] = total;
  }
  return total;
}

// Totals before each chunk, and of all. Empty where some count may be too large for that, or is negative.
template <class T, bool together>
std::vector<int64_t> totals_before(const char* counts, int64_t any_stride, int64_t n, int64_t chunk, Team team) {
  const int64_t stride = together ? int64_t(sizeof(T)) : any_stride;
  const int64_t n_chunks = (n + chunk - 1) / chunk;
  std::vector<int64_t> before(size_t(n_chunks) + 1, 0);
  std::vector<uint64_t> bits(size_t(n_chunks), 0);
  parallel(n_chunks, team, [&](int64_t c) {
    const int64_t hi = std::min(n, (c + 1) * chunk);
    uint64_t any = 0, all = 0;
    for (int64_t i = c * chunk; i < hi; ++i) {
      const uint64_t count = uint64_t(count_at<T>(counts, stride, i));  // negative ones get large
      any |= count, all += count;
    }
    bits[size_t(c)] = any, before[size_t(c) + 1] = int64_t(all);
  });
  for (size_t c = 0; c < size_t(n_chunks); ++c)
    if (bits[c] >> 47 || before[c + 1] < 0 || __builtin_add_overflow(before[c], before[c + 1], &before[c + 1]))
      return {};
  return before;
}

// A chunk's sum, then each chunk from the sum of those before it. False where one by one finds out what is wrong.
// Counts that have changed in between are cut, or the last of a chunk raised, to the chunk's sum.
template <class T, bool together>
bool by_chunks(const char* counts, int64_t any_stride, int64_t n, int64_t* offsets, int threads) {
  const int64_t stride = together ? int64_t(sizeof(T)) : any_stride;
  const int64_t chunk = tuning.runs_chunk;
  const Team team = team_for(n * int64_t(sizeof(T) + sizeof(int64_t)), threads);
  const std::vector<int64_t> before = totals_before<T, together>(counts, stride, n, chunk, team);
  if (before.empty()) return false;
  offsets[0] = 0;
  parallel(int64_t(before.size()) - 1, team, [&](int64_t c) {
    const int64_t hi = std::min(n, (c + 1) * chunk);
    int64_t running = before[size_t(c)];
    const int64_t end = before[size_t(c) + 1];
    for (int64_t i = c * chunk; i < hi; ++i) {
      const uint64_t count = uint64_t(count_now<T>(counts, stride, i));  // a negative one is large
      offsets[i + 1] = running += int64_t(std::min(count, uint64_t(end - running)));
    }
    offsets[hi] = end;
  });
  return true;
}

template <class T>
int64_t totals_of(const char* counts, int64_t stride, int64_t n, int64_t* offsets, int threads) {
  if (threads > 1 && n > 2 * tuning.runs_chunk) {
    const bool together = stride == int64_t(sizeof(T));
    if (together ? by_chunks<T, true>(counts, stride, n, offsets, threads)
                 : by_chunks<T, false>(counts, stride, n, offsets, threads))
      return offsets[n];
  }
  return one_by_one<T>(counts, stride, n, offsets);
}

}  // namespace

int64_t running_totals(const char* counts, Dtype dtype, int64_t stride, int64_t n, int64_t* offsets, int threads) {
  switch (dtype) {
    case Dtype::i8: return totals_of<int8_t>(counts, stride, n, offsets, threads);
    case Dtype::u8: return totals_of<uint8_t>(counts, stride, n, offsets, threads);
    case Dtype::i16: return totals_of<int16_t>(counts, stride, n, offsets, threads);
    case Dtype::u16: return totals_of<uint16_t>(counts, stride, n, offsets, threads);
    case Dtype::i32: return totals_of<int32_t>(counts, stride, n, offsets, threads);
    case Dtype::u32: return totals_of<uint32_t>(counts, stride, n, offsets, threads);
    case Dtype::u64: return totals_of<uint64_t>(counts, stride, n, offsets, threads);
    default: return totals_of<int64_t>(counts, stride, n, offsets, threads);
  }
}

std::vector<int64_t> chunk_totals(const void* counts, bool narrow, int64_t n, int64_t chunk, int threads) {
  const char* const at = static_cast<const char*>(counts);
  const Team team = team_for(n * (narrow ? 4 : 8), threads);
  std::vector<int64_t> before = narrow ? totals_before<int32_t, true>(at, 4, n, chunk, team)
                                       : totals_before<int64_t, true>(at, 8, n, chunk, team);
  for (size_t c = 1; c < before.size(); ++c) {
    constexpr int64_t little = 1 << 18;
    if (before[c] - before[c - 1] > std::max(little, before.back() / 8)) return {};
  }
  return before;
}

}  // namespace tenter
