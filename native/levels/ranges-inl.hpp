// Ranges: start, start + step, ... for each row of a ragged array, one after the other.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "levels/stream-inl.hpp"
#include "maps/ragged.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// What rows hold: their number; 0, 1, 2, ...; or start, start + step, ...
enum class RangeKind { ids, positions, ranges };

// Stores positions [lo, hi), which begin in row i. A row is stored in whole vectors; the next row overwrites what
// spills. The last values are stored one by one. Values wrap on overflow, because spilled values may exceed the range
// of the integers.
template <class Out, RangeKind rows>
void range_values(const RangesTask& task, int64_t i, int64_t lo, int64_t hi, char* staging) {
  // W values mostly cover a row. They are stored as vectors of at most one register: GCC makes wider ones in memory.
  constexpr int W = 8, N = std::min(W, lanes<Out>);
  typedef VecN<Out, N> Some;
  const Some iota = [&]<int... k>(std::integer_sequence<int, k...>) {
    return Some{Out(k)...};
  }(std::make_integer_sequence<int, N>{});
  const RangesTask t = task;  // a copy: the compiler must assume that stores change a reference
  const int64_t* const offset = t.offset;
  auto step_of = [&](int64_t row) {
    if constexpr (rows == RangeKind::ids) return Out(0);
    if constexpr (rows == RangeKind::positions) return Out(1);
    return Out(t.step ? t.step[row] : t.step_of_all);
  };
  auto value_of = [&](int64_t row, int64_t k) {
    if constexpr (rows == RangeKind::ids) return Out(row);
    if constexpr (rows == RangeKind::positions) return Out(k);
    return Out(t.start ? t.start[row] : t.start_of_all) + Out(k) * step_of(row);
  };
  const Some all_steps = iota * step_of(0);
  auto store_wide = [&](Out* to, int64_t row, int64_t k) __attribute__((always_inline)) {
    const Out first = value_of(row, k), step = step_of(row);
    const Some steps = rows == RangeKind::ranges && t.step ? iota * step : all_steps;
    for (int j = 0; j < W; j += N) store_bits(to + j, (first + Out(j) * step) + steps);
  };
  const int64_t room = staging ? tuning.staging_bytes / int64_t(sizeof(Out)) : hi - lo;
  while (lo < hi) {
    const int64_t n = std::min(hi - lo, room);
    Out* const dst = reinterpret_cast<Out*>(t.dst) + lo;
    Out* const to = staging ? reinterpret_cast<Out*>(staging) : dst;
    int64_t at = 0;
    for (; at < n; ++i) {
      const int64_t first = offset[i] - lo, end = offset[i + 1] - lo;
      if (end + W > n) break;
      store_wide(to + at, i, at - first);
      for (int64_t more = at + W; more < end; more += W) store_wide(to + more, i, more - first);
      at = end;
    }
    for (; at < n; ++i) {
      const int64_t first = offset[i] - lo, end = offset[i + 1] - lo;
      for (; at < std::min(n, end); ++at) to[at] = value_of(i, at - first);
      if (end > n) break;
    }
    if (staging) stream_store(dst, staging, n * int64_t(sizeof(Out)));
    lo += n;
  }
}

template <RangeKind rows>
void ranges_of(const RangesTask& t, int threads) {
  const int64_t total = t.offset[t.n], itemsize = t.int32 ? 4 : 8, each = tuning.runs_chunk * 4;
  parallel(ceil_div(total, each), team_for(total * itemsize, threads), [&](int64_t c) {
    const int64_t lo = c * each, hi = std::min(total, lo + each);
    const int64_t i = std::upper_bound(t.offset, t.offset + t.n + 1, lo) - t.offset - 1;
    Lease lease;
    char* const staging = t.stream ? lease->staging.get<char>(tuning.staging_bytes) : nullptr;
    if (t.int32) range_values<uint32_t, rows>(t, i, lo, hi, staging);
    else range_values<uint64_t, rows>(t, i, lo, hi, staging);
    store_fence(t.stream);
  });
}

void ranges(const RangesTask& t, int threads) {
  if (t.ids) return ranges_of<RangeKind::ids>(t, threads);
  const bool counts = !t.start && !t.step && t.start_of_all == 0 && t.step_of_all == 1;
  return counts ? ranges_of<RangeKind::positions>(t, threads) : ranges_of<RangeKind::ranges>(t, threads);
}

}  // namespace
}  // namespace tenter
