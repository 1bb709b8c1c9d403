// Sums along columns for all pairs of dtypes. The kernels of tile-inl.hpp are compiled only for inputs and outputs of
// the accumulator's dtype; those of permuted-inl.hpp also for inputs of frequent dtypes. Other inputs are first
// converted to scratch rows, and sums are converted from scratch rows, a few thousand values at a time, in cache.
#pragma once
#include <algorithm>

#include "levels/pixels-inl.hpp"
#include "levels/sums-inl.hpp"

namespace tenter {
namespace {

// Converts columns [lo, hi) of a row to the accumulator's dtype, contiguous in `to`.
template <class Acc>
void widen_columns(const Sums<Acc>& sums, const char* row, const ColumnAxis& c, int64_t lo, int64_t hi, Acc* to,
                   Lease& lease) {
  const int64_t size = sums.in_size, pixel = c.inner * size, n = hi - lo;
  const char* from = row + lo * c.stride;
  if (!c.contiguous(size)) {
    char* const raw = lease->raw.get<char>(n * pixel);
    if (c.inner == 1 || c.inner_stride == size) pack_pixels(from, c.stride, pixel, raw, n);
    else
      for (int64_t j = 0; j < n; ++j) pack_pixels(from + j * c.stride, c.inner_stride, size, raw + j * pixel, c.inner);
    from = raw;
  }
  sums.widen(from, to, n * c.inner);
}

// Computes output o, whose window is longer than a scratch row.
template <class Acc>
void sum_long_window(const Sums<Acc>& sums, const char* row, const ColumnAxis& c, int64_t o, Acc* dst, Lease& lease) {
  const Acc* const w = weights<Acc>(*c.map) ? weights<Acc>(*c.map) + c.map->offset[o] : nullptr;
  const int64_t first = c.map->first(o), count = c.map->count(o);
  const int64_t part = tuning.widened_values;
  Acc* const inputs = lease->inputs.get<Acc>(part);
  for (int64_t q = 0; q < c.inner; ++q) {
    const ColumnAxis one{c.map, c.stride, 1, sums.in_size, nullptr};
    Acc sum = 0;
    for (int64_t k = 0; k < count; k += part) {
      const int64_t n = std::min(part, count - k);
      widen_columns(sums, row + q * c.inner_stride, one, first + k, first + k + n, inputs, lease);
      for (int64_t j = 0; j < n; ++j) {
        const Acc x = inputs[j];
        if (k + j == 0) sum = w ? x * w[0] : x;
        else sum = w ? multiply_add<Acc>(x, w[k + j], sum) : add<Acc>(sum, x);
      }
    }
    dst[q] = sum;
  }
}

// Whether outputs [lo, hi) are unweighted sums of long segments, which `long_segments` makes.
template <class Acc>
bool has_long_segments(const Sums<Acc>& sums, int n_rows, const ColumnAxis& c, int64_t lo, int64_t hi) {
  const WindowMap& m = *c.map;
  if (!sums.long_segments || weights<Acc>(m) || c.inner != 1 || !c.contiguous(sums.in_size) || lo == hi) return false;
  const bool fills = hi - lo >= lanes<Acc> || 2 * n_rows <= lanes<Acc>;  // else a tile of rows fills more lanes
  if (!sums_long_segments(fills, m.start ? (m.offset[hi] - m.offset[lo]) / (hi - lo) : m.width)) return false;
  int64_t least = m.count(lo);
  for (int64_t o = lo + 1; o < hi && m.start; ++o) least = std::min(least, m.count(o));
  return least > 0 && sums_long_segments(true, least);
}
// Computes these of one row. The last vector repeats the last segment in lanes that are left.
template <class Acc>
void sum_long_segments(const Sums<Acc>& sums, const char* row, const WindowMap& m, int64_t lo, int64_t hi, char* dst) {
  constexpr int64_t N = lanes<Acc>;
  for (int64_t o = lo; o < hi; o += N) {
    int64_t first[N], count[N];
    Acc made[N];
    const int64_t n = std::min(N, hi - o);
    for (int64_t l = 0; l < N; ++l)
      first[l] = m.first(o + std::min(l, n - 1)), count[l] = m.count(o + std::min(l, n - 1));
    sums.long_segments(row, first, count, made);
    char* const to = dst + (o - lo) * sums.out_size;
    if (sums.narrow) sums.narrow(made, to, n);
    else std::memcpy(to, made, size_t(n) * sizeof(Acc));
  }
}

// Computes outputs [lo, hi) of n_rows rows. rows[] and dst[] hold `lanes` pointers; the unused ones repeat the last
// row. Output lo of row r is stored at dst[r]. stream: needs sums.streams_columns.
template <class Acc>
void sum_columns(const Sums<Acc>& sums, const char* const* rows, int n_rows, const ColumnAxis& c, char* const* dst,
                 int64_t lo, int64_t hi, bool stream, Lease& lease) {
  if (!sums.widen && !sums.narrow) return horizontal<Acc>(rows, n_rows, c, dst, lo, hi, lease, stream);
  constexpr int N = lanes<Acc>;
  constexpr int64_t size = sizeof(Acc);
  const WindowMap& m = *c.map;
  if (c.inner == 0) return;
  if (c.inner >= N && c.inner_stride == sums.in_size) {  // columns that fill vectors are summed as rows
    for (int r = 0; r < n_rows; ++r) sums.rows(rows[r], c.stride, m, lo, hi, dst[r], c.inner, c.inner, false, lease);
    return;
  }
  if (has_long_segments(sums, n_rows, c, lo, hi)) {
    for (int r = 0; r < n_rows; ++r) sum_long_segments(sums, rows[r], m, lo, hi, dst[r]);
    return;
  }
  // Inputs of rare dtypes are all converted. If most of them are not read, tiles take less time than permutations.
  const bool permutes = permuted<Acc>(c, sums.in_size) && (sums.by_tables || c.permutes->gather.empty());
  const bool direct = permutes && sums.by_tables, widens = sums.widen && !direct;
  const int height = permutes ? permuted_rows : n_rows;
  const int64_t most = tuning.widened_values;
  const ColumnAxis widened{c.map, c.inner * size, c.inner, size, permutes ? c.permutes : nullptr};
  const ColumnAxis& axis = widens ? widened : c;
  for (int64_t b = lo, end; b < hi; b = end) {
    // Permuted vectors may begin before the block's first output, and their loads may begin before its inputs and end
    // after them.
    const int64_t before = permutes ? std::min<int64_t>(b, N) : 0, margin = permutes ? 2 * N : 0;
    auto inputs = [&](int64_t to) { return m.first(to - 1) + m.count(to - 1) - m.first(b - before); };
    auto fits = [&](int64_t to) {
      return (!sums.narrow || (to - b) * c.inner <= most) && (!widens || inputs(to) * c.inner <= most);
    };
    end = hi;
    if (!fits(hi)) {  // binary search, as windows do not descend; blocks are whole vectors
      int64_t low = 1, high = ceil_div(hi - b, N);
      while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (fits(b + middle * N)) low = middle;
        else high = middle;
      }
      end = std::min(hi, b + low * N);
    }
    const int64_t n = (end - b) * c.inner;
    const bool is_long = widens && inputs(end) * c.inner > std::max(tuning.tile_inputs, N * c.inner);
    const int64_t from = std::max<int64_t>(0, m.first(b - before) * c.inner - margin);
    const int64_t until = std::min(m.n_in * c.inner, (m.first(b - before) + inputs(end)) * c.inner + margin);
    const int64_t pitch = widens && !is_long ? until - from + 2 * N : 0;  // loads may end after the inputs
    for (int r = 0; r < n_rows; r += height) {
      const int n_here = std::min(height, n_rows - r);
      Acc* const made = sums.narrow ? lease->sums.get<Acc>(n_here * n) : nullptr;
      char* to[N];
      for (int k = 0; k < N; ++k) {
        const int row = std::min(k, n_here - 1);
        to[k] = made ? reinterpret_cast<char*>(made + row * n) : dst[r + row] + (b - lo) * c.inner * size;
      }
      if (is_long) {
        for (int k = 0; k < n_here; ++k)
          for (int64_t o = b; o < end; ++o)
            sum_long_window(sums, rows[r + k], c, o, reinterpret_cast<Acc*>(to[k]) + (o - b) * c.inner, lease);
      } else if (direct) {
        sums.by_tables(rows + r, n_here, m.n_in * c.stride, *c.permutes, m.n_out, to, b, end, false, lease);
      } else {
        const char* here[N];
        Acc* const wide = widens ? lease->inputs.get<Acc>(n_here * pitch) : nullptr;
        for (int k = 0; k < N; ++k) {
          const int row = std::min(k, n_here - 1);
          here[k] = wide ? reinterpret_cast<const char*>(wide + row * pitch - from) : rows[r + row];
          if (!wide || k >= n_here) continue;
          if (permutes) sums.widen(rows[r + k] + from * sums.in_size, wide + k * pitch, until - from);
          else widen_columns(sums, rows[r + k], c, from / c.inner, until / c.inner, wide + k * pitch, lease);
        }
        horizontal<Acc>(here, n_here, axis, to, b, end, lease);
      }
      for (int k = 0; k < n_here && made; ++k) sums.narrow(to[k], dst[r + k] + (b - lo) * c.inner * sums.out_size, n);
    }
  }
}

}  // namespace
}  // namespace tenter
