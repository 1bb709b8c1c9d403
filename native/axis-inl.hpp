// Window passes over one axis, and how rows of sums are stored.
#pragma once
#include <algorithm>

#include "threads.hpp"
#include "tile-inl.hpp"

namespace tenter {
namespace {

inline int64_t outer_offset(const WindowTask& t, int64_t index) {
  int64_t offset = 0;
  for (int d = t.n_outer - 1; d >= 0; --d) {
    offset += index % t.outer_shape[d] * t.outer_stride[d];
    index /= t.outer_shape[d];
  }
  return offset;
}
inline int64_t outer_count(const WindowTask& t) {
  int64_t n = 1;
  for (int d = 0; d < t.n_outer; ++d) n *= t.outer_shape[d];
  return n;
}
inline int64_t blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Rows that begin where lines do.
template <class Out>
inline bool aligned(const Out* dst, int64_t pitch) {
  return (reinterpret_cast<intptr_t>(dst) | pitch * int64_t(sizeof(Out))) % 64 == 0;
}

// vertical_rows, past the caches if so told: straight from the sums where rows are whole lines, so that the memory
// takes lines while sums are made; else by way of a staging buffer.
template <class Acc, class In, class Out>
void rows_out(bool stream, const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, Out* dst,
              int64_t pitch, int64_t n, Lease& lease) {
  const bool straight = whole_lines<Acc, Out, 4> && aligned(dst, pitch);
  if (!stream || straight) return vertical_rows<Acc, In, Out>(src, stride, m, lo, hi, dst, pitch, n, stream);
  const int64_t most = std::max<int64_t>(2, tuning.staging_bytes / int64_t(sizeof(Out)));
  const int64_t width = std::min(n, most / 2), height = std::max<int64_t>(2, most / width);
  Out* const staging = lease->staging.get<Out>(height * width);
  for (int64_t o = lo; o < hi; o += height)
    for (int64_t j = 0; j < n; j += width) {
      const int64_t end = std::min(hi, o + height), w = std::min(width, n - j);
      vertical_rows<Acc, In, Out>(src + j * int64_t(sizeof(In)), stride, m, o, end, staging, w, w);
      Out* const to = dst + (o - lo) * pitch + j;
      if (w == pitch) stream_store(to, staging, (end - o) * w * int64_t(sizeof(Out)));
      else
        for (int64_t r = 0; r < end - o; ++r) stream_store(to + r * pitch, staging + r * w, w * int64_t(sizeof(Out)));
    }
}

// What a store as integer Out would clamp, clamped early: overshoot of the first axis never reaches the second.
template <class Acc, class Out>
void saturate_scratch(Acc* p, int64_t n) {
  if constexpr (std::is_integral_v<Out> && std::is_floating_point_v<Acc>) {
    constexpr Acc low = Acc(std::numeric_limits<Out>::min()), high = Acc(std::numeric_limits<Out>::max());
    for (int64_t i = 0; i < n; ++i) p[i] = p[i] < low ? low : p[i] > high ? high : p[i];
  }
}

// The same in the result of a pass of one axis, where another pass for the other follows.
template <class Acc, class In, class Out>
void saturate_between(Out* p, int64_t n) {
  if constexpr (std::is_same_v<Acc, Out>) saturate_scratch<Acc, In>(p, n);
}

// ---- one axis: rows only. The columns (and what is inside them) lie together.
template <class Acc, class In, class Out>
void rows_pass(const WindowTask& t, Team team) {
  const WindowMap& m = *t.row;
  const int64_t n = t.n_column * t.inner, width = std::min(n, tuning.row_width), n_blocks = blocks(n, width);
  const int64_t height = std::max<int64_t>(1, tuning.row_block / std::max<int64_t>(1, width));
  const int64_t n_rows = blocks(m.n_out, height);
  parallel(outer_count(t) * n_rows * n_blocks, team, [&](int64_t p) {
    const int64_t b = p % n_blocks * width, r = p / n_blocks % n_rows * height, outer = p / n_blocks / n_rows;
    const char* src = t.src + outer_offset(t, outer) + b * int64_t(sizeof(In));
    Out* dst = reinterpret_cast<Out*>(t.dst) + outer * m.n_out * n + b;
    const int64_t end = std::min(m.n_out, r + height), some = std::min(width, n - b);
    Lease lease;
    rows_out<Acc, In, Out>(t.stream, src, t.row_stride, m, r, end, dst + r * n, n, some, lease);
    if (t.saturate)
      for (int64_t o = r; o < end; ++o) saturate_between<Acc, In, Out>(dst + o * n, some);
    store_fence(t.stream);
  });
}

// ---- one axis: columns only. Outer axes and rows together are a list of rows, `lanes` of them a task.
template <class Acc, class In, class Out>
void columns_pass(const WindowTask& t, Team team) {
  constexpr int N = lanes<Acc>;
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride, t.permutes};
  const int64_t total = outer_count(t) * t.n_row, n_out = t.column->n_out;
  // How many rows are made together, and how much of each; straight to memory, or staged.
  const bool quick = permuted<Acc, In>(c), whole = quick && c.permutes->at.empty();  // are rows read as they lie?
  const bool straight = quick && whole_lines<Acc, Out, 1> && aligned(reinterpret_cast<Out*>(t.dst), n_out * t.inner);
  const bool staged = t.stream && !straight;
  const int some = quick ? few : N;
  int64_t step = tile_outputs<Acc>(c);
  if (total == 1) step = std::max<int64_t>(N, tuning.column_step / N * N);
  if (t.stream) {
    const int64_t most = tuning.staging_bytes / int64_t(sizeof(Out)) / some / t.inner / N * N;
    step = quick ? std::max<int64_t>(N, most) : std::clamp<int64_t>(most, N, step);
  }
  const int64_t n_blocks = blocks(n_out, step);
  parallel(blocks(total, N) * n_blocks, team, [&](int64_t p) {
    const int64_t row = p / n_blocks * N, lo = p % n_blocks * step, hi = std::min(n_out, lo + step);
    const int n_rows = int(std::min<int64_t>(N, total - row));
    const char* rows[N];
    Out *dst[N], *made[N];
    const int64_t n = (hi - lo) * t.inner;
    Lease lease;
    Out* const staging = staged ? lease->staging.get<Out>(some * n) : nullptr;
    for (int r = 0; r < N; ++r) {
      const int64_t at = row + std::min(r, n_rows - 1);
      rows[r] = t.src + outer_offset(t, at / t.n_row) + at % t.n_row * t.row_stride;
      dst[r] = reinterpret_cast<Out*>(t.dst) + (at * n_out + lo) * t.inner;
      made[r] = staged ? staging + r % some * n : dst[r];
    }
    const WindowMap& m = *t.column;
    const int64_t from = m.first(lo) * t.column_stride,
                  size = (m.first(hi - 1) + m.count(hi - 1)) * t.column_stride - from;
    for (int r = 0; r < n_rows; r += some) {
      const int end = std::min(n_rows, r + some);
      for (int k = end; k < std::min(n_rows, end + some) && whole; ++k) prefetch(rows[k] + from, size);
      horizontal<Acc, In, Out>(rows + r, end - r, c, made + r, lo, hi, lease, t.stream && straight);
      for (int k = r; k < end && t.saturate; ++k) saturate_between<Acc, In, Out>(made[k], n);
      if (!staged) continue;
      for (int k = r; k < end; ++k) stream_store(dst[k], made[k], n * int64_t(sizeof(Out)));
    }
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
