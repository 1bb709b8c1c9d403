// Window passes over two axes at once. Sums along the first axis go to scratch rows, which stay in cache for the second
// axis. src: the first input row of a plane. Output rows [lo, hi) are computed; row lo is stored at dst.
#pragma once
#include "levels/axis-inl.hpp"
#include "levels/pixels-inl.hpp"
#include "rules/bytes.hpp"

namespace tenter {
namespace {

// Sets the unused pointers of a tile to its last row.
template <class T, size_t N>
inline void repeat_last(T* (&rows)[N], int n) {
  std::fill(rows + n, rows + N, rows[n - 1]);
}

// Bytes of a value that is stored.
template <class Acc>
int64_t stored_size(const CallSums<Acc>& sums, const WindowTask& t) {
  return sums.premultiply ? size_of(t.out) : sums.last->out_size;
}

// Sums rows [lo, hi) of colors times alpha, a chunk of columns at a time. Its inputs are multiplied once, and stay in
// cache.
template <class Acc>
void premultiplied_rows(const CallSums<Acc>& sums, const WindowTask& t, const char* src, int64_t lo, int64_t hi,
                        Acc* dst, int64_t n, Lease& lease) {
  constexpr int64_t unit = std::max(lanes<Acc>, 4);  // whole pixels
  const WindowMap& m = *t.row;
  const int64_t first = m.first(lo), n_read = std::max<int64_t>(1, m.first(hi - 1) + m.count(hi - 1) - first);
  const int64_t fitting = tuning.row_chunk_bytes / int64_t(sizeof(Acc)) / n_read / unit * unit;
  const int64_t width = std::min(std::max(unit, fitting), n), size = size_of(t.in);
  Acc* const premultiplied = lease->packed.get<Acc>(n_read * width);
  const char* const origin = reinterpret_cast<const char*>(premultiplied - first * width);  // of input row 0
  int64_t* const rows = lease->index.get<int64_t>(n_read);  // the input rows that some output reads
  int64_t n_rows = 0;
  for (int64_t o = lo, i = first; o < hi; ++o)
    for (i = std::max(i, m.first(o)); i < m.first(o) + m.count(o); ++i) rows[n_rows++] = i;
  constexpr int64_t ahead = 4;  // rows to prefetch: hardware does not predict short chunks of rows
  for (int64_t j = 0; j < n; j += width) {
    const int64_t w = std::min(width, n - j);
    for (int64_t k = 0; k < n_rows; ++k) {
      if (const int64_t next = k + ahead; next < n_rows) prefetch(src + rows[next] * t.row_stride + j * size, w * size);
      else if (j + width < n && next - n_rows < n_rows)
        prefetch(src + rows[next - n_rows] * t.row_stride + (j + width) * size, std::min(width, n - j - width) * size);
      sums.premultiply->multiply(src + rows[k] * t.row_stride + j * size, premultiplied + (rows[k] - first) * width, w);
    }
    sums.first->rows(origin, width * int64_t(sizeof(Acc)), m, lo, hi, reinterpret_cast<char*>(dst + j), n, w, false,
                     lease);
  }
}

// Sums rows first, into a few scratch rows, then columns. If columns are reversed in memory, rows are summed in memory
// order, and the scratch rows are flipped. Output rows may go on into the next outer positions: those of images of few
// rows then fill the lanes of one tile. outer: the position of row 0.
template <class Acc>
void both_rows_first(const CallSums<Acc>& sums, const WindowTask& t, const char* src, char* dst, int64_t outer,
                     int64_t lo, int64_t hi, Lease& lease) {
  constexpr int N = lanes<Acc>;
  const int64_t n_in = t.n_column * t.inner, n_out = t.column->n_out * t.inner, height = t.row->n_out;
  const ColumnAxis packed{t.column, t.inner * int64_t(sizeof(Acc)), t.inner, sizeof(Acc), t.permutes};
  const bool reversed = t.n_column > 1 && t.column_stride < 0;
  if (reversed) src += (t.n_column - 1) * t.column_stride;
  Acc* const scratch = lease->row.get<Acc>(n_in * N * (1 + reversed));
  const int64_t size_out = stored_size(sums, t);
  Acc* const premultiplied = sums.premultiply ? lease->staging.get<Acc>(n_out * N) : nullptr;
  OuterWalk walk(t, outer);
  const int64_t begin = walk.offset();
  int64_t walked = 0;
  const char* rows[N];
  char* to[N];
  for (; lo < hi; lo += N) {
    const int n_rows = int(std::min<int64_t>(N, hi - lo));
    for (int r = 0; r < n_rows; ++r) {
      rows[r] = reinterpret_cast<const char*>(scratch + r * n_in);
      to[r] = premultiplied ? reinterpret_cast<char*>(premultiplied + r * n_out) : dst + r * n_out * size_out;
    }
    repeat_last(rows, n_rows), repeat_last(to, n_rows);
    for (int64_t r = 0, some; r < n_rows; r += some) {
      const int64_t image = (lo + r) / height, at = (lo + r) % height;
      some = std::min(n_rows - r, height - at);
      for (; walked < image; ++walked) walk.next();
      const char* const from = src + walk.offset() - begin;
      if (premultiplied) premultiplied_rows(sums, t, from, at, at + some, scratch + r * n_in, n_in, lease);
      else
        sums.first->rows(from, t.row_stride, *t.row, at, at + some, reinterpret_cast<char*>(scratch + r * n_in), n_in,
                         n_in, false, lease);
    }
    if (t.clamps && sums.last->clamp) sums.last->clamp(scratch, n_in * n_rows);
    const int64_t pixel = t.inner * int64_t(sizeof(Acc));
    for (int r = 0; r < n_rows && reversed; ++r) {
      Acc* const flipped = scratch + n_in * (N + r);
      pack_pixels(rows[r] + (t.n_column - 1) * pixel, -pixel, pixel, reinterpret_cast<char*>(flipped), t.n_column);
      rows[r] = reinterpret_cast<const char*>(flipped);
    }
    if (reversed) repeat_last(rows, n_rows);
    sum_columns(*sums.last, rows, n_rows, packed, to, 0, t.column->n_out, false, lease);
    for (int r = 0; r < n_rows && premultiplied; ++r)
      sums.premultiply->divide(premultiplied + r * n_out, dst + r * n_out * size_out, n_out, Acc(t.unseen));
    dst += n_rows * n_out * size_out;
  }
}

// Sums rows [lo, hi) of n values and divides them by alpha, two rows at a time, whose windows overlap.
template <class Acc>
void divided_rows(const CallSums<Acc>& sums, const WindowTask& t, const char* src, int64_t stride, int64_t lo,
                  int64_t hi, char* dst, int64_t n, Lease& lease) {
  Acc* const two = lease->staging.get<Acc>(2 * n);
  for (; lo < hi; lo += 2) {
    const int64_t end = std::min(hi, lo + 2);
    sums.last->rows(src, stride, *t.row, lo, end, reinterpret_cast<char*>(two), n, n, false, lease);
    for (int64_t r = 0; r < end - lo; ++r, dst += n * size_of(t.out))
      sums.premultiply->divide(two + r * n, dst, n, Acc(t.unseen));
  }
}

// Sums columns first. A few input rows are summed at a time; then come the output rows whose inputs are complete, so
// that these are written to memory while the next are computed. Rows of pixels that are not contiguous are packed
// first, in cache, and colors are premultiplied there.
template <class Acc>
void both_columns_first(const CallSums<Acc>& sums, const WindowTask& t, const char* src, char* dst, int64_t lo,
                        int64_t hi, Lease& lease) {
  constexpr int N = lanes<Acc>;
  const WindowMap& m = *t.row;
  const int64_t n_in = t.n_column * t.inner, n_out = t.column->n_out * t.inner;
  const int64_t size = sums.first->in_size, pixel = t.inner * size;
  ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride, t.permutes};
  const bool premultiplies = sums.premultiply;  // only contiguous rows of pixels
  const bool packs =
      premultiplies || (t.n_column > 1 && t.column_stride != pixel && (t.inner == 1 || t.inner_stride == size));
  if (packs) c.stride = pixel, c.inner_stride = size;
  const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1), pitch = n_out * int64_t(sizeof(Acc));
  Acc* const scratch = lease->row.get<Acc>(std::max<int64_t>(1, (last - first) * n_out));
  const char* const origin = reinterpret_cast<const char*>(scratch) - first * pitch;  // of input row 0
  const int height = permuted<Acc>(c, sums.first->in_size) ? permuted_rows : N;
  const bool reads_all = !c.permutes || c.permutes->gather.empty();  // false if most of a row is not read
  char* const packed = packs ? lease->packed.get<char>(height * t.n_column * pixel) : nullptr;
  const char* rows[N];
  char* to[N];
  // The first input row from i on that an output row from `o` on reads. Some rows may be read by none.
  auto next_read = [&](int64_t i, int64_t& o) {
    while (o < hi && m.first(o) + m.count(o) <= i) ++o;
    return o < hi ? std::max(i, m.first(o)) : last;
  };
  for (int64_t i = first, reader = lo; lo < hi;) {
    int n_rows = 0;
    for (; n_rows < height && (i = next_read(i, reader)) < last; ++n_rows, ++i) {
      rows[n_rows] = src + i * t.row_stride;
      if (packs) {
        char* const row = packed + n_rows * t.n_column * pixel;
        if (premultiplies) sums.premultiply->multiply(rows[n_rows], reinterpret_cast<Acc*>(row), n_in);
        else pack_pixels(rows[n_rows], t.column_stride, pixel, row, t.n_column);
        rows[n_rows] = row;
      }
      to[n_rows] = reinterpret_cast<char*>(scratch + (i - first) * n_out);
    }
    if (n_rows) {
      int64_t next = i, next_reader = reader;
      for (int r = 0; reads_all && !packs && r < n_rows && (next = next_read(next, next_reader)) < last; ++r, ++next)
        prefetch(src + next * t.row_stride, n_in * size);
      if (height == N) repeat_last(rows, n_rows), repeat_last(to, n_rows);
      sum_columns(*sums.first, rows, n_rows, c, to, 0, t.column->n_out, false, lease);
      for (int r = 0; r < n_rows && t.clamps && sums.last->clamp; ++r)
        sums.last->clamp(reinterpret_cast<Acc*>(to[r]), n_out);
    }
    int64_t end = lo;
    while (end < hi && m.first(end) + m.count(end) <= i) ++end;
    if (premultiplies) divided_rows(sums, t, origin, pitch, lo, end, dst, n_out, lease);
    else store_rows(*sums.last, t.stream, origin, pitch, m, lo, end, dst, n_out, n_out, lease);
    dst += (end - lo) * n_out * stored_size(sums, t), lo = end;
  }
}

template <class Acc>
void both_rows(const CallSums<Acc>& sums, const WindowTask& t, const char* src, char* dst, int64_t lo, int64_t hi,
               Lease& lease) {
  if (t.rows_first) both_rows_first(sums, t, src, dst, 0, lo, hi, lease);
  else both_columns_first(sums, t, src, dst, lo, hi, lease);
}

// Output rows of a task: so many that two tasks share few input rows, and at most a chunk of scratch rows.
template <class Acc>
int64_t both_height(const WindowTask& t) {
  if (t.rows_first) return lanes<Acc>;
  const double ratio = double(t.row->n_in) / double(std::max<int64_t>(1, t.row->n_out));
  const double row = double(t.column->n_out * t.inner) * sizeof(Acc);
  return std::clamp<int64_t>(int64_t(double(tuning.row_chunk_bytes) / (row * std::max(ratio, 1e-3))), min_chunk_rows,
                             max_chunk_rows);
}

// Sums all rows and columns of an outer position into one column of many values. A task is a chunk of the column, so
// that the sums along the first axis stay in cache.
template <class Acc>
void wide_column_pass(const CallSums<Acc>& sums, const WindowTask& t, Team team) {
  constexpr int64_t least = 64, most = 2048;
  const int64_t n = t.rows_first ? t.n_column : t.n_row, step = t.rows_first ? t.column_stride : t.row_stride;
  const int64_t fitting = tuning.row_chunk_bytes / (int64_t(sizeof(Acc)) * std::max<int64_t>(1, n)) / least * least;
  const int64_t width = std::clamp(fitting, least, most);
  const int64_t parts = ceil_div(t.inner, width), stride = t.rows_first ? t.row_stride : t.column_stride;
  const WindowMap &first = t.rows_first ? *t.row : *t.column, &last = t.rows_first ? *t.column : *t.row;
  parallel(outer_count(t) * parts, team, [&](int64_t p) {
    const int64_t outer = p / parts, at = p % parts * width, w = std::min(width, t.inner - at);
    const char* const src = t.src + outer_offset(t, outer) + at * sums.first->in_size;
    Lease lease;
    Acc* const made = lease->row.get<Acc>(n * w);
    for (int64_t k = 0; k < n; ++k)
      sums.first->rows(src + k * step, stride, first, 0, 1, reinterpret_cast<char*>(made + k * w), w, w, false, lease);
    store_rows(*sums.last, t.stream, reinterpret_cast<const char*>(made), w * int64_t(sizeof(Acc)), last, 0, 1,
               t.dst + (outer * t.inner + at) * sums.last->out_size, w, w, lease);
    store_fence(t.stream);
  });
}

template <class Acc>
void both_pass(const CallSums<Acc>& sums, const WindowTask& t, Team team) {
  // The rows of all outer positions are one list, unless tasks cut it where an outer position ends.
  const int64_t height = both_height<Acc>(t), n_rows = t.row->n_out, all = outer_count(t) * n_rows;
  const int64_t each = t.rows_first ? all : n_rows, n_tiles = ceil_div(each, height);
  const int64_t n_out = t.column->n_out * t.inner;
  parallel(t.rows_first ? n_tiles : outer_count(t) * n_tiles, team, [&](int64_t p) {
    const int64_t first = p / n_tiles * each + p % n_tiles * height, outer = first / n_rows, lo = first % n_rows;
    const int64_t hi = lo + std::min(height, each - p % n_tiles * height), size = stored_size(sums, t);
    Lease lease;
    char* const dst = t.floats && t.floats->interleaved ? lease->staging.get<char>((hi - lo) * n_out * size)
                                                        : t.dst + first * n_out * size;
    const char* const src = t.src + outer_offset(t, outer);
    if (t.rows_first) both_rows_first(sums, t, src, dst, outer, lo, hi, lease);
    else both_columns_first(sums, t, src, dst, lo, hi, lease);
    if (t.floats) kernels().bytes->store_rows(*t.floats, Dtype::f32, dst, first, first + hi - lo);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
