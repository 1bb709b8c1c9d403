// Rows whose elements are columns of the input. Squares of elements are transposed in registers: vectors are loaded
// along columns, where elements are next to each other, and stored along rows.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "levels/convert-inl.hpp"
#include "levels/copy-runs-inl.hpp"

namespace tenter {
namespace {

constexpr int short_column = 16;  // bytes of vectors of columns with few rows

// Whether elements of `run` bytes, which are `step` bytes apart along n_rows rows, fill vectors that can be transposed.
inline bool transposes(int64_t run, int64_t step, int64_t n_rows) {
  return run <= 8 && (run & (run - 1)) == 0 && step == run && n_rows * run >= short_column;
}

// Elements of N bytes along a side of a square, in vectors of so many bytes.
constexpr int side(int N, int bytes) { return std::min(8, bytes / N); }
template <int N>
int side_for(int64_t n_rows) {
  return side(N, n_rows * N >= vector_bytes ? vector_bytes : short_column);
}

// A column of H elements from each of L rows, transposed, and stored `pitch` bytes apart. Rows are stored in order. n:
// how many of the H columns are stored, if not `whole`.
template <class T, int H, int L, bool whole, class Column>
inline void transpose_square(Column&& column, int64_t n, int64_t offset, char* to, int64_t pitch) {
  typedef VecN<T, L> V;
  V v[H];
  for (int j = 0; j < H; ++j) v[j] = load_unaligned<V>(column(whole ? j : std::min<int64_t>(j, n - 1)) + offset);
  transpose<T, H, L>(v);
  auto store = [&]<int b, int... l>(std::integral_constant<int, b>, std::integer_sequence<int, l...>)
                   __attribute__((always_inline)) {
                     for (int j = 0; j < H; ++j, to += pitch) {
                       const VecN<T, H> part = __builtin_shufflevector(v[j], v[j], (b * H + l)...);
                       if constexpr (whole) store_bits(to, part);
                       else std::memcpy(to, &part, n * sizeof(T));
                     }
                   };
  [&]<int... b>(std::integer_sequence<int, b...>) __attribute__((always_inline)) {
    (store(std::integral_constant<int, b>{}, std::make_integer_sequence<int, H>{}), ...);
  }(std::make_integer_sequence<int, L / H>{});
}

// Each column is a stream of lines, of which there are more than hardware prefetchers follow: the line that rows after
// these read takes as long as all else if it is not prefetched.
constexpr int64_t next_line = 64;

// Stores n_rows rows of n elements of N bytes, `pitch` bytes apart: element c of row r is at column(c) + r * N.
// `transposes` must hold. spills: whether up to 7 elements more may be stored after a row, and after the last one. Rows
// of one square are stored in order, so that the next one overwrites them; longer rows must have space for them.
template <int N, int bytes, class Column>
inline void transpose_by(Column&& column, int64_t n, int64_t n_rows, bool spills, char* to, int64_t pitch) {
  typedef Unsigned<N> T;
  constexpr int L = bytes / N, H = side(N, bytes);
  for (int64_t r = 0; r < n_rows; r += L) {
    r = std::min(r, n_rows - L);  // the last vectors end with the rows, and overlap those before
    char* const at = to + r * pitch;
    int64_t c = 0;
    auto from = [&](int64_t j) __attribute__((always_inline)) {
      const char* const p = column(c + j);
      if (r == 0) __builtin_prefetch(p + next_line);
      return p;
    };
    for (; c + H <= n; c += H) transpose_square<T, H, L, true>(from, H, r * N, at + c * N, pitch);
    if (c == n) continue;
    auto last = [&](int64_t j) __attribute__((always_inline)) { return column(std::min(c + j, n - 1)); };
    if (!spills) transpose_square<T, H, L, false>(last, n - c, r * N, at + c * N, pitch);
    else if (constexpr int few = std::max(2, H / 2); n - c <= few)
      transpose_square<T, few, L, true>(last, few, r * N, at + c * N, pitch);
    else transpose_square<T, H, L, true>(last, H, r * N, at + c * N, pitch);
  }
}
template <int N, class Column>
inline void transpose_rows(Column&& column, int64_t n, int64_t n_rows, bool spills, char* to, int64_t pitch) {
  if (n_rows * N >= vector_bytes) transpose_by<N, vector_bytes>(column, n, n_rows, spills, to, pitch);
  else transpose_by<N, short_column>(column, n, n_rows, spills, to, pitch);
}

constexpr int64_t most_plane_rows = line, plane_columns = 256;  // of a block that is transposed, which stays in L1

// A block of a plane: rows of inputs that are next to each other, and inputs [first, first + n_columns) of the columns.
// begin[r]: the first output of row r, up to begin[n_rows].
struct PlaneBlock {
  int64_t pitch, first, n_columns, n_rows, begin[most_plane_rows + 1];
  int64_t times;  // outputs of every row; 0 if they differ
};

// src: the input of the first row. dst: output 0 of the axis of rows. Inputs are transposed into a buffer, from which
// they are repeated; and into the result if nothing is repeated.
template <int N>
void fill_plane(const CopyAxis& last, const char* src, const PlaneBlock& b, char* dst, Pattern& pattern) {
  constexpr int64_t slack = 8 * N;
  const bool table = last.kind == CopyAxis::index, each = last.kind == CopyAxis::affine || each_by_table(last);
  auto first_output = [&](int64_t of) {
    return last.kind == CopyAxis::runs ? last.table[of] : std::min(of * last.repeat, last.n_out);
  };
  const int64_t n = b.n_columns, n_packed = n <= side_for<N>(b.n_rows) ? n : round_up(n, 8) + 8;
  const int64_t lo = first_output(b.first), hi = first_output(b.first + n), bytes = (hi - lo) * N;
  if (lo == hi) return;
  auto column = [&](int64_t c) __attribute__((always_inline)) {
    return src + (table ? last.table[b.first + c] : b.first + c) * last.stride;
  };
  char* const to = dst + b.begin[0] * b.pitch + lo * N;
  if (each && b.times) return transpose_rows<N>(column, n, b.n_rows, false, to, b.times * b.pitch);
  char packed[line * (plane_columns + 8) + slack];
  transpose_rows<N>(column, n, b.n_rows, true, packed, n_packed * N);
  if (last.kind != CopyAxis::runs && b.times == 1 && n_packed == n && b.pitch == n * last.repeat * N) {
    const CopyAxis all{CopyAxis::every, b.n_rows * n, b.n_rows * last.n_out, N, last.repeat, nullptr};
    return copy_last_axis(all, packed, to, 0, all.n_out, N, pattern);
  }
  CopyAxis axis = last;
  axis.stride = N;
  if (table) axis.kind = CopyAxis::every;
  for (int64_t r = 0; r < b.n_rows; ++r) {
    if (b.begin[r] == b.begin[r + 1]) continue;
    char* const at = dst + b.begin[r] * b.pitch + lo * N;
    if (each) copy_bytes(at, packed + r * n_packed * N, bytes);
    else copy_last_axis(axis, packed + (r * n_packed - b.first) * N, at, lo, hi, N, pattern);
  }
}

// The same for all planes of axis j and the axes after it. Of planes that are repeated, it fills the first.
inline void fill_planes(const CopyTask& t, int j, const char* src, const PlaneBlock& b, char* dst, Pattern& pattern) {
  const CopyAxis& a = t.axis[j];
  if (j + 1 == t.n_axes)
    return (void)with_constant<1, 2, 4, 8>(t.run, [&]<int N>() { fill_plane<N>(a, src, b, dst, pattern); });
  for (int64_t o = 0; o < (a.stride ? a.n_out : 1); ++o)
    fill_planes(t, j + 1, src + o * a.stride, b, dst + o * t.bytes[j + 1], pattern);
}

// Copies the first planes of axis j, and of those after it, to where they are repeated.
inline void repeat_planes(const CopyTask& t, int j, char* dst) {
  if (j + 1 == t.n_axes) return;
  const CopyAxis& a = t.axis[j];
  const int64_t size = t.bytes[j + 1];
  for (int64_t o = 0; o < (a.stride ? a.n_out : 1); ++o) repeat_planes(t, j + 1, dst + o * size);
  for (int64_t o = 1; o < (a.stride ? 1 : a.n_out); ++o) copy_bytes(dst + o * size, dst, size);
}

// Outputs [lo, hi) of axis k as rows of planes. The columns are on the last axis. The inputs before and after fill the
// last vectors of rows.
inline void fill_rows(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, Pattern& pattern) {
  const CopyAxis &a = t.axis[k], &last = t.axis[t.n_axes - 1];
  const int64_t* const table = a.kind == CopyAxis::runs ? a.table : nullptr;
  int64_t first = lo, stop = hi;  // inputs
  if (table) {
    first = std::upper_bound(table, table + a.n_in + 1, lo) - table - 1;
    stop = std::lower_bound(table, table + a.n_in + 1, hi) - table;
  } else if (a.kind == CopyAxis::every) {
    first = lo / a.repeat, stop = ceil_div(hi, a.repeat);
  }
  const int64_t least = vector_bytes / t.run, n_rows = line / t.run;
  const int64_t n_columns = last.kind == CopyAxis::index ? last.n_out / last.repeat : last.n_in;
  const bool planes_once = std::all_of(t.axis + k + 1, t.axis + t.n_axes, [](const CopyAxis& c) { return c.stride; });
  PlaneBlock b;
  b.pitch = t.bytes[k + 1];
  for (int64_t i = first; i < stop; i += b.n_rows) {
    i = std::max<int64_t>(0, std::min(i, stop - least));
    b.n_rows = std::min(n_rows, std::max(stop - i, std::min(least, a.n_in - i)));
    for (int64_t r = 0; r <= b.n_rows; ++r)
      b.begin[r] = std::clamp(table ? table[i + r] : (i + r) * a.repeat, lo, hi) - lo;
    b.times = b.begin[1] - b.begin[0];
    for (int64_t r = 1; r < b.n_rows; ++r)
      if (b.begin[r + 1] - b.begin[r] != b.times) b.times = 0;
    for (b.first = 0; b.first < n_columns; b.first += b.n_columns) {
      b.n_columns = std::min(plane_columns, n_columns - b.first);
      fill_planes(t, k + 1, src + i * t.run, b, dst, pattern);
    }
    for (int64_t r = 0; r < b.n_rows && !(b.times == 1 && planes_once); ++r) {
      char* const row = dst + b.begin[r] * b.pitch;
      if (b.begin[r] < b.begin[r + 1]) repeat_planes(t, k + 1, row);
      for (int64_t o = 1; o < b.begin[r + 1] - b.begin[r]; ++o) copy_bytes(row + o * b.pitch, row, b.pitch);
    }
  }
}

// The axis whose outputs are rows of planes: it is walked along the input's elements, and the last axis is not. -1 if
// there is none.
inline int axis_of_rows(const CopyTask& t) {
  constexpr int64_t few = 16;  // outputs of a row, which are mostly stored in parts of vectors
  const int last = t.n_axes - 1;
  if (last < 1) return -1;
  const CopyAxis& a = t.axis[last];
  if (a.kind == CopyAxis::computed || (a.kind == CopyAxis::index && a.n_out % a.repeat)) return -1;
  if ((a.kind == CopyAxis::affine || each_by_table(a)) && a.n_out < few) return -1;
  if (a.n_in < 2 || (a.kind != CopyAxis::index && std::abs(a.stride) <= t.run)) return -1;
  for (int k = last - 1; k >= 0; --k) {
    const CopyAxis& b = t.axis[k];
    const bool walks = b.kind == CopyAxis::affine || b.kind == CopyAxis::every || b.kind == CopyAxis::runs;
    if (walks && transposes(t.run, b.stride, b.n_in)) return k;
    if (b.kind != CopyAxis::affine) return -1;
  }
  return -1;
}

}  // namespace
}  // namespace tenter
