// Rows of a filter's weights for a block of a signal's targets, one vector of outputs at a time; and rows of their
// transposes.
#pragma once
#include <algorithm>
#include <cmath>

#include "levels/positions-inl.hpp"
#include "rules/filters.hpp"

namespace tenter {
namespace {

constexpr double least_weight = 1e-36;

// Weights of the candidates of forward targets. A distance is a whole number of fractions of a pixel, divided once, so
// weights have the bits that Sampling gives.
class Filtered {
 public:
  explicit Filtered(const SignalTask& t)
      : first_(t.forward_first),
        count_(t.forward_count),
        normalizes_(t.normalizes),
        fast_(t.stretched_unit < exact_quotients && t.reaches < exact_quotients),
        unit_(double(t.forward.unit) * double(t.denominator)),
        scale_(splat(double(t.denominator))),
        pixel_(splat(double(t.stretched_unit))),
        reciprocal_(splat(1 / double(t.stretched_unit))),
        edge_(splat(double(t.support) * double(t.stretched_unit))) {}

  // The weight of candidates at a distance of `parts` fractions of a pixel, before rows are divided by their sum. zero:
  // set if a candidate within the support has weight zero.
  template <class Of>
  TENTER_ALWAYS_INLINE Vec<double> one(Vec<double> parts, Of&& of, Vec<int64_t>& zero) const {
    const Vec<double> distance = fast_ ? quotient(parts, pixel_, reciprocal_) : parts / pixel_;
    const Vec<double> w = of(distance);
    zero |= (Vec<int64_t>)(tenter::magnitude(parts) < edge_) & (Vec<int64_t>)(tenter::magnitude(w) < least_weight);
    return w;
  }

  // weight[j]: the weights of the j-th candidates, for a vector of outputs with these rests. Returns whether a
  // candidate within the support has weight zero. Its row is then not like others: it may be cropped, or have a zero
  // inside. K: the number of candidates, if known.
  template <int K = 0, class Of>
  TENTER_ALWAYS_INLINE bool make_weights(Vec<double> rest, Of&& of, Vec<double>* weight) const {
    const Vec<double> from = rest * scale_;
    Vec<double> total{};
    Vec<int64_t> zero{};
    const int64_t count = K ? K : count_;
    for (int64_t j = 0; j < count; ++j) {
      const Vec<double> w = one(splat(double(first_ + j) * unit_) - from, of, zero);
      total += w;
      weight[j] = w;
    }
    if (normalizes_) {
      zero |= is_nothing(total);
      for (int64_t j = 0; j < count; ++j) weight[j] /= total;
    }
    return any(zero);
  }
  static Vec<int64_t> is_nothing(Vec<double> total) { return (Vec<int64_t>)(tenter::magnitude(total) < nothing); }

  // The sums of a vector of rows, by which the rows are divided.
  template <class Of>
  TENTER_ALWAYS_INLINE Vec<double> total(Vec<double> rest, Of&& of) const {
    const Vec<double> from = rest * scale_;
    Vec<double> total{};
    Vec<int64_t> zero{};
    for (int64_t j = 0; j < count_; ++j) total += one(splat(double(first_ + j) * unit_) - from, of, zero);
    return total;
  }

 private:
  int64_t first_, count_;
  bool normalizes_, fast_;
  double unit_;
  Vec<double> scale_, pixel_, reciprocal_, edge_;
};

// Calls f with the vector function of a filter. Signals exist only for filters that have one.
template <class F>
void with_vector_filter(const Filter& filter, F&& f) {
  with_filter(filter, f, [](auto&&) {});
}

// Marks that the row of a target is not like others, so that another kernel computes it. Several tasks may write the
// same byte.
inline void leave(const SignalTask& t, int64_t target) {
  __atomic_store_n(t.left + (target - t.lo) / left_targets, uint8_t(1), __ATOMIC_RELAXED);
}

template <class Acc>
void filtered_block(const SignalTask& t, Walk<double>& walk, int64_t lo, int64_t n, Block<Acc>& b, Lease& lease) {
  const Filtered rows(t);
  Vec<double>* const weight = reinterpret_cast<Vec<double>*>(lease->plane.get<char>(t.count * vector_bytes));
  with_vector_filter(t.filter, [&](auto&& of) {
    fill_block(t, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
      if (rows.make_weights(rest, of, weight))
        for (int64_t k = at; k < std::min(at + double_lanes, n); ++k) leave(t, lo + k);
      for (int64_t j = 0; j < t.count; ++j) store_weights(b.weight + j * b.room + at, weight[j]);
    });
  });
}

// Loads values at ascending places. Two vectors from the first place on are in memory.
template <class I>
TENTER_ALWAYS_INLINE Vec<double> at_places(const double* from, const I* place) {
  constexpr int N = double_lanes;
  if constexpr (permutable<double>) {
    if (place[N - 1] - place[0] < 2 * N) {
      const auto near = __builtin_convertvector(load_unaligned<VecN<I, N>>(place) - place[0], Index<double>);
      const double* const first = from + place[0];
      return permute<double>(load_unaligned<Vec<double>>(first), load_unaligned<Vec<double>>(first + N),
                             places<double>(near));
    }
  }
  Vec<double> found;
  for (int l = 0; l < N; ++l) found[l] = from[place[l]];
  return found;
}

// Transposed rows [lo, lo + n): each input is read by adjacent outputs. Its weights follow from its position among
// these outputs, and from the sums of their rows.
template <class Acc>
void filtered_transposed_block(const SignalTask& t, Walk<double>& walk, int64_t lo, int64_t n, Block<Acc>& b,
                               Lease& lease) {
  constexpr int N = double_lanes;
  const Filtered rows(t);
  const Filter filter = t.filter;  // a copy: the compiler must assume that stores of weights change a reference
  const int64_t count = t.count;
  const Vec<double> scale = splat(double(t.denominator)), unit = splat(double(t.at.unit));
  fill_block(t, walk, n, b, [](Vec<double>, int64_t) {});
  with_vector_filter(filter, [&](auto&& of) {
    const double* totals = nullptr;
    if (t.normalizes) {  // sums of the rows of outputs from b.origin on; outputs outside the axis do not count
      const int64_t read = b.index[round_up(n, lanes<Acc>) - 1] + b.count;
      double* const made = lease->plane.get<double>(read + 4 * N);
      std::fill(made, made + read + 4 * N, 1.0);
      const int64_t from = std::max<int64_t>(0, -b.origin), to = std::min(t.n_in - b.origin, read);
      Walk<double> forward(t.forward, b.origin + from);
      for (int64_t o = from; o < to; o += N, forward.advance()) store_bits(made + o, rows.total(forward.rest, of));
      totals = made;
    }
    Walk<double> at(t.at, lo);
    for (int64_t k = 0; k < round_up(n, lanes<Acc>); k += N, at.advance()) {
      Vec<int64_t> zero{};
      Vec<double> rest = at.rest - splat(double(t.first)) * unit;  // whole numbers, exact
      for (int64_t j = 0; j < count; ++j, rest -= unit) {
        Vec<double> w = rows.one(rest * scale, of, zero);
        if (totals) {
          const Vec<double> total = at_places(totals + j, b.index + k);
          zero |= Filtered::is_nothing(total);
          w /= total;
        }
        store_weights(b.weight + j * b.room + k, w);
      }
      if (any(zero))
        for (int64_t i = k; i < std::min(k + N, n); ++i) leave(t, lo + i);
    }
  });
}

// The same for filters that cost more to compute than a weight costs to move. The rows of all outputs that read these
// inputs are computed, and each weight moves to the row of its input. b.weight has space for the weights of one
// candidate more, which takes those that belong nowhere.
template <class Acc>
void scattered_block(const SignalTask& t, Walk<double>& walk, int64_t lo, int64_t n, Block<Acc>& b, Lease& lease) {
  constexpr int N = double_lanes;
  const Filtered rows(t);
  fill_block(t, walk, n, b, [](Vec<double>, int64_t) {});
  const int64_t from = std::max<int64_t>(0, b.origin), to = std::min(t.n_in, b.origin + b.index[n - 1] + b.count);
  Vec<double>* const weight = reinterpret_cast<Vec<double>*>(lease->plane.get<char>(t.forward_count * vector_bytes));
  std::fill(b.weight, b.weight + b.count * b.room, Acc{});
  with_vector_filter(t.filter, [&](auto&& of) {
    Walk<double> forward(t.forward, from);
    for (int64_t o = from; o < to; o += N, forward.advance()) {
      const bool zero = rows.make_weights(forward.rest, of, weight);
      for (int l = 0; l < int(std::min<int64_t>(N, to - o)); ++l) {
        const int64_t first = forward.whole[l] + t.forward_first - lo, source = o + l - b.origin;
        const int64_t begin = std::max<int64_t>(0, -first), end = std::min(t.forward_count, n - first);
        for (int64_t j = begin; j < end; ++j) {
          const int64_t i = first + j;
          const uint64_t slot = std::min(uint64_t(source - b.index[i]), uint64_t(b.count));
          b.weight[int64_t(slot) * b.room + i] = Acc(weight[j][l]);
        }
        if (zero)
          for (int64_t j = begin; j < end; ++j) leave(t, lo + first + j);
      }
    }
  });
}

// Computes the rows of n outputs from `first` on. Only targets [lo, hi) are written later.
template <class Acc>
void windows_block(const SignalTask& t, int64_t first, int64_t n, int64_t lo, int64_t hi, Block<Acc>& b, Lease& lease) {
  const Filtered rows(t);
  SignalTask forward = t;
  forward.first = t.forward_first;
  Walk<double> walk(t.forward, first);
  Vec<double>* const weight = reinterpret_cast<Vec<double>*>(lease->plane.get<char>(t.forward_count * vector_bytes));
  with_vector_filter(t.filter, [&](auto&& of) {
    fill_block(forward, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
      if (rows.make_weights(rest, of, weight))
        for (int64_t k = at; k < std::min(at + double_lanes, n); ++k)
          for (int64_t i = b.origin + b.index[k]; i < b.origin + b.index[k] + b.count; ++i)
            if (lo <= i && i < hi) leave(t, i);
      for (int64_t j = 0; j < b.count; ++j) store_weights(b.weight + j * b.room + at, weight[j]);
    });
  });
}

// Computes the rows of adjacent targets from `lo` on that have the same candidates, up to `most`. Returns how many
// these are. source: the sources that count, then -1. The weights of source[s] begin at weight + s * pitch. Weights in
// the padding are added to those of the edge's source, as in Sampling.
template <class Acc>
int64_t stretched_block(const SignalTask& t, int64_t lo, int64_t most, int64_t pitch, Acc* weight, int64_t* source,
                        Lease& lease) {
  constexpr int N = double_lanes;
  const Filtered rows(t);
  const __int128 total = t.at.rest + __int128(lo) * t.at.step_rest;
  const int64_t whole = t.at.whole + int64_t(total / t.at.unit), rest = int64_t(total % t.at.unit);
  const int64_t n = std::min(most, (t.at.unit - rest + t.at.step_rest - 1) / t.at.step_rest);
  int64_t n_sources = 0;
  int64_t* const place = lease->index.get<int64_t>(t.count);
  for (int64_t j = 0; j < t.count; ++j) {
    const int64_t at = whole + t.first + j, s = std::clamp<int64_t>(at, 0, t.n_in - 1);
    place[j] = -1;
    if (t.drops && at != s) continue;
    if (!n_sources || source[n_sources - 1] != s) source[n_sources++] = s;
    place[j] = n_sources - 1;
  }
  if (n_sources < t.count) source[n_sources] = -1;
  Vec<double>* const room = reinterpret_cast<Vec<double>*>(lease->plane.get<char>(t.count * vector_bytes));
  Walk<double> walk(t.at, lo);
  const Filter filter = t.filter;
  // K: the number of candidates, whose weights then stay in registers; 0: t.count.
  auto make = [&]<int K>() {
    const int64_t count = K ? K : t.count;
    with_vector_filter(filter, [&](auto&& of) {
      Walk<double> next = walk;
      for (int64_t k = 0; k < n; k += N, next.advance()) {
        Vec<double> few[K ? K : 1];
        Vec<double>* const made = K ? few : room;
        if (rows.make_weights<K>(next.rest, of, made))
          for (int64_t o = k; o < std::min(k + N, n); ++o) leave(t, lo + o);
        Vec<double> sum{};
        for (int64_t j = 0; j < count; ++j) {
          if (place[j] < 0) continue;
          sum += made[j];
          if (j + 1 < count && place[j + 1] == place[j]) continue;
          store_weights(weight + place[j] * pitch + k, sum);
          sum = Vec<double>{};
        }
      }
    });
  };
  if (!with_constant<2, 4, 6>(t.count, make)) make.template operator()<0>();
  return n;
}

}  // namespace
}  // namespace tenter
