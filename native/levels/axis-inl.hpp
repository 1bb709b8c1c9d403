// Window passes over one axis, and streaming stores of rows of sums.
#pragma once
#include <algorithm>

#include "levels/equal-sums-inl.hpp"
#include "levels/outer-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// Whether all rows begin at cache lines.
inline bool aligned(const char* dst, int64_t pitch) { return (reinterpret_cast<intptr_t>(dst) | pitch) % line == 0; }

// Sums rows. With `stream`, results are written by streaming stores. If vectors of sums are whole cache lines, they go
// from registers directly to memory while sums are computed; else they go through a staging buffer.
template <class Acc>
void store_rows(const Sums<Acc>& sums, bool stream, const char* src, int64_t stride, const WindowMap& m, int64_t lo,
                int64_t hi, char* dst, int64_t pitch, int64_t n, Lease& lease) {
  const int64_t size = sums.out_size;
  const bool direct = sums.streams_rows && aligned(dst, pitch * size);
  if (!stream || direct) return sums.rows(src, stride, m, lo, hi, dst, pitch, n, stream, lease);
  const int64_t capacity = std::max<int64_t>(2, tuning.staging_bytes / size);
  const int64_t width = std::min(n, capacity / 2), height = std::max<int64_t>(2, capacity / width);
  char* const staging = lease->staging.get<char>(height * width * size);
  for (int64_t o = lo; o < hi; o += height)
    for (int64_t j = 0; j < n; j += width) {
      const int64_t end = std::min(hi, o + height), w = std::min(width, n - j);
      sums.rows(src + j * sums.in_size, stride, m, o, end, staging, w, w, false, lease);
      char* const to = dst + ((o - lo) * pitch + j) * size;
      if (w == pitch) stream_store(to, staging, (end - o) * w * size);
      else
        for (int64_t r = 0; r < end - o; ++r) stream_store(to + r * pitch * size, staging + r * w * size, w * size);
    }
}

// The average number of inputs of an output, if each input is read once: sums may have thousands. 1 for weighted
// windows of few inputs, as neighbors share these.
inline int64_t summed(const WindowMap& m) {
  constexpr int64_t shared = 16;
  const int64_t each = std::max<int64_t>(1, m.n_in / std::max<int64_t>(1, m.n_out));
  return m.weight32 || m.weight64 ? std::max<int64_t>(1, each / shared) : each;
}

// ---- one axis: rows only. Columns, and the values inside them, are contiguous.
template <class Acc>
void rows_pass(const Sums<Acc>& sums, const WindowTask& t, Team team) {
  const WindowMap& m = *t.row;
  const int64_t n = t.n_column * t.inner, each = summed(m);
  int64_t width = std::min(n, tuning.row_width);
  if (each > 1) {  // few long sums are shared by columns
    const int64_t all = outer_count(t) * m.n_out * width;
    width = std::min(width, std::max(least_summed_columns, round_up(ceil_div(all, least_sum_tasks), 64)));
  }
  const int64_t n_blocks = ceil_div(n, width);
  const int64_t height = std::max<int64_t>(1, tuning.row_block / std::max<int64_t>(1, width * each));
  const int64_t n_rows = ceil_div(m.n_out, height), size = sums.out_size;
  const int64_t pitch = t.outer_pitch ? t.outer_pitch : m.n_out * n, n_outer = outer_count(t);
  // Small outer positions share a task, which has to be set up.
  const int64_t values = std::max<int64_t>(1, width * std::max(m.n_in, m.n_out));
  const int64_t group = n_rows * n_blocks > 1 ? 1 : std::max<int64_t>(1, tuning.row_block / values);
  parallel(ceil_div(n_outer, group) * n_rows * n_blocks, team, [&](int64_t p) {
    const int64_t b = p % n_blocks * width, lo = p / n_blocks % n_rows * height, first = p / n_blocks / n_rows * group;
    const int64_t hi = std::min(m.n_out, lo + height), w = std::min(width, n - b),
                  end = std::min(n_outer, first + group);
    OuterWalk walk(t, first);
    Lease lease;
    for (int64_t outer = first; outer < end; ++outer, walk.next()) {
      char* const dst = t.dst + (outer * pitch + lo * n + b) * size;
      const char* const src = t.src + walk.offset() + b * sums.in_size;
      store_rows(sums, t.stream, src, t.row_stride, m, lo, hi, dst, n, w, lease);
      if (t.clamps && sums.clamp_result)
        for (int64_t o = lo; o < hi; ++o) sums.clamp_result(reinterpret_cast<Acc*>(dst + (o - lo) * n * size), w);
    }
    store_fence(t.stream);
  });
}

// Sums without weights, all of equally many inputs. Contiguous rows are treated as one row.
template <class Acc>
void equal_sums_pass(const Sums<Acc>& sums, const WindowTask& t, Team team) {
  const WindowMap& m = *t.column;
  const int64_t width = m.width, inner = t.inner, in_row = m.n_in * inner * sums.in_size,
                total = outer_count(t) * t.n_row;
  bool joined = m.n_in == m.n_out * width && (t.n_row == 1 || t.row_stride == in_row);
  int64_t stride = in_row * t.n_row;
  for (int d = t.n_outer - 1; d >= 0; --d) {
    joined = joined && (t.outer_shape[d] == 1 || t.outer_stride[d] == stride);
    stride *= t.outer_shape[d];
  }
  const int64_t n = joined ? total * m.n_out : m.n_out, rows = joined ? 1 : total;
  const int64_t row_in = joined ? stride : in_row, row_out = n * inner * sums.out_size;
  if (n == 0 || rows == 0) return;
  // A task is a chunk of one row, or several rows.
  const int64_t bytes = std::clamp<int64_t>(row_in * rows / 64, tuning.task_bytes / 64, tuning.task_bytes);
  const int64_t part = std::max<int64_t>(lanes<Acc>, bytes / (width * inner * sums.in_size) / lanes<Acc> * lanes<Acc>);
  const int64_t parts = ceil_div(n, part), group = parts > 1 ? 1 : std::max<int64_t>(1, part / n);
  parallel(ceil_div(rows, group) * parts, team, [&](int64_t p) {
    const int64_t lo = p % parts * part, first = p / parts * group, last = std::min(rows, first + group);
    Lease lease;
    for (int64_t r = first; r < last; ++r) {
      const char* const src = t.src + (joined ? 0 : outer_offset(t, r / t.n_row) + r % t.n_row * t.row_stride);
      sum_equal(sums, src + lo * width * inner * sums.in_size, src + row_in, width, inner, std::min(part, n - lo),
                t.dst + r * row_out + lo * inner * sums.out_size, t.stream, lease);
    }
    store_fence(t.stream);
  });
}

// ---- one axis: columns only. Outer axes and rows together are a list of rows; a task makes `lanes` of them.
template <class Acc>
void columns_pass(const Sums<Acc>& sums, const WindowTask& t, Team team) {
  constexpr int N = lanes<Acc>;
  const int64_t size = sums.out_size;
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride, t.permutes};
  const int64_t total = outer_count(t) * t.n_row, n_out = t.column->n_out;
  // height, step: how many rows and outputs are computed together, directly in the result or in a staging buffer.
  const bool permutes = permuted<Acc>(c, sums.in_size), reads_all = permutes && c.permutes->gather.empty();
  const int64_t row_pitch = t.row_pitch ? t.row_pitch : n_out * t.inner;
  const int64_t outer_pitch = t.outer_pitch ? t.outer_pitch : t.n_row * row_pitch;
  const bool direct = permutes && sums.streams_columns && aligned(t.dst, (row_pitch | outer_pitch) * size);
  const bool staged = t.stream && !direct;
  const int height = permutes ? permuted_rows : N;
  int64_t step = tile_outputs<Acc>(c);
  if (total == 1) {  // outputs of few inputs each; of long sums as many as have `most_summed` times as many inputs
    constexpr double most_summed = 16;
    const double share = most_summed * double(n_out) / double(std::max<int64_t>(1, t.column->n_in));
    step = std::max<int64_t>(N, int64_t(double(tuning.column_step) * std::min(1.0, share)) / N * N);
  }
  if (t.stream) {
    const int64_t capacity = tuning.staging_bytes / size / height / t.inner / N * N;
    step = permutes ? std::max<int64_t>(N, capacity) : std::clamp<int64_t>(capacity, N, step);
  }
  const int64_t n_blocks = ceil_div(n_out, step);
  parallel(ceil_div(total, N) * n_blocks, team, [&](int64_t p) {
    const int64_t row = p / n_blocks * N, lo = p % n_blocks * step, hi = std::min(n_out, lo + step);
    const int n_rows = int(std::min<int64_t>(N, total - row));
    const char* rows[N];
    char *dst[N], *to[N];
    const int64_t n = (hi - lo) * t.inner;
    Lease lease;
    char* const staging = staged ? lease->staging.get<char>(height * n * size) : nullptr;
    for (int r = 0; r < N; ++r) {
      const int64_t k = row + std::min(r, n_rows - 1);
      rows[r] = t.src + outer_offset(t, k / t.n_row) + k % t.n_row * t.row_stride;
      dst[r] = t.dst + (k / t.n_row * outer_pitch + k % t.n_row * row_pitch + lo * t.inner) * size;
      to[r] = staged ? staging + r % height * n * size : dst[r];
    }
    const WindowMap& m = *t.column;
    const int64_t from = m.first(lo) * t.column_stride,
                  span = (m.first(hi - 1) + m.count(hi - 1)) * t.column_stride - from;
    for (int r = 0; r < n_rows; r += height) {
      const int end = std::min(n_rows, r + height);
      for (int k = end; k < std::min(n_rows, end + height) && reads_all; ++k) prefetch(rows[k] + from, span);
      sum_columns(sums, rows + r, end - r, c, to + r, lo, hi, t.stream && direct, lease);
      for (int k = r; k < end && t.clamps && sums.clamp_result; ++k)
        sums.clamp_result(reinterpret_cast<Acc*>(to[k]), n);
      for (int k = r; k < end && staged; ++k) stream_store(dst[k], to[k], n * size);
    }
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
