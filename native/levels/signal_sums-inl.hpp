// Sums of one signal for a block of targets, whose rows are made already.
#pragma once
#include <algorithm>
#include <utility>

#include "levels/positions-inl.hpp"

namespace tenter {
namespace {

// Sources [lo, hi) of one row, as values of Acc. Source i is at[i].
template <class Acc>
struct Sources {
  const Loose<Acc>* at;
  int64_t lo, hi;
};

template <class Acc>
inline Index<Acc> indices(const Block<Acc>& b, int64_t t) {
  return load_unaligned<Index<Acc>>(b.index + t) - b.index[t];
}

// How many vectors of sources hold all candidates of a vector of targets. 0: more than can be permuted.
typedef int Reach;
template <class Acc>
Reach reach(const Block<Acc>& b) {
  constexpr int N = lanes<Acc>;
  if constexpr (!permutable<Acc>) return 0;
  int64_t most = 0;
  for (int64_t t = 0; t < b.n; t += N) most = std::max<int64_t>(most, b.index[t + N - 1] - b.index[t]);
  most += b.count;
  return most <= N ? 1 : most <= 2 * N ? 2 : most <= 4 * N ? 4 : 0;
}

// Calls f(t, candidates) for each vector of targets whose sources can be loaded as whole vectors. candidates(j) returns
// the vector of the j-th candidates. Returns the targets that are done, [begin, end).
template <class Acc, Reach reach, class F>
inline std::pair<int64_t, int64_t> permuted_sources(const Block<Acc>& b, const Sources<Acc>& x, F&& f) {
  constexpr int N = lanes<Acc>;
  int64_t begin = 0, end = b.n / N * N;
  while (begin < end && b.origin + b.index[begin] < x.lo) begin += N;
  while (begin < end && b.origin + b.index[end - N] + reach * N > x.hi) end -= N;
  for (int64_t t = begin; t < end; t += N) {
    const Loose<Acc>* const from = x.at + b.origin + b.index[t];
    const Index<Acc> index = indices(b, t);
    Vec<Acc> held[reach];
    for (int v = 0; v < reach; ++v) held[v] = load_unaligned<Vec<Acc>>(from + v * N);
    f(t, [&](int64_t j) __attribute__((always_inline)) {
      const Index<Acc> at = index + IndexOf<Acc>(j);
      if constexpr (reach == 1) return permute<Acc>(held[0], places<Acc>(at));
      else if constexpr (reach == 2) return permute<Acc>(held[0], held[1], places<Acc>(at));
      else
        return at < 2 * N ? permute<Acc>(held[0], held[1], places<Acc>(at))
                          : permute<Acc>(held[2], held[3], places<Acc>(at - 2 * N));
    });
  }
  return {begin, end};
}

// Moves the candidates of targets [lo, hi): candidate j of target t to to[j * room + t]. Candidates outside the sources
// do not count; any value takes their place.
template <class Acc>
void move_sources(const Block<Acc>& b, const Sources<Acc>& x, int64_t lo, int64_t hi, Acc* to) {
  if (lo >= hi) return;
  const bool inside = b.origin + b.index[lo] >= x.lo && b.origin + b.index[hi - 1] + b.count <= x.hi;
  const Loose<Acc>* const from = x.at + b.origin;
  auto all = [&](auto&& count) __attribute__((always_inline)) {
    for (int64_t t = lo; t < hi; ++t)
      for (int64_t j = 0; j < count; ++j) to[j * b.room + t] = from[b.index[t] + j];
  };
  if (!inside) {
    for (int64_t t = lo; t < hi; ++t)
      for (int64_t j = 0; j < b.count; ++j)
        to[j * b.room + t] = x.at[std::clamp<int64_t>(b.origin + b.index[t] + j, x.lo, x.hi - 1)];
  } else if (b.count == 2) {
    all(std::integral_constant<int64_t, 2>{});
  } else {
    all(b.count);
  }
}

// Calls f(t, n, candidates) for all vectors of targets; n of a vector's targets are in the block.
template <class Acc, class F>
inline void each_vector(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, Lease& lease, F&& f) {
  constexpr int N = lanes<Acc>;
  std::pair<int64_t, int64_t> done{0, 0};
  auto whole = [&](int64_t t, auto&& candidates) __attribute__((always_inline)) { f(t, N, candidates); };
  with_constant<1, 2, 4>(reach, [&]<int vectors>() { done = permuted_sources<Acc, vectors>(b, x, whole); });
  if (done.first == 0 && done.second == b.n) return;
  // All candidates are moved before any is summed: a vector load waits for the scalar stores to its memory.
  Acc* const moved = lease->gathered.get<Acc>(b.room * b.count);
  auto rest = [&](int64_t lo, int64_t hi) {
    move_sources(b, x, lo, hi, moved);
    for (int64_t t = lo; t < hi; t += N) {
      if (t + N > hi)  // lanes after the end may have any value, but must be initialized
        for (int64_t j = 0; j < b.count; ++j) std::fill(moved + j * b.room + hi, moved + j * b.room + t + N, Acc{});
      f(t, int(std::min<int64_t>(N, hi - t)),
        [&](int64_t j) { return load_unaligned<Vec<Acc>>(moved + j * b.room + t); });
    }
  };
  rest(0, done.first), rest(done.second, b.n);
}

// Computes the sums of one row. gaps: a target may have no source at all. K: the number of candidates, or 0.
template <class Acc, bool gaps, int K>
void sum_block(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, Loose<Acc>* dst, Lease& lease) {
  each_vector(b, x, reach, lease, [&](int64_t t, int n, auto&& candidates) __attribute__((always_inline)) {
    // Sums start from -0.0: adding the first product to it leaves that unchanged, the sign of a zero included.
    Vec<Acc> sum = Acc(-0.0) - Vec<Acc>{};
    typename std::remove_cv_t<decltype(sum == sum)> counted{};
    const int64_t count = K ? K : b.count;
    for (int64_t j = 0; j < count; ++j) {
      const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + j * b.room + t);
      const auto counts = w != Vec<Acc>{};
      const Vec<Acc> next = multiply_add<Acc>(candidates(j), w, sum);
      sum = counts ? next : sum;
      if constexpr (gaps) counted |= counts;
    }
    if constexpr (gaps) sum = counted ? sum : Vec<Acc>{};
    if (n == lanes<Acc>) store_bits(dst + t, sum);
    else std::memcpy(dst + t, &sum, n * sizeof(Acc));
  });
}

template <class Acc>
void sum_block_of_any(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, bool gaps, Loose<Acc>* dst,
                      Lease& lease) {
  if (b.count == 2 && !gaps) sum_block<Acc, false, 2>(b, x, reach, dst, lease);
  else if (b.count == 2) sum_block<Acc, true, 2>(b, x, reach, dst, lease);
  else if (b.count == 3 && !gaps) sum_block<Acc, false, 3>(b, x, reach, dst, lease);
  else if (b.count == 4 && !gaps) sum_block<Acc, false, 4>(b, x, reach, dst, lease);
  else if (!gaps) sum_block<Acc, false, 0>(b, x, reach, dst, lease);
  else sum_block<Acc, true, 0>(b, x, reach, dst, lease);
}

// Sums the same few numbers for n targets. Number s has weight[s * pitch + t], and does not count where that is 0.
template <class Acc>
void sum_numbers(const Acc* value, int64_t n_values, const Acc* weight, int64_t pitch, int64_t n, Loose<Acc>* dst) {
  constexpr int N = lanes<Acc>;
  for (int64_t t = 0; t < n; t += N) {
    Vec<Acc> sum = Acc(-0.0) - Vec<Acc>{};
    typename std::remove_cv_t<decltype(sum == sum)> counted{};
    for (int64_t s = 0; s < n_values; ++s) {
      const Vec<Acc> w = load_unaligned<Vec<Acc>>(weight + s * pitch + t);
      const auto counts = w != Vec<Acc>{};
      const Vec<Acc> next = multiply_add<Acc>(splat(value[s]), w, sum);
      sum = counts ? next : sum, counted |= counts;
    }
    sum = counted ? sum : Vec<Acc>{};
    if (t + N <= n) store_bits(dst + t, sum);
    else std::memcpy(dst + t, &sum, (n - t) * sizeof(Acc));
  }
}

// Multiplies weights that are one or zero by the weights of the sources, which all rows share.
template <class Acc>
void multiply_sources(const Block<Acc>& b, const Sources<Acc>& weights, Reach reach, Lease& lease) {
  each_vector(b, weights, reach, lease, [&](int64_t t, int, auto&& candidates) __attribute__((always_inline)) {
    for (int64_t j = 0; j < b.count; ++j) {
      Acc* const w = b.weight + j * b.room + t;
      store_bits(w, load_unaligned<Vec<Acc>>(w) * candidates(j));
    }
  });
}

// Joins the vectors part(0), part(1), ...
template <class Acc, int H, int n, class F>
inline VecN<Acc, H * n> joined(F&& part) {
  if constexpr (n == 1) {
    return part(0);
  } else {
    const auto low = joined<Acc, H, n / 2>(part);
    const auto high = joined<Acc, H, n / 2>([&](int i) __attribute__((always_inline)) { return part(i + n / 2); });
    return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
      return (VecN<Acc, H * n>)__builtin_shufflevector(low, high, i...);
    }(std::make_integer_sequence<int, H * n>{});
  }
}

// Means of many sources each. All but the last are multiplied by b.weight[t]; the last is multiplied by b.weight[room +
// t], unless that is 0. For every target, 16 bytes of adjacent sources are loaded at a time. Vectors of such pieces are
// transposed within each 16 bytes, which gives vectors over targets.
template <class Acc>
void sum_segments(const Block<Acc>& b, const Sources<Acc>& x, Loose<Acc>* dst) {
  constexpr int N = lanes<Acc>, H = 16 / int(sizeof(Acc));
  typedef VecN<Acc, H> Part;
  const int64_t last = b.count - 1;
  const Loose<Acc>* const end = x.at + x.hi;
  for (int64_t t = 0; t < b.n; t += N) {
    const Loose<Acc>* from[N];
    for (int l = 0; l < N; ++l) from[l] = x.at + b.origin + b.index[std::min<int64_t>(t + l, b.n - 1)];
    const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + t), w_last = load_unaligned<Vec<Acc>>(b.weight + b.room + t);
    Vec<Acc> sum = Acc(-0.0) - Vec<Acc>{};
    // Loads sources [k, k + H) of every target.
    auto load_square = [&](int64_t k, Vec<Acc>* square, auto&& part) __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int l = 0; l < H; ++l)
        square[l] =
            joined<Acc, H, N / H>([&](int i) __attribute__((always_inline)) { return part(from[l + i * H] + k); });
      transpose<Acc, H>(square);
    };
    auto add_last = [&](int64_t k, const Vec<Acc>* square) __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int j = 0; j < H; ++j) {
        if (k + j < last) sum = multiply_add<Acc>(square[j], w, sum);
        else if (k + j == last) sum = w_last != Vec<Acc>{} ? multiply_add<Acc>(square[j], w_last, sum) : sum;
      }
    };
    int64_t k = 0;
    auto whole = [](const Loose<Acc>* p) __attribute__((always_inline)) { return load_unaligned<Part>(p); };
    for (; k + H <= last; k += H) {
      Vec<Acc> square[H];
      load_square(k, square, whole);
#pragma GCC unroll 16
      for (int j = 0; j < H; ++j) sum = multiply_add<Acc>(square[j], w, sum);
    }
    for (; k <= last; k += H) {
      Vec<Acc> square[H];
      if (from[N - 1] + k + H <= end) load_square(k, square, whole);
      else
        load_square(k, square, [&](const Loose<Acc>* p) {
          Part values{};
          std::memcpy(&values, p, std::clamp<int64_t>(end - p, 0, H) * sizeof(Acc));
          return values;
        });
      add_last(k, square);
    }
    if (t + N <= b.n) store_bits(dst + t, sum);
    else std::memcpy(dst + t, &sum, (b.n - t) * sizeof(Acc));
  }
}

}  // namespace
}  // namespace tenter
