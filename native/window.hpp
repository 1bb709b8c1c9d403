// The window kernel: each output is a weighted sum of adjacent inputs. Passes over one axis, or two at once.
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

// vertical_rows, a piece at a time past the caches if the task says so.
template <class A, class S, class D>
void rows_out(const WindowTask& t, const char* src, int64_t stride, int64_t lo, int64_t hi, D* dst, int64_t pitch,
              int64_t n) {
  const WindowMap& m = *t.row;
  if (!t.stream) return vertical_rows<A, S, D>(src, stride, m, lo, hi, dst, pitch, n);
  constexpr int64_t most = piece_bytes / int64_t(sizeof(D));
  const int64_t width = std::min(n, most / 2), height = std::max<int64_t>(2, most / width);
  D* const piece = piece_scratch.get<D>(height * width);
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

// ---- one axis: rows only. The columns (and what is inside them) lie together.
template <class A, class S, class D>
void rows_pass(const WindowTask& t, int threads) {
  const WindowMap& m = *t.row;
  const int64_t n = t.n_column * t.inner, width = std::min<int64_t>(n, 4096), n_blocks = blocks(n, width);
  const int64_t height = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)), n_rows = blocks(m.n_out, height);
  parallel(outer_count(t) * n_rows * n_blocks, threads, [&](int64_t p) {
    const int64_t b = p % n_blocks * width, r = p / n_blocks % n_rows * height, outer = p / n_blocks / n_rows;
    const char* src = t.src + outer_offset(t, outer) + b * int64_t(sizeof(S));
    D* dst = reinterpret_cast<D*>(t.dst) + outer * m.n_out * n + b;
    rows_out<A, S, D>(t, src, t.row_stride, r, std::min(m.n_out, r + height), dst + r * n, n, std::min(width, n - b));
    settle(t.stream);
  });
}

// ---- one axis: columns only. Outer axes and rows together are a list of rows, `lanes` of them a task.
template <class A, class S, class D>
void columns_pass(const WindowTask& t, int threads) {
  constexpr int N = lanes<A>;
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride, t.permutes};
  const int64_t total = outer_count(t) * t.n_row, n_out = t.column->n_out;
  // How many rows are made together, and how much of each.
  const int some = permuted<A, S>(c) ? few : N;
  int64_t step = total == 1 ? 4096 : tile_outputs<A>(c);
  if (t.stream) {
    const int64_t most = piece_bytes / int64_t(sizeof(D)) / some / t.inner / N * N;
    step = some == few ? std::max<int64_t>(N, most) : std::clamp<int64_t>(most, N, step);
  }
  const int64_t n_blocks = blocks(n_out, step);
  parallel(blocks(total, N) * n_blocks, threads, [&](int64_t p) {
    const int64_t row = p / n_blocks * N, lo = p % n_blocks * step, hi = std::min(n_out, lo + step);
    const int n_rows = int(std::min<int64_t>(N, total - row));
    const char* rows[N];
    D *dst[N], *made[N];
    const int64_t n = (hi - lo) * t.inner;
    D* const piece = t.stream ? piece_scratch.get<D>(some * n) : nullptr;
    for (int r = 0; r < N; ++r) {
      const int64_t at = row + std::min(r, n_rows - 1);
      rows[r] = t.src + outer_offset(t, at / t.n_row) + at % t.n_row * t.row_stride;
      dst[r] = reinterpret_cast<D*>(t.dst) + (at * n_out + lo) * t.inner;
      made[r] = t.stream ? piece + r % some * n : dst[r];
    }
    for (int r = 0; r < n_rows; r += some) {
      const int end = std::min(n_rows, r + some);
      horizontal<A, S, D>(rows + r, end - r, c, made + r, lo, hi);
      if (!t.stream) continue;
      for (int k = r; k < end; ++k) put(dst[k], made[k], n * int64_t(sizeof(D)));
    }
    settle(t.stream);
  });
}

// What a store as integer D would clamp, clamped early: overshoot of the first axis never reaches the second.
template <class A, class D>
void saturate_scratch(A* p, int64_t n) {
  if constexpr (std::is_integral_v<D> && std::is_floating_point_v<A>) {
    constexpr A low = A(std::numeric_limits<D>::min()), high = A(std::numeric_limits<D>::max());
    for (int64_t i = 0; i < n; ++i) p[i] = p[i] < low ? low : p[i] > high ? high : p[i];
  }
}

// ---- both axes, by way of scratch rows that stay in cache.
template <class A, class S, class D>
void both_pass(const WindowTask& t, int threads) {
  constexpr int N = lanes<A>;
  const WindowMap& m = *t.row;
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride, t.permutes};
  const int64_t n_in = t.n_column * t.inner, n_out = t.column->n_out * t.inner;

  if (t.rows_first) {
    const ColumnAxis packed{t.column, t.inner * int64_t(sizeof(A)), t.inner, sizeof(A), t.permutes};
    const int64_t n_tiles = blocks(m.n_out, N);
    parallel(outer_count(t) * n_tiles, threads, [&](int64_t p) {
      const int64_t outer = p / n_tiles, o = p % n_tiles * N;
      const int n_rows = int(std::min<int64_t>(N, m.n_out - o));
      const char* src = t.src + outer_offset(t, outer);
      A* const scratch = row_scratch.get<A>(n_in * n_rows);
      const char* rows[N];
      D* dst[N];
      for (int r = 0; r < N; ++r) {
        const int64_t at = std::min(r, n_rows - 1);
        rows[r] = reinterpret_cast<const char*>(scratch + at * n_in);
        dst[r] = reinterpret_cast<D*>(t.dst) + (outer * m.n_out + o + at) * n_out;
      }
      vertical_rows<A, S, A>(src, t.row_stride, m, o, o + n_rows, scratch, n_in, n_in);
      if (t.saturate) saturate_scratch<A, D>(scratch, n_in * n_rows);
      horizontal<A, A, D>(rows, n_rows, packed, dst, 0, t.column->n_out);
      row_scratch.trim();
    });
    return;
  }

  // Enough output rows a task that the input rows two tasks share are few, in about 192 KiB of scratch.
  const double ratio = double(m.n_in) / double(std::max<int64_t>(1, m.n_out));
  const double fit = (192 << 10) / (double(n_out) * sizeof(A) * std::max(ratio, 1e-3));
  const int64_t height = std::clamp<int64_t>(int64_t(fit), 8, 256), n_tiles = blocks(m.n_out, height);
  parallel(outer_count(t) * n_tiles, threads, [&](int64_t p) {
    const int64_t outer = p / n_tiles, lo = p % n_tiles * height, hi = std::min(m.n_out, lo + height);
    const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1);
    const char* src = t.src + outer_offset(t, outer);
    A* const scratch = row_scratch.get<A>(std::max<int64_t>(1, (last - first) * n_out));
    for (int64_t i = first; i < last; i += N) {
      const int n_rows = int(std::min<int64_t>(N, last - i));
      const char* rows[N];
      A* dst[N];
      for (int r = 0; r < N; ++r) {
        const int64_t at = i + std::min(r, n_rows - 1);
        rows[r] = src + at * t.row_stride;
        dst[r] = scratch + (at - first) * n_out;
      }
      horizontal<A, S, A>(rows, n_rows, c, dst, 0, t.column->n_out);
    }
    if (t.saturate) saturate_scratch<A, D>(scratch, (last - first) * n_out);
    const int64_t pitch = n_out * int64_t(sizeof(A));
    rows_out<A, A, D>(t, reinterpret_cast<const char*>(scratch) - first * pitch, pitch, lo, hi,
                      reinterpret_cast<D*>(t.dst) + (outer * m.n_out + lo) * n_out, n_out, n_out);
    settle(t.stream);
    row_scratch.trim();
  });
}

template <class A, class S, class D>
void window_as(const WindowTask& t, int threads) {
  if (t.row && t.column) both_pass<A, S, D>(t, threads);
  else if (t.row) rows_pass<A, S, D>(t, threads);
  else columns_pass<A, S, D>(t, threads);
}

// Dtypes in and out: the same, or one of them the accumulator (a pass of several).
template <class A, class T>
bool window_from(const WindowTask& t, Dtype dtype, Dtype accumulator, int threads) {
  if (t.in == dtype && t.out == dtype) window_as<A, T, T>(t, threads);
  else if (t.in == dtype && t.out == accumulator) window_as<A, T, A>(t, threads);
  else if (t.in == accumulator && t.out == dtype) window_as<A, A, T>(t, threads);
  else return false;
  return true;
}

void window(const WindowTask& task, int threads) {
  const WindowTask& t = task;
  // Below about a megabyte moved, waking a thread costs more than it saves.
  const int64_t rows = outer_count(t) * (t.row ? t.row->n_out : t.n_row);
  const int64_t moved =
      std::max(outer_count(t) * t.n_row * t.n_column, rows * (t.column ? t.column->n_out : t.n_column));
  const int n = moved * t.inner * 8 < parallel_bytes ? 1 : threads;
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
