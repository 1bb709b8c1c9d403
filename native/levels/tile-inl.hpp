// Sums along the fastest axis. A tile of `lanes` rows is transposed into scratch memory, its columns are summed as
// vectors over the rows, and results are transposed back.
#pragma once
#include <algorithm>
#include <bit>

#include "levels/permuted-inl.hpp"
#include "levels/rows-inl.hpp"

namespace tenter {
namespace {

// The column axis: `inner` values per column, strides in bytes.
struct ColumnAxis {
  const WindowMap* map;
  int64_t stride, inner, inner_stride;
  const PermuteTables* permutes;
  bool contiguous(int64_t itemsize) const { return inner_stride == itemsize && stride == inner * inner_stride; }
};
template <class Acc>
bool permuted(const ColumnAxis& c, int64_t itemsize) {
  return permutable<Acc> && c.permutes && c.contiguous(itemsize);
}

// Unweighted sums of ragged segments of one contiguous row, mostly shorter than a vector. Each segment is loaded as one
// vector and masked to its length, and a square of them is transposed, so that adding columns sums every segment in
// order without a branch on its length. `end` is the end of the row; no load passes it.
template <class Acc>
int64_t segment_sums(const char* src, const char* end, const WindowMap& m, Acc* dst, int64_t lo, int64_t hi) {
  constexpr int N = lanes<Acc>;
  typedef std::conditional_t<sizeof(Acc) == 4, int32_t, int64_t> I;
  typedef Vec<int64_t> Offsets;
  constexpr int H = N / 2;
  constexpr int parts = int(sizeof(int64_t) / sizeof(Acc));  // vectors of offsets for a vector of sums
  typedef VecN<Acc, H> Half;
  VecN<I, N> lane;
  VecN<I, H> lane_of_half;
  for (int l = 0; l < N; ++l) lane[l] = l;
  for (int l = 0; l < H; ++l) lane_of_half[l] = l;
  const Vec<Acc> neutral = Acc(-0.0) - Vec<Acc>{};  // leaves sums unchanged, the sign of a zero included
  int64_t o = lo;
  for (; o + N <= hi; o += N) {
    auto narrow = [&](auto&& part) __attribute__((always_inline)) {  // narrows to the lanes of sums
      if constexpr (parts == 1) {
        return (VecN<I, N>)part(0);
      } else {
        typedef VecN<int32_t, H> Part;
        const Part a = __builtin_convertvector(part(0), Part), b = __builtin_convertvector(part(1), Part);
        return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          return (VecN<I, N>)__builtin_shufflevector(a, b, i...);
        }(std::make_integer_sequence<int, N>{});
      }
    };
    // Two vectors hold all values of a few short segments. Each lane takes the first value of its segment, then the
    // second, ...
    if constexpr (permutable<Acc>) {
      const int64_t first = m.first(o);
      const char* const p = src + first * int64_t(sizeof(Acc));
      const int64_t span = m.first(o + N - 1) + m.count(o + N - 1) - first;
      if (m.start && span <= 2 * N && end - p >= 2 * vector_bytes) {
        const Vec<Acc> low = load<Acc, Acc>(p), high = load<Acc, Acc>(p + vector_bytes);
        const auto place = narrow([&](int k) __attribute__((always_inline)) {
          return load_unaligned<Offsets>(m.start + o + k * lanes<int64_t>) - first;
        });
        const auto count = narrow([&](int k) __attribute__((always_inline)) {
          const int64_t* const at = m.offset + o + k * lanes<int64_t>;
          return load_unaligned<Offsets>(at + 1) - load_unaligned<Offsets>(at);
        });
        Vec<Acc> sum = permute<Acc>(low, high, places<Acc>(place));
        sum = count > 0 ? sum : Vec<Acc>{};
        for (int k = 1; any((Vec<int64_t>)(count > k)); ++k)
          sum = count > k ? add<Acc>(sum, permute<Acc>(low, high, places<Acc>(place + k))) : sum;
        store<Acc, Acc>(dst + o - lo, sum);
        continue;
      }
    }
    Vec<Acc> square[N];
    // Counts are compared as vectors: branches on single counts would be mispredicted.
    Offsets counts[parts];
    for (int k = 0; k < parts; ++k) {
      counts[k] = m.width - Offsets{};
      if (!m.offset) continue;
      const int64_t* const at = m.offset + o + k * lanes<int64_t>;
      counts[k] = load_unaligned<Offsets>(at + 1) - load_unaligned<Offsets>(at);
    }
    auto where = [&](auto&& test) __attribute__((always_inline)) {
      return narrow([&](int k) __attribute__((always_inline)) { return test(counts[k]); });
    };
    const VecN<I, N> empty = where([](Offsets c) { return c == 0; });
    auto store_sums = [&](int n) __attribute__((always_inline)) {
      Vec<Acc> sum = square[0];
      for (int l = 1; l < n; ++l) sum = add<Acc>(sum, square[l]);
      store<Acc, Acc>(dst + o - lo, empty ? Vec<Acc>{} : sum);
    };
    // If no segment is longer than half a vector, each vector holds two segments, which halves the shuffles.
    const bool fits = src + (m.first(o + N - 1) + H) * int64_t(sizeof(Acc)) <= end;
    if (fits && !any(where([](Offsets c) { return c > H; }))) {
      auto half = [&](int64_t l) __attribute__((always_inline)) {
        const Half x = load_unaligned<Half>(src + m.first(l) * int64_t(sizeof(Acc)));
        return lane_of_half < I(m.count(l)) ? x : Acc(-0.0) - Half{};
      };
#pragma GCC unroll 8
      for (int l = 0; l < H; ++l)
        square[l] = [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          return __builtin_shufflevector(half(o + l), half(o + l + H), i...);
        }(std::make_integer_sequence<int, N>{});
      transpose<Acc, H>(square);
      store_sums(H);
      continue;
    }
    // at: how many values of each segment are summed already.
    auto load_part = [&](int64_t at, auto&& count_of) __attribute__((always_inline)) {
      const int64_t last = m.first(o + N - 1) + at + N;
      if (last <= m.first(hi - 1) + m.count(hi - 1)) {  // every vector is within the inputs: no branch on a count
#pragma GCC unroll 16
        for (int l = 0; l < N; ++l)
          square[l] = lane < I(count_of(m.count(o + l)))
                          ? load<Acc, Acc>(src + (m.first(o + l) + at) * int64_t(sizeof(Acc)))
                          : neutral;
      } else {
        for (int l = 0; l < N; ++l) {
          const int64_t count = count_of(m.count(o + l));
          const char* const p = src + (m.first(o + l) + at) * int64_t(sizeof(Acc));
          // A segment that is already summed is not loaded: converted inputs have no space so far after it.
          if (count <= 0) square[l] = neutral;
          else if (p + N * sizeof(Acc) <= end) square[l] = lane < I(count) ? load<Acc, Acc>(p) : neutral;
          else square[l] = lane < I(count) ? load_masked<Acc, Acc>(p, count) : neutral;
        }
      }
      transpose<Acc>(square);
    };
    if (!any(where([](Offsets c) { return c > N; }))) {
      load_part(0, [](int64_t count) { return count; });
      store_sums(N);
      continue;
    }
    Vec<Acc> sum = neutral;
    int64_t at = 0, least = m.count(o);
    for (int l = 1; l < N; ++l) least = std::min(least, m.count(o + l));
    for (; at + N <= least; at += N) {  // no segment ends here
      const char* const part = src + at * int64_t(sizeof(Acc));
      // The lines of the next segments, in order: hardware prefetchers do not follow so many of them.
      prefetch(part + (m.first(o + N - 1) + m.count(o + N - 1) + (N - 1) * at) * int64_t(sizeof(Acc)),
               N * vector_bytes);
#pragma GCC unroll 16
      for (int l = 0; l < N; ++l) square[l] = load<Acc, Acc>(part + m.first(o + l) * int64_t(sizeof(Acc)));
      transpose<Acc>(square);
      for (int l = 0; l < N; ++l) sum = add<Acc>(sum, square[l]);
    }
    for (; at == 0 || any(where([=](Offsets c) { return c > at; })); at += N) {
      load_part(at, [=](int64_t count) { return std::min<int64_t>(count - at, N); });
      for (int l = 0; l < N; ++l) sum = add<Acc>(sum, square[l]);
    }
    store<Acc, Acc>(dst + o - lo, empty ? Vec<Acc>{} : sum);
  }
  return o;
}

// Unweighted sums of a vector of long segments of one contiguous row: the one of lane l has count[l] inputs from
// first[l] on. Inputs are converted as they are loaded, in squares.
template <class Acc, class In>
void long_segments(const char* src, const int64_t* first, const int64_t* count, Acc* dst) {
  constexpr int N = lanes<Acc>;
  constexpr int64_t size = sizeof(In);
  Vec<Acc> square[N], sum = splat(Acc(-0.0));  // leaves the first value unchanged, a zero's sign included
  const int64_t least = *std::min_element(count, count + N);
  int64_t at = 0;
  for (; at + N <= least; at += N) {
    prefetch(src + (first[N - 1] + count[N - 1] + (N - 1) * at) * size, N * vector_bytes);
    for (int l = 0; l < N; ++l) square[l] = load<Acc, In>(src + (first[l] + at) * size);
    transpose<Acc>(square);
    for (int l = 0; l < N; ++l) sum = add<Acc>(sum, square[l]);
  }
  for (int l = 0; l < N; ++l) {
    Acc one = sum[l];
    for (int64_t k = at; k < count[l]; ++k) one += load_one<Acc, In>(src + (first[l] + k) * size);
    dst[l] = one;
  }
}

constexpr int64_t longest_short_sum = 16;

// Sums of outputs [lo, hi) of up to `most` inputs each, of W values or fewer: without a branch on their counts, which
// would be mispredicted. A sum is stored as one vector, which spills into the next sums. Returns the first output that
// has no space for that before output `end`, or whose loads would pass the last input of the outputs before `end`.
template <class Acc, int W>
int64_t short_sums(const char* src, const WindowMap& m, int64_t inner, Acc* dst, int64_t lo, int64_t hi, int64_t end,
                   int64_t most) {
  typedef std::conditional_t<sizeof(Acc) == 4, int32_t, int64_t> I;
  typedef VecN<Acc, W> Values;
  with_constant<1, 2, 3, 4, 8, 12, longest_short_sum>(
      most > 4 ? round_up(most, 4) : std::max<int64_t>(most, 1), [&]<int K>() {
        const int64_t last = (m.first(end - 1) + m.count(end - 1)) * inner - W, step = inner * int64_t(sizeof(Acc));
        hi = std::min(hi, end - ceil_div(W - inner, inner));
        while (hi > lo && (m.start[hi - 1] + K - 1) * inner > last) --hi;
        for (; lo < hi; ++lo, dst += inner) {
          const char* const p = src + m.start[lo] * step;
          const VecN<I, W> count = I(m.offset[lo + 1] - m.offset[lo]) - VecN<I, W>{};
          Values sum = load_unaligned<Values>(p);
          sum = count > 0 ? sum : Values{};
          for (int k = 1; k < K; ++k) sum = count > k ? sum + load_unaligned<Values>(p + k * step) : sum;
          store_bits(dst, sum);
        }
      });
  return lo;
}

constexpr int sums_in_turns = 8;

// Computes `sums_in_turns` weighted outputs from o on, if they are long. Each addition waits for the one before, so the
// outputs are added to in turns.
template <class Acc>
bool long_scalar_sums(const char* src, const ColumnAxis& c, const Acc* w, int64_t o, Acc* dst) {
  constexpr int U = sums_in_turns;
  const WindowMap& m = *c.map;
  int64_t least = m.count(o);
  if (least < least_long_sum) return false;
  for (int u = 1; u < U; ++u) least = std::min(least, m.count(o + u));
  if (least < least_long_sum) return false;
  for (int64_t q = 0; q < c.inner; ++q) {
    const char* from[U];
    const Acc* by[U];
    Acc sum[U];
    for (int u = 0; u < U; ++u) {
      from[u] = src + m.first(o + u) * c.stride + q * c.inner_stride, by[u] = w + m.offset[o + u];
      sum[u] = load_one<Acc, Acc>(from[u]) * by[u][0];
    }
    for (int64_t k = 1; k < least; ++k)
      for (int u = 0; u < U; ++u)
        sum[u] = multiply_add<Acc>(load_one<Acc, Acc>(from[u] + k * c.stride), by[u][k], sum[u]);
    for (int u = 0; u < U; ++u) {
      for (int64_t k = least; k < m.count(o + u); ++k)
        sum[u] = multiply_add<Acc>(load_one<Acc, Acc>(from[u] + k * c.stride), by[u][k], sum[u]);
      dst[u * c.inner + q] = sum[u];
    }
  }
  return true;
}

// Computes outputs [o, o + sums_in_turns) without weights, of columns of fewer values than a vector. A vector holds one
// column, and values of the next one, which are left out. Returns false if loads would pass the end of the row.
template <class Acc>
bool long_column_sums(const char* src, const ColumnAxis& c, int64_t o, Acc* dst) {
  constexpr int U = sums_in_turns;
  const WindowMap& m = *c.map;
  const int64_t last = o + U - 1, inner = c.inner;
  if ((m.n_in - m.first(last) - m.count(last) + 1) * inner < lanes<Acc>) return false;
  int64_t least = m.count(o);
  for (int u = 1; u < U; ++u) least = std::min(least, m.count(o + u));
  if (least < least_long_sum) return false;
  const Loose<Acc>* from[U];
  Vec<Acc> sum[U];
  for (int u = 0; u < U; ++u) {
    from[u] = reinterpret_cast<const Loose<Acc>*>(src) + m.first(o + u) * inner;
    sum[u] = load_unaligned<Vec<Acc>>(from[u]);
  }
  for (int64_t k = 1; k < least; ++k)
    for (int u = 0; u < U; ++u) sum[u] = add<Acc>(sum[u], load_unaligned<Vec<Acc>>(from[u] + k * inner));
  for (int u = 0; u < U; ++u) {
    for (int64_t k = least; k < m.count(o + u); ++k)
      sum[u] = add<Acc>(sum[u], load_unaligned<Vec<Acc>>(from[u] + k * inner));
    std::memcpy(dst + u * inner, &sum[u], size_t(inner) * sizeof(Acc));
  }
  return true;
}

// Sums a single row by scalars, because most lanes of a tile would be unused.
template <class Acc>
void scalar_sums(const char* src, const ColumnAxis& c, Acc* dst, int64_t lo, int64_t hi) {
  const Acc* const w = weights<Acc>(*c.map);
  for (int64_t o = lo; o < hi; ++o) {
    if constexpr (std::is_floating_point_v<Acc>)
      if (w && hi - o >= sums_in_turns && long_scalar_sums<Acc>(src, c, w, o, dst + (o - lo) * c.inner)) {
        o += sums_in_turns - 1;
        continue;
      }
    const int64_t first = c.map->first(o), count = c.map->count(o);
    const Acc* const wo = w ? w + c.map->offset[o] : nullptr;
    for (int64_t q = 0; q < c.inner; ++q) {
      const char* p = src + first * c.stride + q * c.inner_stride;
      Acc sum = 0;
      for (int64_t k = 0; k < count; ++k, p += c.stride) {
        const Acc x = load_one<Acc, Acc>(p);
        if (k == 0) sum = wo ? x * wo[0] : x;
        else sum = wo ? multiply_add<Acc>(x, wo[k], sum) : add<Acc>(sum, x);
      }
      dst[(o - lo) * c.inner + q] = sum;
    }
  }
}

// The longest sum of outputs [lo, hi).
inline int64_t longest_sum(const WindowMap& m, int64_t lo, int64_t hi) {
  int64_t most = 0;
  for (int64_t o = lo; o < hi; ++o) most = std::max(most, m.offset[o + 1] - m.offset[o]);
  return most;
}

// Sums one row, where a tile would have few rows: most of its lanes would be unused.
template <class Acc>
void horizontal_row(const char* src, const ColumnAxis& c, Acc* dst, int64_t lo, int64_t hi) {
  const WindowMap& m = *c.map;
  if (weights<Acc>(m) || !c.contiguous(sizeof(Acc))) return scalar_sums<Acc>(src, c, dst, lo, hi);
  if (c.inner == 1) {
    const int64_t done = segment_sums<Acc>(src, src + m.n_in * c.stride, m, dst, lo, hi);
    return scalar_sums<Acc>(src, c, dst + (done - lo), done, hi);
  }
  constexpr int64_t some = 256;  // outputs at a time
  for (int64_t o = lo, end, done; o < hi; o = end) {
    end = std::min(hi, o + some);
    Acc* const to = dst + (o - lo) * c.inner;
    done = o;
    if constexpr (std::is_floating_point_v<Acc>) {
      constexpr int quarter = int(16 / sizeof(Acc));
      const int64_t most =
          m.start && m.offset && c.inner <= lanes<Acc> ? longest_sum(m, o, end) : longest_short_sum + 1;
      if (most <= longest_short_sum)
        with_constant<quarter, 2 * quarter, 4 * quarter>(
            std::max<int64_t>(quarter, std::bit_ceil(uint64_t(c.inner))),
            [&]<int W>() { done = short_sums<Acc, W>(src, m, c.inner, to, o, end, hi, most); });
    }
    if constexpr (std::is_floating_point_v<Acc>)
      while (c.inner < lanes<Acc> && done + sums_in_turns <= end &&
             long_column_sums<Acc>(src, c, done, to + (done - o) * c.inner))
        done += sums_in_turns;
    scalar_sums<Acc>(src, c, to + (done - o) * c.inner, done, end);
  }
}

// Loads input columns [lo, hi) as vectors over the rows: tile[(j - lo) * inner + q][row].
template <class Acc>
void load_tile(const char* const* rows, const ColumnAxis& c, int64_t lo, int64_t hi, Vec<Acc>* tile) {
  constexpr int N = lanes<Acc>;
  const int64_t n = (hi - lo) * c.inner;
  int64_t e = 0;
  if (c.contiguous(sizeof(Acc))) {
    for (; e + N <= n; e += N) {
      Vec<Acc> square[N];
      for (int r = 0; r < N; ++r) square[r] = load<Acc, Acc>(rows[r] + lo * c.stride + e * sizeof(Acc));
      transpose<Acc>(square);
      for (int r = 0; r < N; ++r) tile[e + r] = square[r];
    }
  }
  Acc* const flat = reinterpret_cast<Acc*>(tile);
  for (; e < n; ++e)
    for (int r = 0; r < N; ++r)
      flat[e * N + r] = load_one<Acc, Acc>(rows[r] + (lo + e / c.inner) * c.stride + e % c.inner * c.inner_stride);
}

template <class Acc, bool ones>
inline Vec<Acc> dot(const Vec<Acc>* tile, int64_t step, int64_t count, const Acc* w) {
  if (count == 0) return Vec<Acc>{};
  Vec<Acc> sum = tile[0];
  if constexpr (!ones) sum *= w[0];
  for (int64_t k = 1; k < count; ++k) {
    if constexpr (ones) sum = add<Acc>(sum, tile[k * step]);
    else sum = multiply_add<Acc>(tile[k * step], w[k], sum);
  }
  return sum;
}

constexpr int64_t few_summed = 4;  // values of a sum

// The sum of the first `count` values, at most `most`. Branches on counts that differ would be mispredicted. end: the
// last value that may be loaded.
template <class Acc>
inline Vec<Acc> few_ones(const Vec<Acc>* tile, const Vec<Acc>* end, int64_t step, int64_t count, int64_t most) {
  typedef std::conditional_t<sizeof(Acc) == 4, int32_t, int64_t> I;
  typedef VecN<I, lanes<Acc>> Bits;
  const auto has = [&](int64_t k) { return -I(k < count) - Bits{}; };
  Vec<Acc> sum = *std::min(tile, end);
  sum = (Vec<Acc>)((Bits)sum & has(0));
  for (int64_t k = 1; k < most; ++k) {
    const Vec<Acc> more = add<Acc>(sum, *std::min(tile + k * step, end));
    sum = has(k) ? more : sum;
  }
  return sum;
}

// Computes outputs [lo, hi) of n_rows rows. rows[] and dst[] hold `lanes` pointers; the unused ones repeat the last
// row. Output lo of row r is stored at dst[r].
template <class Acc, bool ones>
void horizontal_tile(const char* const* rows, int n_rows, const ColumnAxis& c, char* const* dst, int64_t lo, int64_t hi,
                     Lease& lease) {
  constexpr int N = lanes<Acc>;
  const WindowMap& m = *c.map;
  const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1);
  Vec<Acc>* const tile = lease->tile.get<Vec<Acc>>(std::max<int64_t>(1, (last - first) * c.inner));
  load_tile<Acc>(rows, c, first, last, tile);
  const Acc* const w = weights<Acc>(m);
  const int64_t n = (hi - lo) * c.inner;
  const int64_t most = ones && m.offset && last > first ? longest_sum(m, lo, hi) : 0;
  const Vec<Acc>* const end = tile + (last - first) * c.inner - 1;
  int64_t o = lo, q = 0;
  for (int64_t e = 0; e < n; e += N) {
    Vec<Acc> square[N];
    const int64_t width = std::min<int64_t>(N, n - e);
    for (int l = 0; l < N; ++l) {
      if (l >= width) {
        square[l] = Vec<Acc>{};
        continue;
      }
      const Vec<Acc>* const at = tile + (m.first(o) - first) * c.inner + q;
      if (0 < most && most <= few_summed) square[l] = few_ones<Acc>(at, end, c.inner, m.count(o), most);
      else square[l] = dot<Acc, ones>(at, c.inner, m.count(o), ones ? nullptr : w + m.offset[o]);
      if (++q == c.inner) q = 0, ++o;
    }
    transpose<Acc>(square);
    if (width == N)
      for (int r = 0; r < n_rows; ++r) store<Acc, Acc>(dst[r] + e * sizeof(Acc), square[r]);
    else
      for (int r = 0; r < n_rows; ++r) store_masked<Acc, Acc>(dst[r] + e * sizeof(Acc), square[r], width);
  }
}

// Whether the windows of outputs [lo, hi) are long and share few inputs: a tile would be read once.
inline bool reads_once(const WindowMap& m, int64_t lo, int64_t hi) {
  if (!m.start || lo == hi) return false;
  const int64_t taps = m.offset[hi] - m.offset[lo], span = m.first(hi - 1) + m.count(hi - 1) - m.first(lo);
  return taps >= least_long_sum * (hi - lo) && taps - span <= taps / 4;
}

// Weighted sums as in horizontal_tile, of columns of one contiguous value: squares of the rows are transposed in
// registers and added at once. Each addition waits for the one before, so U outputs from o on are added to in turns.
template <class Acc, int U>
void sum_squares(const char* const* rows, int n_rows, const WindowMap& m, int64_t o, char* const* dst) {
  constexpr int64_t N = lanes<Acc>, size = sizeof(Acc);
  const Acc* w[U];
  int64_t count[U], least = INT64_MAX;
  Vec<Acc> sum[U], square[N];
  for (int u = 0; u < U; ++u) {
    w[u] = weights<Acc>(m) + m.offset[o + u], count[u] = m.count(o + u), least = std::min(least, count[u]);
    sum[u] = splat(Acc(-0.0));  // adding the first product leaves that unchanged
  }
  auto add_square = [&](int u, int64_t at, int64_t n) __attribute__((always_inline)) {
    for (int r = 0; r < N; ++r) {
      const char* const p = rows[r] + (m.first(o + u) + at) * size;
      square[r] = n == N ? load<Acc, Acc>(p) : load_masked<Acc, Acc>(p, n);
    }
    transpose<Acc>(square);
    for (int k = 0; k < n; ++k) sum[u] = multiply_add<Acc>(square[k], splat(w[u][at + k]), sum[u]);
  };
  int64_t at = 0;
  for (; at + N <= least; at += N)
    for (int u = 0; u < U; ++u) add_square(u, at, N);
  for (int u = 0; u < U; ++u) {
    int64_t k = at;
    for (; k + N <= count[u]; k += N) add_square(u, k, N);
    if (k < count[u]) add_square(u, k, count[u] - k);
    for (int r = 0; r < n_rows; ++r) {
      const Acc one = count[u] ? sum[u][r] : Acc(0);
      std::memcpy(dst[r] + u * size, &one, sizeof(Acc));
    }
  }
}
template <class Acc>
void horizontal_squares(const char* const* rows, int n_rows, const WindowMap& m, char* const* dst, int64_t lo,
                        int64_t hi) {
  constexpr int together = 2;
  char* to[lanes<Acc>];
  for (int64_t o = lo; o < hi;) {
    for (int r = 0; r < lanes<Acc>; ++r) to[r] = dst[r] + (o - lo) * int64_t(sizeof(Acc));
    if (o + together <= hi) sum_squares<Acc, together>(rows, n_rows, m, o, to), o += together;
    else sum_squares<Acc, 1>(rows, n_rows, m, o, to), ++o;
  }
}

// How many outputs fit in a tile of tuning.tile_bytes: a multiple of `lanes`, so that stores are whole vectors.
template <class Acc>
int64_t tile_outputs(const ColumnAxis& c) {
  const double per_output = double(c.map->n_in) / double(std::max<int64_t>(1, c.map->n_out)) * double(c.inner);
  const double fitting = double(tuning.tile_bytes) / double(sizeof(Vec<Acc>)) / std::max(per_output, 1e-3);
  return std::clamp<int64_t>(int64_t(fitting), lanes<Acc>, std::max<int64_t>(lanes<Acc>, tuning.column_step)) /
         lanes<Acc> * lanes<Acc>;
}

// The end of the longest run of outputs from lo on whose inputs fit in a tile: windows of any lengths may be neighbors.
// Returns lo if the inputs of the first output do not fit.
inline int64_t tile_end(const ColumnAxis& c, int64_t lo, int64_t hi) {
  const WindowMap& m = *c.map;
  auto fits = [&](int64_t end) {
    return (m.first(end - 1) + m.count(end - 1) - m.first(lo)) * c.inner <= tuning.tile_inputs;
  };
  if (fits(hi)) return hi;
  int64_t low = lo, high = hi;  // binary search, as windows do not descend
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

// Sums columns of the accumulator's dtype (sum_columns does others). stream: uses streaming stores, which only permuted
// columns support; dst are then aligned to cache lines.
template <class Acc>
void horizontal(const char* const* rows, int n_rows, const ColumnAxis& c, char* const* dst, int64_t lo, int64_t hi,
                Lease& lease, bool stream = false) {
  constexpr int64_t size = sizeof(Acc);
  if (c.inner >= lanes<Acc> && c.inner_stride == size) {  // columns that fill vectors are summed as rows
    const WindowMap& m = *c.map;
    const Acc* const w = weights<Acc>(m);
    for (int r = 0; r < n_rows; ++r)
      for (int64_t o = lo; o < hi; ++o)
        vertical_here<Acc, Acc, Acc>(rows[r] + m.first(o) * c.stride, c.stride, m.count(o),
                                     w ? w + m.offset[o] : nullptr, reinterpret_cast<Acc*>(dst[r]) + (o - lo) * c.inner,
                                     c.inner);
    return;
  }
  if constexpr (permutable<Acc>)
    if (permuted<Acc>(c, size))
      return horizontal_by_tables<Acc, Acc>(rows, n_rows, c.map->n_in * c.stride, *c.permutes, c.map->n_out, dst, lo,
                                            hi, stream, lease);
  // Vectors over ragged segments take less than vectors over rows of which at most half of the lanes are used.
  const bool segments =
      c.map->start && 2 * n_rows <= lanes<Acc> && !weights<Acc>(*c.map) && c.contiguous(size) &&
      (c.inner == 1 || (std::is_floating_point_v<Acc> && longest_sum(*c.map, lo, hi) <= longest_short_sum));
  if (sums_single_rows(n_rows, segments)) {
    for (int r = 0; r < n_rows; ++r) horizontal_row<Acc>(rows[r], c, reinterpret_cast<Acc*>(dst[r]), lo, hi);
    return;
  }
  if constexpr (std::is_floating_point_v<Acc>)
    if (weights<Acc>(*c.map) && c.map->start && c.inner == 1 && c.contiguous(size) &&
        squares(reads_once(*c.map, lo, hi)))
      return horizontal_squares<Acc>(rows, n_rows, *c.map, dst, lo, hi);
  const int64_t step = tile_outputs<Acc>(c);
  for (int64_t b = lo; b < hi;) {
    const int64_t end = tile_end(c, b, std::min(hi, b + step));
    char* to[lanes<Acc>];
    for (int r = 0; r < lanes<Acc>; ++r) to[r] = dst[r] + (b - lo) * c.inner * size;
    if (end == b) {  // a tile of this output could be as large as the input
      for (int r = 0; r < n_rows; ++r) horizontal_row<Acc>(rows[r], c, reinterpret_cast<Acc*>(to[r]), b, b + 1);
      ++b;
      continue;
    }
    if constexpr (std::is_floating_point_v<Acc>)
      if (weights<Acc>(*c.map)) horizontal_tile<Acc, false>(rows, n_rows, c, to, b, end, lease);
    if (!weights<Acc>(*c.map)) horizontal_tile<Acc, true>(rows, n_rows, c, to, b, end, lease);
    b = end;
  }
}

}  // namespace
}  // namespace tenter
