#include "maps/ragged.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/permute_tables.hpp"
#include "kernels/window_kernels.hpp"
#include "rules/verify.hpp"
#include "system/integers.hpp"
#include "system/threads.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

bool fits(int64_t value, bool int32) {
  return !int32 || (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max());
}

bool all_zero(const char* p, int64_t n) {
  return std::all_of(p, p + n, [](char c) { return c == 0; });
}

// Fills n bytes with copies of a value. What is filled already is copied, twice as much each time.
void fill(char* dst, int64_t n, const char* value, int64_t value_bytes, bool zero) {
  if (zero || n == 0) {
    std::memset(dst, 0, size_t(n));
    return;
  }
  std::memcpy(dst, value, size_t(value_bytes));
  for (int64_t done = value_bytes; done < n; done *= 2) std::memcpy(dst + done, dst, size_t(std::min(done, n - done)));
}

// A row of a mask that is no longer than this is copied from a table of ones, zeros and ones, as one block of fixed
// size that spills into the next rows.
constexpr int64_t short_mask = 64;
struct Mask {
  char bytes[3 * short_mask] = {};
  constexpr Mask() {
    std::fill_n(bytes, short_mask, 1);
    std::fill_n(bytes + 2 * short_mask, short_mask, 1);
  }
};
constexpr Mask mask;

// Writes rows [lo, hi) of a mask.
void mask_rows(const PadTask& t, int64_t lo, int64_t hi) {
  char* to = t.dst + lo * t.length;
  const char* const last = t.dst + hi * t.length - short_mask;
  for (; lo < hi; ++lo, to += t.length) {
    const int64_t first = t.left ? t.start(lo) : t.held(lo);  // of equal values
    if (t.length <= short_mask && to <= last) {
      std::memcpy(to, mask.bytes + (t.left ? 2 : 1) * short_mask - first, short_mask);
    } else {
      std::memset(to, !t.left, size_t(first));
      std::memset(to + first, t.left, size_t(t.length - first));
    }
  }
}

// A bound on the magnitudes of n integers in a table; without a table, of the one integer `of_all`.
uint64_t magnitude(const int64_t* table, int64_t n, int64_t of_all, int threads) {
  const auto bits = [](int64_t v) { return uint64_t(v ^ (v >> 63)); };
  uint64_t any = bits(of_all);
  if (table) {
    const int64_t each = tuning.runs_chunk, chunks = ceil_div(n, each);
    std::vector<uint64_t> found(size_t(chunks), 0);
    parallel(chunks, team_for(n * 8, threads), [&](int64_t c) {
      uint64_t some = 0;
      for (int64_t i = c * each; i < std::min(n, (c + 1) * each); ++i) some |= bits(table[i]);
      found[size_t(c)] = some;
    });
    for (const uint64_t some : found) any |= some;
  }
  uint64_t most = any;  // all bits below the highest
  for (const int shift : {1, 2, 4, 8, 16, 32}) most |= most >> shift;
  return most + 1;  // the magnitude of a negative integer v is one more than ~v
}

// Calls f(outer, lo, hi) for all rows of a task, in chunks of rows [lo, hi).
template <class F>
void chunks_of_rows(const RowsTask& t, int threads, F&& f) {
  const int64_t bytes = t.outer * (t.offset[t.n] + t.n) * t.inner * size_of(t.dtype);
  const int64_t each = std::max<int64_t>(1, tuning.runs_chunk / 4), chunks = ceil_div(t.n, each);
  parallel(t.outer * chunks, team_for(bytes, threads), [&](int64_t task) {
    const int64_t lo = task % chunks * each;
    f(task / chunks, lo, std::min(t.n, lo + each));
  });
}

// Divides the sum of each row by the length of the row.
template <class T>
void divide_rows(const RowsTask& t, int threads) {
  chunks_of_rows(t, threads, [&](int64_t o, int64_t lo, int64_t hi) {
    T* to = reinterpret_cast<T*>(t.dst) + (o * t.n + lo) * t.inner;
    for (int64_t i = lo; i < hi; ++i, to += t.inner) {
      const T by = T(std::max<int64_t>(1, t.offset[i + 1] - t.offset[i]));
      for (int64_t k = 0; k < t.inner; ++k) to[k] /= by;
    }
  });
}

// Stores f(value, value of its row) for the values of rows [lo, hi), with inner length 1. Most rows fit one vector.
// There is no branch on the length of such a row: what is stored after its end, the next rows overwrite.
template <class T, class F>
void with_short_rows(const int64_t* offset, const T* of_row, const T* src, T* dst, int64_t lo, int64_t hi, F&& f) {
  constexpr int W = 8;
  typedef T Wide __attribute__((vector_size(W * sizeof(T))));
  const int64_t limit = offset[hi];
  for (int64_t i = lo; i < hi; ++i) {
    int64_t at = offset[i];
    const int64_t end = offset[i + 1];
    do {
      if (at + W > limit) {
        for (; at < end; ++at) dst[at] = f(load_unaligned<T>(src + at), of_row[i]);
        break;
      }
      const Wide y = f(load_unaligned<Wide>(src + at), of_row[i] - Wide{});
      std::memcpy(dst + at, &y, sizeof y);
      at += W;
    } while (at < end);
  }
}

// The same for any inner length. of_rows: one value per row and column, (outer, n, inner).
template <class T, class F>
void with_rows(const RowsTask& t, const char* of_rows, int threads, F&& f) {
  const int64_t total = t.offset[t.n], inner = t.inner;
  chunks_of_rows(t, threads, [&](int64_t o, int64_t lo, int64_t hi) {
    const T* of_row = reinterpret_cast<const T*>(of_rows) + o * t.n * inner;
    const T* src = reinterpret_cast<const T*>(t.src) + o * total * inner;
    T* dst = reinterpret_cast<T*>(t.dst) + o * total * inner;
    if (inner == 1) return with_short_rows(t.offset, of_row, src, dst, lo, hi, f);
    for (int64_t i = lo; i < hi; ++i)
      for (int64_t r = t.offset[i]; r < t.offset[i + 1]; ++r)
        for (int64_t k = 0; k < inner; ++k)
          dst[r * inner + k] = f(load_unaligned<T>(src + r * inner + k), of_row[i * inner + k]);
  });
}

// Memory for one value per row and column.
std::unique_ptr<char[]> of_rows(const RowsTask& t) {
  return std::unique_ptr<char[]>(new char[size_t(t.outer * t.n * t.inner * size_of(t.dtype))]);
}

struct Span {
  int64_t begin, end;
};

// How many positions one task has. bytes: of a position.
int64_t positions_of_task(int64_t bytes) {
  return std::max<int64_t>(1, (tuning.task_bytes / 8) / std::max<int64_t>(1, bytes));
}

}  // namespace

int64_t ranges_fit(const RangesTask& t, int threads) {
  const uint64_t total = uint64_t(t.offset[t.n]);
  if (total >> 31 == 0) {  // most numbers are so small that a bound over all rows fits
    const uint64_t start = magnitude(t.start, t.n, t.start_of_all, threads);
    const uint64_t step = magnitude(t.step, t.n, t.step_of_all, threads);
    if (step >> 31 == 0 && start >> 62 == 0 && fits(int64_t(start + step * total), t.int32)) return -1;
  }
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

void sum_rows(const RowsTask& t, int threads) {
  const int64_t total = t.offset[t.n], itemsize = size_of(t.dtype);
  const WindowMap map{total, t.n, 0, t.offset, t.offset, nullptr, nullptr};
  WindowTask task{};
  task.src = t.src, task.dst = t.dst, task.stream = t.stream;
  task.in = task.out = t.dtype, task.acc = t.dtype == Dtype::f64 ? Accumulate::f64 : Accumulate::f32;
  if (t.outer > 1) task.n_outer = 1, task.outer_shape[0] = t.outer, task.outer_stride[0] = total * t.inner * itemsize;
  if (t.inner >= wide_inner) {  // the inner values fill vectors: whole rows of them are summed
    task.n_row = total, task.row_stride = t.inner * itemsize, task.row = &map;
    task.n_column = t.inner, task.column_stride = itemsize, task.inner = 1, task.inner_stride = itemsize;
  } else {
    task.n_row = 1, task.n_column = total, task.column_stride = t.inner * itemsize, task.column = &map;
    task.inner = t.inner, task.inner_stride = itemsize;
  }
  if constexpr (verifies) verify(task, 1);
  const Kernels& k = kernels();
  const bool f64 = task.acc == Accumulate::f64;
  PermuteTables tables;
  if (task.column && takes_permutes(task, t.outer, false) &&
      make_permute_tables(map, t.inner, f64 ? k.double_lanes : k.float_lanes, f64 ? 8 : 4, tables))
    task.permutes = &tables;
  choose_and_sum(task, threads);
}

void mean_rows(const RowsTask& t, int threads) {
  sum_rows(t, threads);
  if (t.dtype == Dtype::f64) divide_rows<double>(t, threads);
  else divide_rows<float>(t, threads);
}

void less_extremes(const RowsTask& t, int threads) {
  const auto most = of_rows(t);
  kernels().extremes({t.src, most.get(), nullptr, t.dtype, t.offset, t.n, t.outer, t.inner, true}, threads);
  const auto less = [](auto x, auto y) { return x - y; };
  if (t.dtype == Dtype::f64) with_rows<double>(t, most.get(), threads, less);
  else with_rows<float>(t, most.get(), threads, less);
}

void share_rows(const RowsTask& t, int threads) {
  const auto sums = of_rows(t);
  sum_rows({t.src, sums.get(), t.dtype, t.offset, t.n, t.outer, t.inner, false}, threads);
  const auto share = [](auto x, auto y) { return x / y; };
  if (t.dtype == Dtype::f64) with_rows<double>(t, sums.get(), threads, share);
  else with_rows<float>(t, sums.get(), threads, share);
}

void mark_spans(const SpansTask& t, int threads) {
  parallel(t.rows, team_for(t.rows * (t.n + t.k * int64_t(sizeof(Span))), threads), [&](int64_t r) {
    Span* const first = reinterpret_cast<Span*>(t.spans) + r * t.k;
    char* const to = t.dst + r * t.n;
    std::memset(to, 0, size_t(t.n));
    int64_t length = 0;
    for (Span* s = first; s < first + t.k && length <= t.n; ++s) length += s->end - s->begin;
    // Spans that overlap a lot are sorted, so that no position is written often.
    const bool many = length > t.n;
    if (many) std::sort(first, first + t.k, [](const Span& a, const Span& b) { return a.begin < b.begin; });
    int64_t reach = 0;
    for (Span* s = first; s < first + t.k; ++s) {
      const int64_t begin = many ? std::max(reach, s->begin) : s->begin;
      if (begin < s->end) std::memset(to + begin, 1, size_t(s->end - begin));
      reach = std::max(reach, s->end);
    }
  });
}

void repeat_padded(const RepeatPaddedTask& t, int threads) {
  const bool zero = all_zero(t.value, t.value_bytes);
  const int64_t row_bytes = t.room * t.bytes;
  const bool by_rows = t.rows >= 2 * threads;  // whether each row has one thread; else the threads share each row
  auto row = [&](int64_t r) {
    const int64_t* const given = t.offset + r * t.width;
    const int64_t total = given[t.width] - given[0];
    char* const to = t.dst + r * row_bytes;
    if (total) {
      Lease lease;
      int64_t* const offset = lease->table.get<int64_t>(t.width + 1);
      for (int64_t k = 0; k <= t.width; ++k) offset[k] = given[k] - given[0];
      CopyTask task;  // not zeroed, as its axes are kilobytes: those in use are set
      task.src = t.src + r * t.width * t.bytes, task.dst = to, task.run = t.bytes, task.n_axes = 1;
      task.stream = t.stream;
      task.axis[0] = {CopyAxis::runs, t.width, total, t.bytes, 1, offset};
      task.bytes[0] = total * t.bytes, task.bytes[1] = t.bytes;
      if constexpr (verifies) verify(task);
      kernels().copy(task, by_rows ? 1 : threads);
    }
    fill(to + total * t.bytes, row_bytes - total * t.bytes, t.value, t.value_bytes, zero);
  };
  if (by_rows) parallel(t.rows, team_for(t.rows * row_bytes, threads), row);
  else
    for (int64_t r = 0; r < t.rows; ++r) row(r);
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
      const int64_t start = t.start(i), begin = std::clamp(start, at, stop);
      const int64_t end = std::clamp(start + t.held(i), begin, stop);
      char* const to = t.dst + (lo - at) * t.bytes;  // the row's first place
      if (at < begin) fill(to + at * t.bytes, (begin - at) * t.bytes, t.value, t.value_bytes, zero);
      if (begin < end)
        std::memcpy(to + begin * t.bytes, t.src + (t.offset[i] + begin - start) * t.bytes,
                    size_t((end - begin) * t.bytes));
      if (end < stop) fill(to + end * t.bytes, (stop - end) * t.bytes, t.value, t.value_bytes, zero);
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
      const char* const from = t.src + (i * t.length + t.start(i) + lo - t.offset[i]) * t.bytes;
      std::memcpy(t.dst + lo * t.bytes, from, size_t((stop - lo) * t.bytes));
      lo = std::max(lo, stop);
    }
  });
}

}  // namespace tenter
