// Transposes of maps that shrink an axis to at most half. Most targets have one source or none, so the kernels walk the
// sources, and each source writes its own targets.
#pragma once
#include "levels/positions-inl.hpp"

namespace tenter {
namespace {

// The range of sources that count for targets [lo, hi), and perhaps one before.
inline std::pair<int64_t, int64_t> sources_of(const SignalTask& t, int64_t lo, int64_t hi) {
  auto at = [&](int64_t target, bool up) {
    const __int128 rest = t.at.rest + __int128(target) * t.at.step_rest;
    return t.at.whole + target * t.at.step_whole + int64_t(rest / t.at.unit) + (up && rest % t.at.unit);
  };
  const int64_t first = std::max<int64_t>(0, at(lo, false));
  return {first, std::max(first, std::min(t.n_in, at(hi, true)))};
}

// Loads a vector of sources. x: the block's first source; sources from `end` on are not read.
template <class Acc>
inline Vec<Acc> source(const Loose<Acc>* x, int64_t t, const Loose<Acc>* end) {
  constexpr int N = lanes<Acc>;
  if (x + t + N <= end) return load_unaligned<Vec<Acc>>(x + t);
  return load_masked<Acc, Acc>(x + t, std::clamp<int64_t>(end - (x + t), 0, N));
}

// ---- area: a source writes a run of equal values, its weighted value. A target that two runs share gets their sum.

// Makes the runs that write targets [lo, hi). The run of source t of the block begins at target origin + index[t], or
// before lo. weight[t] is its weight. weight[room + t] is the same weight if its first target is shared with the run
// before, else 0.
template <class Acc>
void fill_runs(const SignalTask& t, int64_t first, int64_t n, Block<Acc>& b) {
  const Means<Acc> means(t.forward, t.forward_count);
  Walk<double> walk(t.forward, first);
  fill_block(t.first, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
    const Vec<double> w = means.has_more(rest) ? means.more : means.fewer;
    store_weights(b.weight + at, w);
    store_weights(b.weight + b.room + at, rest > 0.0 ? w : Vec<double>{});
  });
}

// sums: n targets from `lo` on. made: space for two values of each source, one more vector, and one value before.
// longest: the longest run.
template <class Acc>
void write_runs(const Block<Acc>& b, const Loose<Acc>* x, const Loose<Acc>* end, Acc* made, Loose<Acc>* sums,
                int64_t lo, int64_t n, int64_t longest) {
  constexpr int N = lanes<Acc>;
  Acc *const weighted = made + N, *const first = weighted + b.room + N;
  weighted[-1] = Acc{};
  for (int64_t t = 0; t < b.n; t += N)
    store_bits(weighted + t, source<Acc>(x, t, end) * load_unaligned<Vec<Acc>>(b.weight + t));
  for (int64_t t = 0; t < b.n; t += N) {
    const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + b.room + t);
    const Vec<Acc> both = multiply_add<Acc>(source<Acc>(x, t, end), w, load_unaligned<Vec<Acc>>(weighted + t - 1));
    store_bits(first + t, w != Vec<Acc>{} ? both : load_unaligned<Vec<Acc>>(weighted + t));
  }
  Loose<Acc>*const stop = sums + n, *const vectors = stop - N;
  for (int64_t t = 0; t < b.n; ++t) {
    const int64_t begin = b.origin + b.index[t] - lo;
    const Vec<Acc> value = splat(weighted[t]);
    Loose<Acc>* at = sums + std::max<int64_t>(0, begin);
    Loose<Acc>* const to = std::min(sums + begin + longest, stop);
    if (begin >= 0) *at++ = first[t];
    for (; at < to; at += N) {
      if (at <= vectors) store_bits(at, value);
      else std::memcpy(at, &value, (stop - at) * sizeof(Acc));
    }
  }
}

// ---- linear interpolation: a source writes a pair of targets; all others are 0.

// b: the forward rows of the block's sources. sums: n targets from `lo` on. made: as for write_runs.
template <class Acc>
void write_pairs(const Block<Acc>& b, const Loose<Acc>* x, const Loose<Acc>* end, Acc* made, Loose<Acc>* sums,
                 int64_t lo, int64_t n) {
  constexpr int N = lanes<Acc>;
  for (int64_t t = 0; t < b.n; t += N) {
    const Vec<Acc> value = source<Acc>(x, t, end);
    auto weighted = [&](int j) __attribute__((always_inline)) {
      const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + j * b.room + t);
      return w != Vec<Acc>{} ? value * w : Vec<Acc>{};
    };
    const Vec<Acc> low = weighted(0), high = weighted(1);
    [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
      store_bits(made + 2 * t, __builtin_shufflevector(low, high, (i % 2 * N + i / 2)...));
      store_bits(made + 2 * t + N, __builtin_shufflevector(low, high, (i % 2 * N + i / 2 + N / 2)...));
    }(std::make_integer_sequence<int, N>{});
  }
  std::memset(sums, 0, n * sizeof(Acc));
  Loose<Acc>* const to = sums + b.origin - lo;
  auto put = [&](int64_t t) {  // writes a pair of which one may be outside
    const int64_t at = b.origin + b.index[t] - lo;
    if (0 <= at && at < n) sums[at] = made[2 * t];
    if (0 <= at + 1 && at + 1 < n) sums[at + 1] = made[2 * t + 1];
  };
  if (b.n > 0) put(0);
  for (int64_t t = 1; t < b.n - 1; ++t) std::memcpy(to + b.index[t], made + 2 * t, 2 * sizeof(Acc));
  if (b.n > 1) put(b.n - 1);
}

// ---- filters: a source writes a window of targets, which are further apart than a row is long; all others are 0.

// b: the forward rows of the block's sources. sums: n targets from `lo` on. made: space for b.count values of each
// source.
template <class Acc>
void write_windows(const Block<Acc>& b, const Loose<Acc>* x, const Loose<Acc>* end, Acc* made, Loose<Acc>* sums,
                   int64_t lo, int64_t n) {
  constexpr int N = lanes<Acc>;
  for (int64_t t = 0; t < b.n; t += N) {
    const Vec<Acc> value = source<Acc>(x, t, end);
    for (int64_t j = 0; j < b.count; ++j) {
      const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + j * b.room + t);
      store_bits(made + j * b.room + t, w != Vec<Acc>{} ? value * w : Vec<Acc>{});
    }
  }
  std::memset(sums, 0, n * sizeof(Acc));
  auto put = [&](int64_t t, int64_t at, int64_t from, auto&& to) __attribute__((always_inline)) {
    for (int64_t j = from; j < to; ++j) sums[at + j] = made[j * b.room + t];
  };
  for (int64_t t = 0; t < b.n; ++t) {
    const int64_t at = b.origin + b.index[t] - lo;
    const bool inside = 0 <= at && at + b.count <= n;
    if (inside && b.count == 4) put(t, at, 0, std::integral_constant<int64_t, 4>{});
    else put(t, at, std::max<int64_t>(0, -at), std::min(b.count, n - at));
  }
}

}  // namespace
}  // namespace tenter
