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

template <class T>
int64_t one_by_one(const char* counts, int64_t stride, int64_t n, int64_t* offsets) {
  int64_t total = 0;
  offsets[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T count = count_at<T>(counts, stride, i);
    if constexpr (std::is_signed_v<T>)
      if (count < 0) return -1 - i;
    if (__builtin_add_overflow(total, count, &total)) return -1 - i;
    offsets[i + 1] = total;
  }
  return total;
}

// A chunk's sum, then each chunk from the sum of those before it. False where some count may be too large for that, or
// is negative: one by one finds out which.
constexpr int64_t chunk = 1 << 15;
template <class T, bool together>
bool by_chunks(const char* counts, int64_t any_stride, int64_t n, int64_t* offsets, int threads) {
  const int64_t stride = together ? int64_t(sizeof(T)) : any_stride;
  const int64_t n_chunks = (n + chunk - 1) / chunk;
  std::vector<int64_t> sum(size_t(n_chunks), 0);
  std::vector<uint64_t> bits(size_t(n_chunks), 0);
  const Team team = team_for(n * int64_t(sizeof(T) + sizeof(int64_t)), threads);
  parallel(n_chunks, team, [&](int64_t c) {
    const int64_t hi = std::min(n, (c + 1) * chunk);
    uint64_t any = 0, all = 0;
    for (int64_t i = c * chunk; i < hi; ++i) {
      const uint64_t count = uint64_t(count_at<T>(counts, stride, i));  // negative ones get large
      any |= count, all += count;
    }
    bits[size_t(c)] = any, sum[size_t(c)] = int64_t(all);
  });
  int64_t total = 0;
  for (size_t c = 0; c < size_t(n_chunks); ++c) {
    if (bits[c] >> 47 || __builtin_add_overflow(total, sum[c], &sum[c])) return false;
    std::swap(total, sum[c]);  // what lies before it
  }
  offsets[0] = 0;
  parallel(n_chunks, team, [&](int64_t c) {
    const int64_t hi = std::min(n, (c + 1) * chunk);
    int64_t running = sum[size_t(c)];
    for (int64_t i = c * chunk; i < hi; ++i) offsets[i + 1] = running += int64_t(count_at<T>(counts, stride, i));
  });
  return true;
}

template <class T>
int64_t totals_of(const char* counts, int64_t stride, int64_t n, int64_t* offsets, int threads) {
  if (threads > 1 && n > 2 * chunk) {
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

}  // namespace tenter
