// Sums without weights of equally many neighbors each, as in gradients of repeats. Columns are contiguous, and have
// fewer values than a vector.
#pragma once
#include <algorithm>

#include "levels/columns-inl.hpp"

namespace tenter {
namespace {

// A vector of sums of K values each, for K up to half a vector: squares of values are transposed next to each other.
template <class Acc, int K>
TENTER_ALWAYS_INLINE Vec<Acc> short_sums(const Loose<Acc>* src) {
  constexpr int N = lanes<Acc>, H = power_from(K);
  Vec<Acc> square[H];
  for (int r = 0; r < H; ++r) {
    if constexpr (H == K) square[r] = load_unaligned<Vec<Acc>>(src + r * N);
    else square[r] = joined<Acc, H, N>(src + r * K, K);
  }
  transpose<Acc, H>(square);
  Vec<Acc> sum = square[0];
  for (int k = 1; k < K; ++k) sum = add<Acc>(sum, square[k]);
  if constexpr (H != K) return sum;
  return [&]<int... o>(std::integer_sequence<int, o...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(sum, sum, (o % (N / H) * H + o / (N / H))...);
  }(std::make_integer_sequence<int, N>{});
}

// The same for any number of values, of U vectors. Each addition waits for the one before: U vectors are added to in
// turns. If there are fewer values than lanes, the last loads also read values after the last sum's.
template <class Acc, int U>
TENTER_ALWAYS_INLINE void long_sums(const Loose<Acc>* src, int64_t width, Loose<Acc>* dst) {
  constexpr int N = lanes<Acc>;
  Vec<Acc> square[N], sum[U];
  for (int u = 0; u < U; ++u) sum[u] = splat(Acc(-0.0));  // leaves the first value unchanged, a zero's sign included
  auto load_square = [&](int u, int64_t at) __attribute__((always_inline)) {
    // Prefetches the lines of the next vectors of sums in order: hardware prefetchers do not follow so many segments.
    prefetch(reinterpret_cast<const char*>(src + N * ((U + u) * width + at)), N * vector_bytes);
    for (int l = 0; l < N; ++l) square[l] = load_unaligned<Vec<Acc>>(src + (u * N + l) * width + at);
    transpose<Acc>(square);
  };
  int64_t at = 0;
  for (; at + N <= width; at += N) {
    for (int u = 0; u < U; ++u) {
      load_square(u, at);
      for (int k = 0; k < N; ++k) sum[u] = add<Acc>(sum[u], square[k]);
    }
  }
  const int64_t first = std::max<int64_t>(0, width - N);
  for (int u = 0; u < U && at < width; ++u) {
    load_square(u, first);
    for (int64_t k = at - first; k < width - first; ++k) sum[u] = add<Acc>(sum[u], square[k]);
  }
  for (int u = 0; u < U; ++u) store_bits(dst + u * N, sum[u]);
}

// Values of a sum from which on vectors are added to in turns: processors overlap shorter sums by themselves.

// n sums of `width` values each. end: the end of the memory that may be loaded.
template <class Acc>
void sum_equal_values(const Loose<Acc>* src, const Loose<Acc>* end, int64_t width, int64_t n, Loose<Acc>* dst) {
  constexpr int N = lanes<Acc>;
  int64_t o = 0;
  auto run = [&](int64_t loaded, int64_t each, auto&& sums) __attribute__((always_inline)) {
    for (; o < n && n >= each; o += each) {
      const int64_t at = std::min(o, n - each);  // the last vectors may overlap those before
      if (end - (src + at * width) < each * width + loaded - width) return;
      sums(src + at * width, dst + at);
    }
  };
  auto few = [&]<int K>() {
    if constexpr (2 * K <= N)
      run(power_from(K), N, [](const Loose<Acc>* p, Loose<Acc>* to) { store_bits(to, short_sums<Acc, K>(p)); });
  };
  if (2 * width > N || !with_constant<1, 2, 3, 4, 5, 6, 7, 8>(width, few)) {
    constexpr int together = 2;
    const int64_t loaded = std::max<int64_t>(N, width);
    if (width >= least_in_turns)
      run(loaded, together * N, [&](const Loose<Acc>* p, Loose<Acc>* to) { long_sums<Acc, together>(p, width, to); });
    run(loaded, N, [&](const Loose<Acc>* p, Loose<Acc>* to) { long_sums<Acc, 1>(p, width, to); });
  }
  for (; o < n; ++o) {
    const Loose<Acc>* const p = src + o * width;
    Acc sum = p[0];
    for (int64_t k = 1; k < width; ++k) sum = add<Acc>(sum, p[k]);
    dst[o] = sum;
  }
}

constexpr int columns_together = 4;  // independent sums, because an addition has a latency of about so many cycles

// The same for columns of `inner` values. A vector holds one column; the values of the next column in it are
// overwritten later.
template <class Acc>
void sum_equal_columns(const Loose<Acc>* src, const Loose<Acc>* end, int64_t width, int64_t inner, int64_t n,
                       Loose<Acc>* dst) {
  constexpr int64_t N = lanes<Acc>, together = columns_together, size = sizeof(Acc);
  const int64_t each = width * inner;
  int64_t o = 0;
  for (; o + together <= n; o += together) {
    const Loose<Acc>* const p = src + o * each;
    if (end - p < together * each - inner + N || (n - o - together + 1) * inner < N) break;
    Vec<Acc> sum[together];
    for (int u = 0; u < together; ++u) sum[u] = load_unaligned<Vec<Acc>>(p + u * each);
    for (int64_t k = inner; k < each; k += inner)
      for (int u = 0; u < together; ++u) sum[u] = add<Acc>(sum[u], load_unaligned<Vec<Acc>>(p + u * each + k));
    for (int u = 0; u < together; ++u) store_bits(dst + (o + u) * inner, sum[u]);
  }
  for (; o < n; ++o) {
    const Loose<Acc>* const p = src + o * each;
    auto column = [&](int64_t k) {
      return end - (p + k) >= N ? load_unaligned<Vec<Acc>>(p + k) : load_masked<Acc, Acc>(p + k, inner);
    };
    Vec<Acc> sum = column(0);
    for (int64_t k = inner; k < each; k += inner) sum = add<Acc>(sum, column(k));
    std::memcpy(dst + o * inner, &sum, inner * size);
  }
}

// Computes `n` outputs of one row. end: the end of the memory that may be loaded.
template <class Acc>
void sum_equal(const Sums<Acc>& sums, const char* src, const char* end, int64_t width, int64_t inner, int64_t n,
               char* dst, bool stream, Lease& lease) {
  const int64_t each = width * inner, most = tuning.widened_values;
  const bool whole = !sums.widen && !sums.narrow && !stream;
  if (sums.long_segments && inner == 1 && !stream && sums_long_segments(true, width))
    return sum_long_segments(sums, src, WindowMap{n * width, n, width}, 0, n, dst);
  const int64_t unit = inner == 1 ? lanes<Acc> : columns_together;
  const int64_t step = whole ? n : std::max(unit, most / each / unit * unit);
  for (int64_t o = 0; o < n; o += step) {
    const int64_t n_here = std::min(step, n - o), n_in = n_here * each;
    const char* const here = src + o * each * sums.in_size;
    auto from = reinterpret_cast<const Loose<Acc>*>(here), until = reinterpret_cast<const Loose<Acc>*>(end);
    if (sums.widen) {
      Acc* const wide = lease->inputs.get<Acc>(n_in + lanes<Acc>);
      sums.widen(here, wide, n_in);
      from = wide, until = wide + n_in + lanes<Acc>;
    }
    char* const to = dst + o * inner * sums.out_size;
    const bool direct = !sums.narrow && !stream;
    Loose<Acc>* const made = direct ? reinterpret_cast<Loose<Acc>*>(to) : lease->sums.get<Acc>(n_here * inner);
    if (inner == 1) sum_equal_values<Acc>(from, until, width, n_here, made);
    else sum_equal_columns<Acc>(from, until, width, inner, n_here, made);
    const char* bits = reinterpret_cast<const char*>(made);
    if (sums.narrow) {
      char* const narrow = stream ? lease->staging.get<char>(n_here * inner * sums.out_size) : to;
      sums.narrow(made, narrow, n_here * inner);
      bits = narrow;
    }
    if (stream) stream_store(to, bits, n_here * inner * sums.out_size);
  }
}

}  // namespace
}  // namespace tenter
