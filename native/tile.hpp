// Along the fastest axis: a tile of `lanes` rows is transposed into scratch, resampled as columns, and transposed back.
// Included by level.cpp inside the namespace of an instruction set.

// The column axis as the tile sees it: `inner` values per column, strides in bytes.
struct ColumnAxis {
  const WindowMap* map;
  int64_t stride, inner, inner_stride;
  const Permutes* permutes;
};
template <class A, class S>
bool permuted(const ColumnAxis& c) {
  return permutable<A> && c.permutes && c.inner_stride == int64_t(sizeof(S)) && c.stride == c.inner * c.inner_stride;
}

// Unweighted sums along one row of values that lie together: ragged segments, mostly shorter than a vector. Each is
// loaded as one vector, cut to its length, and a square of them is transposed, so that adding columns adds every
// segment in order without a branch on its length. `end` is the end of the row, past which nothing may be read.
template <class A, class S, class D>
int64_t segment_sums(const char* src, const char* end, const WindowMap& m, D* dst, int64_t lo, int64_t hi) {
  constexpr int N = lanes<A>;
  typedef std::conditional_t<sizeof(A) == 4, int32_t, int64_t> I;
  typedef Vec<int64_t> Offsets;
  constexpr int H = N / 2, parts = int(sizeof(int64_t) / sizeof(A));  // vectors of offsets for one of sums
  typedef VecN<A, H> Half;
  VecN<I, N> lane;
  VecN<I, H> lane_of_half;
  for (int l = 0; l < N; ++l) lane[l] = l;
  for (int l = 0; l < H; ++l) lane_of_half[l] = l;
  const Vec<A> nothing = A(-0.0) - Vec<A>{};  // what leaves a sum as it is, its sign of zero too
  int64_t o = lo;
  for (; o + N <= hi; o += N) {
    Vec<A> square[N];
    // Counts are looked at as vectors, so that no branch waits for one of them: such a branch is guessed wrong time and
    // again.
    Offsets counts[parts];
    for (int k = 0; k < parts; ++k) {
      counts[k] = m.width - Offsets{};
      if (!m.offset) continue;
      const int64_t* const at = m.offset + o + k * lanes<int64_t>;
      counts[k] = load_bits<Offsets>(at + 1) - load_bits<Offsets>(at);
    }
    auto where = [&](auto&& test) __attribute__((always_inline)) {  // as a mask of sums
      if constexpr (parts == 1) {
        return (VecN<I, N>)test(counts[0]);
      } else {
        typedef VecN<int32_t, H> Part;
        const Part a = __builtin_convertvector(test(counts[0]), Part),
                   b = __builtin_convertvector(test(counts[1]), Part);
        return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          return (VecN<I, N>)__builtin_shufflevector(a, b, i...);
        }(std::make_integer_sequence<int, N>{});
      }
    };
    const VecN<I, N> empty = where([](Offsets c) { return c == 0; });
    auto put_sums = [&](int n) __attribute__((always_inline)) {
      Vec<A> sum = square[0];
      for (int l = 1; l < n; ++l) sum = add<A>(sum, square[l]);
      store<A, D>(dst + o - lo, empty ? Vec<A>{} : sum);
    };
    // Segments of half a vector and less, two of them in each: half the shuffles.
    constexpr int reach = std::is_same_v<A, S> ? H : N;
    const bool inside = src + (m.first(o + N - 1) + reach) * int64_t(sizeof(S)) <= end;
    if (inside && !any(where([](Offsets c) { return c > H; }))) {
      auto half = [&](int64_t l) __attribute__((always_inline)) {
        const char* const p = src + m.first(l) * int64_t(sizeof(S));
        Half x;
        if constexpr (std::is_same_v<A, S>) {
          x = load_bits<Half>(p);
        } else {
          const Vec<A> all = load<A, S>(p);
          std::memcpy(&x, &all, sizeof x);
        }
        return lane_of_half < I(m.count(l)) ? x : A(-0.0) - Half{};
      };
#pragma GCC unroll 8
      for (int l = 0; l < H; ++l)
        square[l] = [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          return __builtin_shufflevector(half(o + l), half(o + l + H), i...);
        }(std::make_integer_sequence<int, N>{});
      transpose<A, H>(square);
      put_sums(H);
      continue;
    }
#pragma GCC unroll 16
    for (int l = 0; l < N; ++l) {
      const int64_t count = m.count(o + l);
      const char* p = src + m.first(o + l) * int64_t(sizeof(S));
      if (count > N) {
        A sum = load_one<A, S>(p);
        for (int64_t k = 1; k < count; ++k) sum = add<A>(sum, load_one<A, S>(p + k * sizeof(S)));
        square[l] = nothing;
        square[l][0] = sum;
      } else if (p + N * sizeof(S) <= end) {
        square[l] = lane < I(count) ? load<A, S>(p) : nothing;
      } else {
        square[l] = lane < I(count) ? load_part<A, S>(p, count) : nothing;
      }
    }
    transpose<A>(square);
    put_sums(N);
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
        else sum = wo ? multiply_add<A>(x, wo[k], sum) : add<A>(sum, x);
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
    if constexpr (ones) sum = add<A>(sum, tile[k * step]);
    else sum = multiply_add<A>(tile[k * step], w[k], sum);
  }
  return sum;
}

// Outputs [lo, hi) of n_rows rows; rows[] and dst[] hold `lanes` pointers, the spare ones repeating a row. dst[r] is
// where output lo of row r goes.
template <class A, class S, class D, bool ones>
void horizontal_tile(const char* const* rows, int n_rows, const ColumnAxis& c, D* const* dst, int64_t lo, int64_t hi,
                     Lease& lease) {
  constexpr int N = lanes<A>;
  const WindowMap& m = *c.map;
  const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1);
  Vec<A>* const tile = lease->tile.get<Vec<A>>(std::max<int64_t>(1, (last - first) * c.inner));
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
template <class A>
int64_t tile_outputs(const ColumnAxis& c) {
  const double per_output = double(c.map->n_in) / double(std::max<int64_t>(1, c.map->n_out)) * double(c.inner);
  const double room = double(tuning.tile_bytes) / double(sizeof(Vec<A>)) / std::max(per_output, 1e-3);
  return std::clamp<int64_t>(int64_t(room), lanes<A>, std::max<int64_t>(lanes<A>, tuning.column_step)) / lanes<A> *
         lanes<A>;
}

// Outputs from lo on, in steps of some, whose inputs together are few enough for a tile: windows may be of any lengths,
// one beside the other. None where the first by itself has too many.
inline int64_t tile_end(const ColumnAxis& c, int64_t lo, int64_t hi) {
  const WindowMap& m = *c.map;
  auto fits = [&](int64_t end) {
    return (m.first(end - 1) + m.count(end - 1) - m.first(lo)) * c.inner <= tuning.tile_inputs;
  };
  if (fits(hi)) return hi;
  int64_t known = lo, beyond = hi;  // windows do not descend: what fits ends before what does not
  while (beyond - known > 1) {
    const int64_t middle = known + (beyond - known) / 2;
    if (fits(middle)) known = middle;
    else beyond = middle;
  }
  return known;
}

// stream: past the caches, which only the permuted way can by itself; dst begin lines then.
template <class A, class S, class D>
void horizontal(const char* const* rows, int n_rows, const ColumnAxis& c, D* const* dst, int64_t lo, int64_t hi,
                Lease& lease, bool stream = false) {
  if (c.inner >= lanes<A> && c.inner_stride == int64_t(sizeof(S))) {  // a column is wide enough to be a row
    const WindowMap& m = *c.map;
    const A* const w = weights<A>(m);
    for (int r = 0; r < n_rows; ++r)
      for (int64_t o = lo; o < hi; ++o)
        vertical<A, S, D>(rows[r] + m.first(o) * c.stride, c.stride, m.count(o), w ? w + m.offset[o] : nullptr,
                          dst[r] + (o - lo) * c.inner, c.inner);
    return;
  }
  if constexpr (permutable<A>) {
    if (permuted<A, S>(c) && !c.permutes->at.empty())
      return horizontal_picked<A, S, D>(rows, n_rows, c.map->n_in * c.stride, *c.permutes, c.map->n_out, dst, lo, hi,
                                        stream, lease);
    if (permuted<A, S>(c))
      return horizontal_permuted<A, S, D>(rows, n_rows, *c.permutes, c.map->n_out, dst, lo, hi, stream);
  }
  if (n_rows == 1) return horizontal_row<A, S, D>(rows[0], c, dst[0], lo, hi);  // a tile would leave lanes idle
  const int64_t step = tile_outputs<A>(c);
  for (int64_t b = lo; b < hi;) {
    const int64_t end = tile_end(c, b, std::min(hi, b + step));
    D* at[lanes<A>];
    for (int r = 0; r < lanes<A>; ++r) at[r] = dst[r] + (b - lo) * c.inner;
    if (end == b) {  // scratch for it would be as large as the input
      for (int r = 0; r < n_rows; ++r) horizontal_row<A, S, D>(rows[r], c, at[r], b, b + 1);
      ++b;
      continue;
    }
    if (weights<A>(*c.map)) horizontal_tile<A, S, D, false>(rows, n_rows, c, at, b, end, lease);
    else horizontal_tile<A, S, D, true>(rows, n_rows, c, at, b, end, lease);
    b = end;
  }
}
