// Rows of a filter's weights for a block of a signal's targets, a vector of outputs at a time; and of their transposes.
#pragma once
#include <algorithm>
#include <cmath>

#include "filters.hpp"
#include "positions-inl.hpp"

namespace tenter {
namespace {

constexpr double nothing = 1e-12;  // as of native/sampling.cpp
constexpr double least_weight = 1e-36;

// Weights of the candidates of forward targets. A distance is a whole number of parts of a pixel, divided once; weights
// have the bits that Sampling gives.
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

  // The weight of candidates that lie so many parts of a pixel away, before rows are divided by their sum. zero: set
  // where one within the support is zero.
  template <class Of>
  TENTER_ALWAYS_INLINE Vec<double> one(Vec<double> parts, Of&& of, Vec<int64_t>& zero) const {
    const Vec<double> distance = fast_ ? quotient(parts, pixel_, reciprocal_) : parts / pixel_;
    const Vec<double> w = of(distance);
    zero |= (Vec<int64_t>)(tenter::magnitude(parts) < edge_) & (Vec<int64_t>)(tenter::magnitude(w) < least_weight);
    return w;
  }

  // weight[j]: of the j-th candidates of a vector of outputs with these rests. Returns whether one within the support
  // is zero, so that its row is not like others: it may be cut, or hold a zero.
  template <class Of>
  TENTER_ALWAYS_INLINE bool weigh(Vec<double> rest, Of&& of, Vec<double>* weight) const {
    const Vec<double> from = rest * scale_;
    Vec<double> total{};
    Vec<int64_t> zero{};
    for (int64_t j = 0; j < count_; ++j) {
      const Vec<double> w = one(splat(double(first_ + j) * unit_) - from, of, zero);
      total += w;
      weight[j] = w;
    }
    if (normalizes_) {
      zero |= (Vec<int64_t>)(tenter::magnitude(total) < nothing);
      for (int64_t j = 0; j < count_; ++j) weight[j] /= total;
    }
    return any(zero);
  }

 private:
  int64_t first_, count_;
  bool normalizes_, fast_;
  double unit_;
  Vec<double> scale_, pixel_, reciprocal_, edge_;
};

// Calls f with a filter's function of vectors. Filters with other functions have no signals.
template <class F>
void with_vector_filter(const Filter& filter, F&& f) {
  with_filter(filter, f, [](auto&&) {});
}

// Notes that a target's row is unlike others. Tasks may share a byte.
inline void leave(const SignalTask& t, int64_t target) {
  __atomic_store_n(t.left + (target - t.lo) / left_targets, uint8_t(1), __ATOMIC_RELAXED);
}

template <class Acc>
void filtered_block(const SignalTask& t, Walk<double>& walk, int64_t lo, int64_t n, Block<Acc>& b, Lease& lease) {
  const Filtered rows(t);
  Vec<double>* const weight = reinterpret_cast<Vec<double>*>(lease->plane.get<char>(t.count * vector_bytes));
  with_vector_filter(t.filter, [&](auto&& of) {
    fill_block(t, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
      if (rows.weigh(rest, of, weight))
        for (int64_t k = at; k < std::min(at + double_lanes, n); ++k) leave(t, lo + k);
      for (int64_t j = 0; j < t.count; ++j) store_weights(b.weight + j * b.room + at, weight[j]);
    });
  });
}

// Inputs [lo, lo + n), each read by adjacent outputs. Where rows are not divided by their sum, an input's weights follow
// from its own position among the outputs.
template <class Acc>
void filtered_transposed_block(const SignalTask& t, Walk<double>& walk, int64_t lo, int64_t n, Block<Acc>& b) {
  const Filtered rows(t);
  const Vec<double> scale = splat(double(t.denominator));
  with_vector_filter(t.filter, [&](auto&& of) {
    fill_block(t, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
      Vec<int64_t> zero{};
      for (int64_t j = 0; j < t.count; ++j) {
        const Vec<double> parts = (rest - splat(double(t.first + j) * double(t.at.unit))) * scale;
        store_weights(b.weight + j * b.room + at, rows.one(parts, of, zero));
      }
      if (any(zero))
        for (int64_t k = at; k < std::min(at + double_lanes, n); ++k) leave(t, lo + k);
    });
  });
}

// The same of any rows: those of the outputs that read them are made, and each weight goes to its input's. b.weight has
// room for the weights of one candidate more.
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
      const bool zero = rows.weigh(forward.rest, of, weight);
      for (int l = 0; l < int(std::min<int64_t>(N, to - o)); ++l) {
        const int64_t first = forward.whole[l] + t.forward_first - lo, source = o + l - b.origin;
        const int64_t begin = std::max<int64_t>(0, -first), end = std::min(t.forward_count, n - first);
        for (int64_t j = begin; j < end; ++j) {
          const double w = weight[j][l];
          const int64_t i = first + j;
          // What does not count may be no candidate of the input.
          b.weight[(w != 0 ? source - b.index[i] : b.count) * b.room + i] = Acc(w);
        }
        if (zero)
          for (int64_t j = begin; j < end; ++j) leave(t, lo + first + j);
      }
    }
  });
}

}  // namespace
}  // namespace tenter
