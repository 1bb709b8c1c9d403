// The window kernel: each output is a weighted sum of adjacent inputs.
// Included by level.cpp inside the namespace of an instruction set.
//
// One inner loop does all of it: rows * weights, a vector of columns at a time (`vertical`). To resample along the fastest
// axis, a tile of `lanes` rows is transposed into scratch, resampled as columns, and transposed back (`Tile`).
// Every output adds its own taps, and no others, in ascending order of input: no padding touches a neighbour's inf or
// NaN, and neither threads, tiles nor memory layout change a bit.

template <class A> inline const A* weights(const WindowMap& m) {
  if constexpr (std::is_same_v<A, float>) return m.weight32;
  else if constexpr (std::is_same_v<A, double>) return m.weight64;
  else return nullptr;
}

// Scratch memory of this thread, kept between tasks; given back when it was large.
struct Scratch {
  void* p = nullptr;
  size_t size = 0;
  ~Scratch() { std::free(p); }
  template <class A> A* get(int64_t n) {
    const size_t need = (size_t(n) * sizeof(A) + 63) / 64 * 64;
    if (need > size) {
      std::free(p);
      size = 0;
      p = std::aligned_alloc(64, need);
      if (!p) throw std::bad_alloc();
      size = need;
    }
    return static_cast<A*>(p);
  }
  void trim() {
    if (size <= (4u << 20)) return;
    std::free(p);
    p = nullptr;
    size = 0;
  }
};
inline thread_local Scratch tile_scratch, row_scratch;

// ---- rows * weights
// U vectors of output columns at `src`; K is the number of taps, 0 where only known at run time.
template <class A, class S, class D, bool ones, int U, int K>
inline void columns(const char* src, int64_t stride, int64_t count, const A* w, D* dst) {
  Vec<A> sum[U];
  const int64_t n = K ? K : count;
  for (int u = 0; u < U; ++u) {
    sum[u] = load<A, S>(src + u * lanes<A> * sizeof(S));
    if constexpr (!ones) sum[u] *= w[0];
  }
  for (int64_t k = 1; k < n; ++k) {
    const char* row = src + k * stride;
    for (int u = 0; u < U; ++u) {
      const Vec<A> x = load<A, S>(row + u * lanes<A> * sizeof(S));
      if constexpr (ones) sum[u] += x;
      else sum[u] = multiply_add<A>(x, w[k], sum[u]);
    }
  }
  for (int u = 0; u < U; ++u) store<A, D>(dst + u * lanes<A>, sum[u]);
}

template <class A, class S, class D, bool ones, int K>
inline void vertical_taps(const char* src, int64_t stride, int64_t count, const A* w, D* dst, int64_t n) {
  constexpr int N = lanes<A>;
  int64_t j = 0;
  for (; j + 4 * N <= n; j += 4 * N) columns<A, S, D, ones, 4, K>(src + j * sizeof(S), stride, count, w, dst + j);
  for (; j + N <= n; j += N) columns<A, S, D, ones, 1, K>(src + j * sizeof(S), stride, count, w, dst + j);
  if (j == n) return;
  if (n >= N) {  // the last full vector again, ending at n: the same sums
    j = n - N;
    columns<A, S, D, ones, 1, K>(src + j * sizeof(S), stride, count, w, dst + j);
    return;
  }
  Vec<A> sum{};
  for (int64_t k = 0; k < count; ++k) {
    const Vec<A> x = load_part<A, S>(src + k * stride, n);
    if (k == 0) sum = ones ? x : x * (ones ? A(1) : w[0]);
    else if constexpr (ones) sum += x;
    else sum = multiply_add<A>(x, w[k], sum);
  }
  store_part<A, D>(dst, sum, n);
}

// dst[j] = sum over k < count of w[k] * row k [j], for n columns; rows lie `stride` bytes apart, columns together.
template <class A, class S, class D>
void vertical(const char* src, int64_t stride, int64_t count, const A* w, D* dst, int64_t n) {
  if (count == 0) {
    for (int64_t j = 0; j < n; ++j) dst[j] = D{};
  } else if (w) {
    switch (count) {
      case 1: return vertical_taps<A, S, D, false, 1>(src, stride, count, w, dst, n);
      case 2: return vertical_taps<A, S, D, false, 2>(src, stride, count, w, dst, n);
      case 3: return vertical_taps<A, S, D, false, 3>(src, stride, count, w, dst, n);
      case 4: return vertical_taps<A, S, D, false, 4>(src, stride, count, w, dst, n);
      default: return vertical_taps<A, S, D, false, 0>(src, stride, count, w, dst, n);
    }
  } else {
    vertical_taps<A, S, D, true, 0>(src, stride, count, w, dst, n);
  }
}

// Two output rows at once where their windows overlap: what both read is loaded, and converted, once.
// -0.0 is the sum of nothing that leaves the first product as it is, sign of zero included.
template <class A, class S, class D, int U>
inline void columns_of_two(const char* src, int64_t stride, const WindowMap& m, int64_t o, const A* w, D* dst0, D* dst1) {
  Vec<A> sum0[U], sum1[U];
  for (int u = 0; u < U; ++u) sum0[u] = sum1[u] = A(-0.0) - Vec<A>{};
  const A *w0 = w + m.offset[o], *w1 = w + m.offset[o + 1];
  const int64_t shared = m.first(o + 1) - m.first(o), end0 = m.count(o), end1 = shared + m.count(o + 1);
  const char* row = src + m.first(o) * stride;
  int64_t k = 0;
  for (; k < shared; ++k, row += stride)
    for (int u = 0; u < U; ++u)
      sum0[u] = multiply_add<A>(load<A, S>(row + u * lanes<A> * sizeof(S)), w0[k], sum0[u]);
  for (; k < end0; ++k, row += stride)
    for (int u = 0; u < U; ++u) {
      const Vec<A> x = load<A, S>(row + u * lanes<A> * sizeof(S));
      sum0[u] = multiply_add<A>(x, w0[k], sum0[u]);
      sum1[u] = multiply_add<A>(x, w1[k - shared], sum1[u]);
    }
  for (; k < end1; ++k, row += stride)
    for (int u = 0; u < U; ++u)
      sum1[u] = multiply_add<A>(load<A, S>(row + u * lanes<A> * sizeof(S)), w1[k - shared], sum1[u]);
  for (int u = 0; u < U; ++u) {
    store<A, D>(dst0 + u * lanes<A>, sum0[u]);
    store<A, D>(dst1 + u * lanes<A>, sum1[u]);
  }
}

// Output rows [lo, hi) of a map, n columns of each; src is input row 0 and output row o goes to dst + (o - lo) * pitch.
template <class A, class S, class D>
void vertical_rows(const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, D* dst, int64_t pitch,
                   int64_t n) {
  constexpr int wide = 4 * lanes<A>;
  const A* const w = weights<A>(m);
  auto one = [&](int64_t o, int64_t j) {
    vertical<A, S, D>(src + m.first(o) * stride + j * int64_t(sizeof(S)), stride, m.count(o), w ? w + m.offset[o] : nullptr,
                      dst + (o - lo) * pitch + j, n - j);
  };
  for (int64_t o = lo; o < hi; ++o) {
    const bool two = w && o + 1 < hi && n >= wide && m.count(o) >= 4 && m.count(o + 1) >= 4 &&
                     m.first(o + 1) < m.first(o) + m.count(o);
    if (!two) {
      one(o, 0);
      continue;
    }
    D* const to = dst + (o - lo) * pitch;
    int64_t j = 0;
    for (; j + wide <= n; j += wide)
      columns_of_two<A, S, D, 4>(src + j * int64_t(sizeof(S)), stride, m, o, w, to + j, to + pitch + j);
    if (j < n) one(o, j), one(o + 1, j);
    ++o;
  }
}

// ---- along the columns of up to `lanes` rows at once
// The column axis as the tile sees it: `inner` values per column, strides in bytes.
struct ColumnAxis {
  const WindowMap* map;
  int64_t stride, inner, inner_stride;
};

// Unweighted sums along one row of values that lie together: ragged segments, mostly shorter than a vector. Each is loaded
// as one vector, cut to its length, and a square of them is transposed, so that adding columns adds every segment in order
// without a branch on its length. `end` is the end of the row, past which nothing may be read.
template <class A, class S, class D>
int64_t segment_sums(const char* src, const char* end, const WindowMap& m, D* dst, int64_t lo, int64_t hi) {
  constexpr int N = lanes<A>;
  typedef std::conditional_t<sizeof(A) == 4, int32_t, int64_t> I;
  VecN<I, N> lane;
  for (int l = 0; l < N; ++l) lane[l] = l;
  int64_t o = lo;
  for (; o + N <= hi; o += N) {
    Vec<A> square[N];
    for (int l = 0; l < N; ++l) {
      const int64_t count = m.count(o + l);
      const char* p = src + m.first(o + l) * int64_t(sizeof(S));
      if (count > N) {
        A sum = load_one<A, S>(p);
        for (int64_t k = 1; k < count; ++k) sum += load_one<A, S>(p + k * sizeof(S));
        square[l] = Vec<A>{};
        square[l][0] = sum;
      } else if (p + N * sizeof(S) <= end) {
        square[l] = lane < I(count) ? load<A, S>(p) : Vec<A>{};
      } else {
        square[l] = count ? load_part<A, S>(p, count) : Vec<A>{};
      }
    }
    transpose<A>(square);
    Vec<A> sum = square[0];
    for (int l = 1; l < N; ++l) sum += square[l];
    store<A, D>(dst + o - lo, sum);
  }
  return o;
}

// One row alone: lanes would idle, so plain sums.
template <class A, class S, class D>
void horizontal_row(const char* src, const ColumnAxis& c, D* dst, int64_t lo, int64_t hi) {
  const A* const w = weights<A>(*c.map);
  int64_t o = lo;
  if (!w && c.inner == 1 && c.stride == int64_t(sizeof(S))) {
    o = segment_sums<A, S, D>(src, src + c.map->n_in * c.stride, *c.map, dst, lo, hi);
  }
  for (; o < hi; ++o) {
    const int64_t first = c.map->first(o), count = c.map->count(o);
    const A* const wo = w ? w + c.map->offset[o] : nullptr;
    for (int64_t q = 0; q < c.inner; ++q) {
      const char* p = src + first * c.stride + q * c.inner_stride;
      A sum = 0;
      for (int64_t k = 0; k < count; ++k, p += c.stride) {
        const A x = load_one<A, S>(p);
        if (k == 0) sum = wo ? x * wo[0] : x;
        else sum = wo ? multiply_add<A>(x, wo[k], sum) : sum + x;
      }
      store_part<A, D>(dst + (o - lo) * c.inner + q, sum - Vec<A>{}, 1);
    }
  }
}

// Columns [lo, hi) of the input as vectors over the rows: tile[(j - lo) * inner + q][row].
template <class A, class S>
void load_tile(const char* const* rows, const ColumnAxis& c, int64_t lo, int64_t hi, Vec<A>* tile) {
  constexpr int N = lanes<A>;
  const int64_t n = (hi - lo) * c.inner;
  int64_t e = 0;
  if (c.inner_stride == int64_t(sizeof(S)) && c.stride == c.inner * c.inner_stride) {
    for (; e + N <= n; e += N) {
      Vec<A> square[N];
      for (int r = 0; r < N; ++r) square[r] = load<A, S>(rows[r] + lo * c.stride + e * sizeof(S));
      transpose<A>(square);
      for (int r = 0; r < N; ++r) tile[e + r] = square[r];
    }
  }
  A* const flat = reinterpret_cast<A*>(tile);
  for (; e < n; ++e)
    for (int r = 0; r < N; ++r)
      flat[e * N + r] = load_one<A, S>(rows[r] + (lo + e / c.inner) * c.stride + e % c.inner * c.inner_stride);
}

template <class A, bool ones>
inline Vec<A> dot(const Vec<A>* tile, int64_t step, int64_t count, const A* w) {
  if (count == 0) return Vec<A>{};
  Vec<A> sum = tile[0];
  if constexpr (!ones) sum *= w[0];
  for (int64_t k = 1; k < count; ++k) {
    if constexpr (ones) sum += tile[k * step];
    else sum = multiply_add<A>(tile[k * step], w[k], sum);
  }
  return sum;
}

// Outputs [lo, hi) of n_rows rows; rows[] and dst[] hold `lanes` pointers, the spare ones repeating a row. dst[r] is
// where output lo of row r goes.
template <class A, class S, class D, bool ones>
void horizontal_tile(const char* const* rows, int n_rows, const ColumnAxis& c, D* const* dst, int64_t lo, int64_t hi) {
  constexpr int N = lanes<A>;
  const WindowMap& m = *c.map;
  const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1);
  Vec<A>* const tile = tile_scratch.get<Vec<A>>(std::max<int64_t>(1, (last - first) * c.inner));
  load_tile<A, S>(rows, c, first, last, tile);
  const A* const w = weights<A>(m);
  const int64_t n = (hi - lo) * c.inner;
  int64_t o = lo, q = 0;
  for (int64_t e = 0; e < n; e += N) {
    Vec<A> square[N];
    const int64_t width = std::min<int64_t>(N, n - e);
    for (int l = 0; l < N; ++l) {
      if (l >= width) {
        square[l] = Vec<A>{};
        continue;
      }
      square[l] = dot<A, ones>(tile + (m.first(o) - first) * c.inner + q, c.inner, m.count(o),
                               ones ? nullptr : w + m.offset[o]);
      if (++q == c.inner) q = 0, ++o;
    }
    transpose<A>(square);
    if (width == N)
      for (int r = 0; r < n_rows; ++r) store<A, D>(dst[r] + e, square[r]);
    else
      for (int r = 0; r < n_rows; ++r) store_part<A, D>(dst[r] + e, square[r], width);
  }
}

// How many outputs fit a tile of about 256 KiB: a multiple of `lanes`, so that stores stay whole vectors.
template <class A> int64_t tile_outputs(const ColumnAxis& c) {
  const double per_output = double(c.map->n_in) / double(std::max<int64_t>(1, c.map->n_out)) * double(c.inner);
  const double room = (256 << 10) / double(sizeof(Vec<A>)) / std::max(per_output, 1e-3);
  return std::clamp<int64_t>(int64_t(room), lanes<A>, 4096) / lanes<A> * lanes<A>;
}

template <class A, class S, class D>
void horizontal(const char* const* rows, int n_rows, const ColumnAxis& c, D* const* dst, int64_t lo, int64_t hi) {
  if (c.inner >= lanes<A> && c.inner_stride == int64_t(sizeof(S))) {  // a column is wide enough to be a row
    const WindowMap& m = *c.map;
    const A* const w = weights<A>(m);
    for (int r = 0; r < n_rows; ++r)
      for (int64_t o = lo; o < hi; ++o)
        vertical<A, S, D>(rows[r] + m.first(o) * c.stride, c.stride, m.count(o), w ? w + m.offset[o] : nullptr,
                          dst[r] + (o - lo) * c.inner, c.inner);
    return;
  }
  if (n_rows == 1) return horizontal_row<A, S, D>(rows[0], c, dst[0], lo, hi);
  const int64_t step = tile_outputs<A>(c);
  for (int64_t b = lo; b < hi; b += step) {
    D* at[lanes<A>];
    for (int r = 0; r < lanes<A>; ++r) at[r] = dst[r] + (b - lo) * c.inner;
    if (weights<A>(*c.map)) horizontal_tile<A, S, D, false>(rows, n_rows, c, at, b, std::min(hi, b + step));
    else horizontal_tile<A, S, D, true>(rows, n_rows, c, at, b, std::min(hi, b + step));
  }
  tile_scratch.trim();
}

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

// ---- one axis: rows only. The columns (and what is inside them) lie together.
template <class A, class S, class D> void rows_pass(const WindowTask& t, int threads) {
  const WindowMap& m = *t.row;
  const int64_t n = t.n_column * t.inner, width = std::min<int64_t>(n, 4096), n_blocks = blocks(n, width);
  const int64_t height = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)), n_rows = blocks(m.n_out, height);
  parallel(outer_count(t) * n_rows * n_blocks, threads, [&](int64_t p) {
    const int64_t b = p % n_blocks * width, r = p / n_blocks % n_rows * height, outer = p / n_blocks / n_rows;
    const char* src = t.src + outer_offset(t, outer) + b * int64_t(sizeof(S));
    D* dst = reinterpret_cast<D*>(t.dst) + outer * m.n_out * n + b;
    vertical_rows<A, S, D>(src, t.row_stride, m, r, std::min(m.n_out, r + height), dst + r * n, n, std::min(width, n - b));
  });
}

// ---- one axis: columns only. Outer axes and rows together are a list of rows, `lanes` of them a tile.
template <class A, class S, class D> void columns_pass(const WindowTask& t, int threads) {
  constexpr int N = lanes<A>;
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride};
  const int64_t total = outer_count(t) * t.n_row, n_out = t.column->n_out;
  const int64_t step = total == 1 ? 4096 : tile_outputs<A>(c), n_blocks = blocks(n_out, step);
  parallel(blocks(total, N) * n_blocks, threads, [&](int64_t p) {
    const int64_t row = p / n_blocks * N, lo = p % n_blocks * step, hi = std::min(n_out, lo + step);
    const int n_rows = int(std::min<int64_t>(N, total - row));
    const char* rows[N];
    D* dst[N];
    for (int r = 0; r < N; ++r) {
      const int64_t at = row + std::min(r, n_rows - 1);
      rows[r] = t.src + outer_offset(t, at / t.n_row) + at % t.n_row * t.row_stride;
      dst[r] = reinterpret_cast<D*>(t.dst) + (at * n_out + lo) * t.inner;
    }
    horizontal<A, S, D>(rows, n_rows, c, dst, lo, hi);
  });
}

// ---- both axes, by way of scratch rows that stay in cache: the axis that shrinks more goes first.
template <class A, class S, class D> void both_pass(const WindowTask& t, int threads) {
  constexpr int N = lanes<A>;
  const WindowMap& m = *t.row;
  const ColumnAxis c{t.column, t.column_stride, t.inner, t.inner_stride};
  const int64_t n_in = t.n_column * t.inner, n_out = t.column->n_out * t.inner;

  if (m.n_out * t.n_column <= m.n_in * t.column->n_out) {  // rows first; the caller packs columns that lie apart
    const ColumnAxis packed{t.column, t.inner * int64_t(sizeof(A)), t.inner, sizeof(A)};
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
      horizontal<A, A, D>(rows, n_rows, packed, dst, 0, t.column->n_out);
      row_scratch.trim();
    });
    return;
  }

  // Enough output rows a task that the input rows two tasks share are few, in about 512 KiB of scratch.
  const double ratio = double(m.n_in) / double(std::max<int64_t>(1, m.n_out));
  const double fit = (512 << 10) / (double(n_out) * sizeof(A) * std::max(ratio, 1e-3));
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
    const int64_t pitch = n_out * int64_t(sizeof(A));
    vertical_rows<A, A, D>(reinterpret_cast<const char*>(scratch) - first * pitch, pitch, m, lo, hi,
                           reinterpret_cast<D*>(t.dst) + (outer * m.n_out + lo) * n_out, n_out, n_out);
    row_scratch.trim();
  });
}

template <class A, class S, class D> void window_as(const WindowTask& t, int threads) {
  if (t.row && t.column) both_pass<A, S, D>(t, threads);
  else if (t.row) rows_pass<A, S, D>(t, threads);
  else columns_pass<A, S, D>(t, threads);
}

// Dtypes in and out: the same, or one of them the accumulator (a pass of several).
template <class A, class T> bool window_from(const WindowTask& t, Dtype dtype, Dtype accumulator, int threads) {
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
  const int64_t moved = std::max(outer_count(t) * t.n_row * t.n_column, rows * (t.column ? t.column->n_out : t.n_column));
  const int n = moved * t.inner * 8 < parallel_bytes ? 1 : threads;
  const Dtype f32 = Dtype::f32, f64 = Dtype::f64, i64 = Dtype::i64;
  switch (t.acc) {
    case Accumulate::f32:
      window_from<float, float>(t, f32, f32, n) || window_from<float, f16>(t, Dtype::f16, f32, n) ||
          window_from<float, bf16>(t, Dtype::bf16, f32, n) || window_from<float, uint8_t>(t, Dtype::u8, f32, n) ||
          window_from<float, int8_t>(t, Dtype::i8, f32, n) || window_from<float, uint16_t>(t, Dtype::u16, f32, n) ||
          window_from<float, int16_t>(t, Dtype::i16, f32, n);
      return;
    case Accumulate::f64:
      window_from<double, double>(t, f64, f64, n) || window_from<double, uint32_t>(t, Dtype::u32, f64, n) ||
          window_from<double, int32_t>(t, Dtype::i32, f64, n) || window_from<double, uint64_t>(t, Dtype::u64, f64, n) ||
          window_from<double, int64_t>(t, Dtype::i64, f64, n);
      return;
    case Accumulate::i64:
      window_from<int64_t, int64_t>(t, i64, i64, n) || window_from<int64_t, uint8_t>(t, Dtype::u8, i64, n) ||
          window_from<int64_t, int8_t>(t, Dtype::i8, i64, n) || window_from<int64_t, uint16_t>(t, Dtype::u16, i64, n) ||
          window_from<int64_t, int16_t>(t, Dtype::i16, i64, n) ||
          window_from<int64_t, uint32_t>(t, Dtype::u32, i64, n) ||
          window_from<int64_t, int32_t>(t, Dtype::i32, i64, n) || window_from<int64_t, uint64_t>(t, Dtype::u64, i64, n);
  }
}
