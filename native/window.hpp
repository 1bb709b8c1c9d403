// The window kernel: each output is a weighted sum of adjacent inputs. Passes over one axis, or two or three at once.
// Included by level.cpp inside the namespace of an instruction set.
//
// One inner loop does all of it: rows * weights (rows.hpp). Columns become rows in transposed tiles (tile.hpp).
// Every output adds its own taps, and no others, in ascending order of input: no padding touches a neighbour's inf or
// NaN, and neither threads, tiles nor memory layout change a bit.

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
template <class D>
inline bool aligned(const D* dst, int64_t pitch) {
  return (reinterpret_cast<intptr_t>(dst) | pitch * int64_t(sizeof(D))) % 64 == 0;
}

// vertical_rows, past the caches if so told: straight from the sums where rows are whole lines, so that the memory
// takes lines while sums are made; else a piece at a time.
template <class A, class S, class D>
void rows_out(bool stream, const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, D* dst,
              int64_t pitch, int64_t n, Lease& lease) {
  const bool straight = whole_lines<A, D, 4> && aligned(dst, pitch);
  if (!stream || straight) return vertical_rows<A, S, D>(src, stride, m, lo, hi, dst, pitch, n, stream);
  const int64_t most = std::max<int64_t>(2, tuning.piece_bytes / int64_t(sizeof(D)));
  const int64_t width = std::min(n, most / 2), height = std::max<int64_t>(2, most / width);
  D* const piece = lease->piece.get<D>(height * width);
  for (int64_t o = lo; o < hi; o += height)
    for (int64_t j = 0; j < n; j += width) {
      const int64_t end = std::min(hi, o + height), w = std::min(width, n - j);
      vertical_rows<A, S, D>(src + j * int64_t(sizeof(S)), stride, m, o, end, piece, w, w);
      D* const to = dst + (o - lo) * pitch + j;
      if (w == pitch) put(to, piece, (end - o) * w * int64_t(sizeof(D)));
      else
        for (int64_t r = 0; r < end - o; ++r) put(to + r * pitch, piece + r * w, w * int64_t(sizeof(D)));
    }
}

// What a store as integer D would clamp, clamped early: overshoot of the first axis never reaches the second.
template <class A, class D>
void saturate_scratch(A* p, int64_t n) {
  if constexpr (std::is_integral_v<D> && std::is_floating_point_v<A>) {
    constexpr A low = A(std::numeric_limits<D>::min()), high = A(std::numeric_limits<D>::max());
    for (int64_t i = 0; i < n; ++i) p[i] = p[i] < low ? low : p[i] > high ? high : p[i];
  }
}

// The same in the result of a pass of one axis, where another pass for the other follows.
template <class A, class S, class D>
void saturate_between(D* p, int64_t n) {
  if constexpr (std::is_same_v<A, D>) saturate_scratch<A, S>(p, n);
}

// ---- one axis: rows only. The columns (and what is inside them) lie together.
template <class A, class S, class D>
void rows_pass(const WindowTask& t, Team team) {
  const WindowMap& m = *t.row;
  const int64_t n = t.n_column * t.inner, width = std::min(n, tuning.row_width), n_blocks = blocks(n, width);
  const int64_t height = std::max<int64_t>(1, tuning.row_block / std::max<int64_t>(1, width));
  const int64_t n_rows = blocks(m.n_out, height);
  parallel(outer_count(t) * n_rows * n_blocks, team, [&](int64_t p) {
    const int64_t b = p % n_blocks * width, r = p / n_blocks % n_rows * height, outer = p / n_blocks / n_rows;
    const char* src = t.src + outer_offset(t, outer) + b * int64_t(sizeof(S));
    D* dst = reinterpret_cast<D*>(t.dst) + outer * m.n_out * n + b;
    const int64_t end = std::min(m.n_out, r + height), some = std::min(width, n - b);
    Lease lease;
    rows_out<A, S, D>(t.stream, src, t.row_stride, m, r, end, dst + r * n, n, some, lease);
    if (t.saturate)
      for (int64_t o = r; o < end; ++o) saturate_between<A, S, D>(dst + o * n, some);
    settle(t.stream);
  });
}

// ---- one axis: columns only. Outer axes and rows together are a list of rows, `lanes` of them a task.
template <class A, class S, class D>
void columns_pass(const WindowTask& t, Team team) {
  constexpr int N = lanes<A>;
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride, t.permutes};
  const int64_t total = outer_count(t) * t.n_row, n_out = t.column->n_out;
  // How many rows are made together, and how much of each; straight to memory, or by way of a piece.
  const bool quick = permuted<A, S>(c), whole = quick && c.permutes->at.empty();  // are rows read as they lie?
  const bool straight = quick && whole_lines<A, D, 1> && aligned(reinterpret_cast<D*>(t.dst), n_out * t.inner);
  const bool pieces = t.stream && !straight;
  const int some = quick ? few : N;
  int64_t step = tile_outputs<A>(c);
  if (total == 1) step = std::max<int64_t>(N, tuning.column_step / N * N);
  if (t.stream) {
    const int64_t most = tuning.piece_bytes / int64_t(sizeof(D)) / some / t.inner / N * N;
    step = quick ? std::max<int64_t>(N, most) : std::clamp<int64_t>(most, N, step);
  }
  const int64_t n_blocks = blocks(n_out, step);
  parallel(blocks(total, N) * n_blocks, team, [&](int64_t p) {
    const int64_t row = p / n_blocks * N, lo = p % n_blocks * step, hi = std::min(n_out, lo + step);
    const int n_rows = int(std::min<int64_t>(N, total - row));
    const char* rows[N];
    D *dst[N], *made[N];
    const int64_t n = (hi - lo) * t.inner;
    Lease lease;
    D* const piece = pieces ? lease->piece.get<D>(some * n) : nullptr;
    for (int r = 0; r < N; ++r) {
      const int64_t at = row + std::min(r, n_rows - 1);
      rows[r] = t.src + outer_offset(t, at / t.n_row) + at % t.n_row * t.row_stride;
      dst[r] = reinterpret_cast<D*>(t.dst) + (at * n_out + lo) * t.inner;
      made[r] = pieces ? piece + r % some * n : dst[r];
    }
    const WindowMap& m = *t.column;
    const int64_t from = m.first(lo) * t.column_stride,
                  size = (m.first(hi - 1) + m.count(hi - 1)) * t.column_stride - from;
    for (int r = 0; r < n_rows; r += some) {
      const int end = std::min(n_rows, r + some);
      for (int k = end; k < std::min(n_rows, end + some) && whole; ++k) fetch(rows[k] + from, size);
      horizontal<A, S, D>(rows + r, end - r, c, made + r, lo, hi, lease, t.stream && straight);
      for (int k = r; k < end && t.saturate; ++k) saturate_between<A, S, D>(made[k], n);
      if (!pieces) continue;
      for (int k = r; k < end; ++k) put(dst[k], made[k], n * int64_t(sizeof(D)));
    }
    settle(t.stream);
  });
}

// ---- both axes, by way of scratch rows that stay in cache: output rows [lo, hi) of one plane. src is the plane's
// first input row, dst where output row lo goes.
template <class A, class S, class D>
void both_rows(const WindowTask& t, const char* src, D* dst, int64_t lo, int64_t hi, Lease& lease) {
  constexpr int N = lanes<A>;
  const WindowMap& m = *t.row;
  const int64_t n_in = t.n_column * t.inner, n_out = t.column->n_out * t.inner;
  const char* rows[N];
  auto fill_up = [](auto* a, int n) { std::fill(a + n, a + N, a[n - 1]); };

  if (t.rows_first) {
    const ColumnAxis packed{t.column, t.inner * int64_t(sizeof(A)), t.inner, sizeof(A), t.permutes};
    A* const scratch = lease->row.get<A>(n_in * N);
    D* to[N];
    for (; lo < hi; lo += N) {
      const int n_rows = int(std::min<int64_t>(N, hi - lo));
      for (int r = 0; r < n_rows; ++r, dst += n_out) {
        rows[r] = reinterpret_cast<const char*>(scratch + r * n_in);
        to[r] = dst;
      }
      fill_up(rows, n_rows), fill_up(to, n_rows);
      vertical_rows<A, S, A>(src, t.row_stride, m, lo, lo + n_rows, scratch, n_in, n_in);
      if (t.saturate) saturate_scratch<A, D>(scratch, n_in * n_rows);
      horizontal<A, A, D>(rows, n_rows, packed, to, 0, t.column->n_out, lease);
    }
    return;
  }

  // A few input rows, then the output rows that need no others: while the memory takes these, the next are made.
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride, t.permutes};
  const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1), pitch = n_out * int64_t(sizeof(A));
  A* const scratch = lease->row.get<A>(std::max<int64_t>(1, (last - first) * n_out));
  const char* const origin = reinterpret_cast<const char*>(scratch) - first * pitch;
  const int some = permuted<A, S>(c) ? few : N;
  A* to[N];
  // The first input row from i on that is in some window from `reader` on: windows may lie far apart.
  auto wanted = [&](int64_t i, int64_t& reader) {
    while (reader < hi && m.first(reader) + m.count(reader) <= i) ++reader;
    return reader < hi ? std::max(i, m.first(reader)) : last;
  };
  for (int64_t i = first, reader = lo; lo < hi;) {
    int n_rows = 0;
    for (; n_rows < some && (i = wanted(i, reader)) < last; ++n_rows, ++i) {
      rows[n_rows] = src + i * t.row_stride;
      to[n_rows] = scratch + (i - first) * n_out;
    }
    if (n_rows) {
      int64_t next = i, later = reader;
      const bool whole = !c.permutes || c.permutes->at.empty();  // or most of a row is not read
      for (int r = 0; whole && r < n_rows && (next = wanted(next, later)) < last; ++r, ++next)
        fetch(src + next * t.row_stride, n_in * int64_t(sizeof(S)));
      fill_up(rows, n_rows), fill_up(to, n_rows);
      horizontal<A, S, A>(rows, n_rows, c, to, 0, t.column->n_out, lease);
      for (int r = 0; r < n_rows && t.saturate; ++r) saturate_scratch<A, D>(to[r], n_out);
    }
    int64_t end = lo;
    while (end < hi && m.first(end) + m.count(end) <= i) ++end;
    rows_out<A, A, D>(t.stream, origin, pitch, m, lo, end, dst, n_out, n_out, lease);
    dst += (end - lo) * n_out, lo = end;
  }
}

// Output rows a task: so many that the input rows two tasks share are few, in about 192 KiB of scratch.
template <class A>
int64_t both_height(const WindowTask& t) {
  if (t.rows_first) return lanes<A>;
  const double ratio = double(t.row->n_in) / double(std::max<int64_t>(1, t.row->n_out));
  const double row = double(t.column->n_out * t.inner) * sizeof(A);
  return std::clamp<int64_t>(int64_t(double(tuning.band_bytes) / (row * std::max(ratio, 1e-3))), 8, 256);
}

template <class A, class S, class D>
void both_pass(const WindowTask& t, Team team) {
  const int64_t height = both_height<A>(t), n_rows = t.row->n_out, n_tiles = blocks(n_rows, height);
  const int64_t n_out = t.column->n_out * t.inner;
  parallel(outer_count(t) * n_tiles, team, [&](int64_t p) {
    const int64_t outer = p / n_tiles, lo = p % n_tiles * height;
    Lease lease;
    both_rows<A, S, D>(t, t.src + outer_offset(t, outer), reinterpret_cast<D*>(t.dst) + (outer * n_rows + lo) * n_out,
                       lo, std::min(n_rows, lo + height), lease);
    settle(t.stream);
  });
}

// Most input planes that `lot` adjacent outputs read, from a multiple of it on.
inline int64_t most_planes(const WindowMap& m, int64_t lot) {
  int64_t most = 0;
  for (int64_t d = 0; d < m.n_out; d += lot) {
    const int64_t end = std::min(m.n_out, d + lot) - 1;
    most = std::max(most, m.first(end) + m.count(end) - m.first(d));
  }
  return most;
}

// ---- three axes: a band of rows of every plane, a few planes at a time, so that what lies between stays in cache.
template <class A, class S, class D>
void three_pass(const WindowTask& t, Team team) {
  const WindowMap &planes = *t.plane, &m = *t.row;
  const int64_t row_in = t.n_column * t.inner, row_out = t.column->n_out * t.inner, plane_out = m.n_out * row_out;
  const int64_t scratch_row = std::max<int64_t>(1, (t.planes_first ? row_in : row_out) * int64_t(sizeof(A)));
  const int64_t height = std::clamp<int64_t>(tuning.plane_bytes / scratch_row, 8, std::max<int64_t>(8, m.n_out));
  const int64_t n_bands = blocks(m.n_out, height);
  WindowTask flat = t;  // of the other two axes
  if (t.planes_first) {
    flat.row_stride = row_in * int64_t(sizeof(A)), flat.column_stride = t.inner * int64_t(sizeof(A));
    flat.inner_stride = sizeof(A);
  } else {
    flat.stream = false;
  }
  parallel(outer_count(t) * n_bands, team, [&](int64_t p) {
    const int64_t outer = p / n_bands, lo = p % n_bands * height, hi = std::min(m.n_out, lo + height);
    const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1);
    const char* const src = t.src + outer_offset(t, outer);
    D* const dst = reinterpret_cast<D*>(t.dst) + outer * planes.n_out * plane_out + lo * row_out;
    Lease lease;
    if (t.planes_first) {
      constexpr int64_t two = 2;  // output planes, which share inputs
      const int64_t band = (last - first) * row_in, pitch = row_in * int64_t(sizeof(A));
      A* const scratch = lease->plane.get<A>(std::max<int64_t>(1, two * band));
      const bool together = t.row_stride == row_in * int64_t(sizeof(S));
      for (int64_t d = 0; d < planes.n_out; d += two) {
        const int64_t end = std::min(planes.n_out, d + two);
        for (int64_t i = first; i < last; i += together ? last - first : 1)
          vertical_rows<A, S, A>(src + i * t.row_stride, t.plane_stride, planes, d, end, scratch + (i - first) * row_in,
                                 band, together ? band : row_in);
        for (int64_t k = d; k < end; ++k)
          both_rows<A, A, D>(flat, reinterpret_cast<const char*>(scratch + (k - d) * band) - first * pitch,
                             dst + k * plane_out, lo, hi, lease);
      }
    } else {
      // A pair of output planes at a time, so that memory takes them while the next are made. Input planes that later
      // pairs read are kept; where there is no room for more they move to the front.
      constexpr int64_t pair = 2;
      const int64_t band = (hi - lo) * row_out, pitch = band * int64_t(sizeof(A)), most = most_planes(planes, pair);
      const int64_t room =
          std::max(most, std::min<int64_t>(planes.n_in, most + tuning.planes_kept_bytes / std::max<int64_t>(1, pitch)));
      A* const scratch = lease->plane.get<A>(std::max<int64_t>(1, room * band));
      int64_t from = 0, made = 0;  // input planes [from, made) are in scratch
      for (int64_t d = 0; d < planes.n_out; d += pair) {
        const int64_t end = std::min(planes.n_out, d + pair);
        const int64_t lowest = planes.first(d), highest = planes.first(end - 1) + planes.count(end - 1);
        if (highest - from > room || lowest > made) {
          if (made > lowest) std::memmove(scratch, scratch + (lowest - from) * band, (made - lowest) * pitch);
          from = lowest, made = std::max(made, lowest);
        }
        for (; made < highest; ++made)
          both_rows<A, S, A>(flat, src + made * t.plane_stride, scratch + (made - from) * band, lo, hi, lease);
        rows_out<A, A, D>(t.stream, reinterpret_cast<const char*>(scratch) - from * pitch, pitch, planes, d, end,
                          dst + d * plane_out, plane_out, band, lease);
      }
    }
    settle(t.stream);
  });
}

template <class A, class S, class D>
void window_as(const WindowTask& t, Team team) {
  if (t.plane) three_pass<A, S, D>(t, team);
  else if (t.row && t.column) both_pass<A, S, D>(t, team);
  else if (t.row) rows_pass<A, S, D>(t, team);
  else columns_pass<A, S, D>(t, team);
}

// Dtypes in and out: the same, or one of them the accumulator (a pass of several).
template <class A, class T>
bool window_from(const WindowTask& t, Dtype dtype, Dtype accumulator, Team team) {
  if (t.in == dtype && t.out == dtype) window_as<A, T, T>(t, team);
  else if (t.in == dtype && t.out == accumulator) window_as<A, T, A>(t, team);
  else if (t.in == accumulator && t.out == dtype) window_as<A, A, T>(t, team);
  else return false;
  return true;
}

void window(const WindowTask& task, int threads) {
  const WindowTask& t = task;
  const int64_t rows = outer_count(t) * (t.row ? t.row->n_out : t.n_row);
  const int64_t planes_in = t.plane ? t.plane->n_in : 1, planes_out = t.plane ? t.plane->n_out : 1;
  const int64_t moved = std::max(outer_count(t) * planes_in * t.n_row * t.n_column,
                                 planes_out * rows * (t.column ? t.column->n_out : t.n_column));
  const Team n = team_for(moved * t.inner * 8, threads);
  const Dtype f32 = Dtype::f32, f64 = Dtype::f64, i64 = Dtype::i64;
  bool served = false;
  switch (t.acc) {
    case Accumulate::f32:
      served = window_from<float, float>(t, f32, f32, n) || window_from<float, f16>(t, Dtype::f16, f32, n) ||
               window_from<float, bf16>(t, Dtype::bf16, f32, n) || window_from<float, uint8_t>(t, Dtype::u8, f32, n) ||
               window_from<float, int8_t>(t, Dtype::i8, f32, n) ||
               window_from<float, uint16_t>(t, Dtype::u16, f32, n) ||
               window_from<float, int16_t>(t, Dtype::i16, f32, n);
      break;
    case Accumulate::f64:
      served = window_from<double, double>(t, f64, f64, n) || window_from<double, uint32_t>(t, Dtype::u32, f64, n) ||
               window_from<double, int32_t>(t, Dtype::i32, f64, n) ||
               window_from<double, uint64_t>(t, Dtype::u64, f64, n) ||
               window_from<double, int64_t>(t, Dtype::i64, f64, n);
      break;
    case Accumulate::i64:
      served =
          window_from<int64_t, int64_t>(t, i64, i64, n) || window_from<int64_t, uint8_t>(t, Dtype::u8, i64, n) ||
          window_from<int64_t, int8_t>(t, Dtype::i8, i64, n) || window_from<int64_t, uint16_t>(t, Dtype::u16, i64, n) ||
          window_from<int64_t, int16_t>(t, Dtype::i16, i64, n) ||
          window_from<int64_t, uint32_t>(t, Dtype::u32, i64, n) ||
          window_from<int64_t, int32_t>(t, Dtype::i32, i64, n) || window_from<int64_t, uint64_t>(t, Dtype::u64, i64, n);
  }
  if (!served) throw std::invalid_argument("no window kernel for these dtypes");
}
