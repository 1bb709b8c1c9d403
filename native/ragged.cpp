#include "ragged.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "integers.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

bool fits(int64_t value, bool int32) {
  return !int32 || (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max());
}

bool all_zero(const char* p, int64_t n) {
  return std::all_of(p, p + n, [](char c) { return c == 0; });
}

// n bytes of copies of a value; what is filled is copied on, twice as much each time.
void fill(char* dst, int64_t n, const char* value, int64_t value_bytes, bool zero) {
  if (zero || n == 0) {
    std::memset(dst, 0, size_t(n));
    return;
  }
  std::memcpy(dst, value, size_t(value_bytes));
  for (int64_t done = value_bytes; done < n; done *= 2) std::memcpy(dst + done, dst, size_t(std::min(done, n - done)));
}

// Rows of a mask that are no longer than this are a part of ones and zeros that are copied whole, spilling into the
// next row.
constexpr int64_t short_mask = 64;
struct Mask {
  char bytes[2 * short_mask] = {};
  constexpr Mask() { std::fill_n(bytes, short_mask, 1); }
};
constexpr Mask mask;

// Rows [lo, hi) of a mask.
void mask_rows(const PadTask& t, int64_t lo, int64_t hi) {
  char* to = t.dst + lo * t.length;
  const char* const last = t.dst + hi * t.length - short_mask;
  for (; lo < hi; ++lo, to += t.length) {
    const int64_t n = t.offset[lo + 1] - t.offset[lo];
    if (t.length <= short_mask && to <= last) {
      std::memcpy(to, mask.bytes + short_mask - n, short_mask);
    } else {
      std::memset(to, 1, size_t(n));
      std::memset(to + n, 0, size_t(t.length - n));
    }
  }
}

// Positions of one task.
int64_t positions_of_task(int64_t bytes) {
  return std::max<int64_t>(1, (tuning.task_bytes / 8) / std::max<int64_t>(1, bytes));
}

}  // namespace

int64_t ranges_fit(const RangesTask& t) {
  for (int64_t i = 0; i < t.n; ++i) {
    const int64_t last = t.offset[i + 1] - t.offset[i] - 1;
    if (last < 0) continue;
    const int64_t start = t.start ? t.start[i] : t.start_of_all;
    int64_t end;
    if (__builtin_mul_overflow(last, t.step ? t.step[i] : t.step_of_all, &end) ||
        __builtin_add_overflow(end, start, &end) || !fits(start, t.int32) || !fits(end, t.int32))
      return i;
  }
  return -1;
}

void pad(const PadTask& t, int threads) {
  const int64_t total = t.n * t.length, each = positions_of_task(t.bytes);
  if (!t.value) {
    const int64_t rows = std::max<int64_t>(1, each / std::max<int64_t>(1, t.length));
    return parallel(ceil_div(t.n, rows), team_for(total, threads),
                    [&](int64_t c) { mask_rows(t, c * rows, std::min(t.n, (c + 1) * rows)); });
  }
  const bool zero = all_zero(t.value, t.value_bytes);
  parallel(ceil_div(total, each), team_for(total * t.bytes, threads), [&](int64_t c) {
    const int64_t hi = std::min(total, (c + 1) * each);
    for (int64_t lo = c * each; lo < hi;) {
      const int64_t i = lo / t.length, at = lo - i * t.length, stop = std::min(t.length, at + hi - lo);
      const int64_t first = t.offset[i], held = std::clamp(t.offset[i + 1] - first, at, stop);
      char* const to = t.dst + lo * t.bytes;
      const int64_t copied = (held - at) * t.bytes;
      if (copied) std::memcpy(to, t.src + (first + at) * t.bytes, size_t(copied));
      fill(to + copied, (stop - held) * t.bytes, t.value, t.value_bytes, zero);
      lo += stop - at;
    }
  });
}

void unpad(const PadTask& t, int threads) {
  const int64_t total = t.offset[t.n], each = positions_of_task(t.bytes);
  parallel(ceil_div(total, each), team_for(total * t.bytes, threads), [&](int64_t c) {
    const int64_t hi = std::min(total, (c + 1) * each);
    int64_t lo = c * each, i = std::upper_bound(t.offset, t.offset + t.n + 1, lo) - t.offset - 1;
    for (; lo < hi; ++i) {
      const int64_t stop = std::min(hi, t.offset[i + 1]);
      const char* const from = t.src + (i * t.length + lo - t.offset[i]) * t.bytes;
      std::memcpy(t.dst + lo * t.bytes, from, size_t((stop - lo) * t.bytes));
      lo = std::max(lo, stop);
    }
  });
}

}  // namespace tenter
