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

  // weight[j]: of the j-th candidates of a vector of outputs with these rests. Returns whether one within the support
  // is zero, so that its row is not like others: it may be cut, or hold a zero.
  template <class Of>
  TENTER_ALWAYS_INLINE bool weigh(Vec<double> rest, Of&& of, Vec<double>* weight) const {
    const Vec<double> from = rest * scale_;
    Vec<double> total{};
    Vec<int64_t> zero{};
    for (int64_t j = 0; j < count_; ++j) {
      const Vec<double> parts = splat(double(first_ + j) * unit_) - from;
      const Vec<double> distance = fast_ ? quotient(parts, pixel_, reciprocal_) : parts / pixel_;
      const Vec<double> w = of(distance);
      zero |= (Vec<int64_t>)(tenter::magnitude(parts) < edge_) & (Vec<int64_t>)(tenter::magnitude(w) < least_weight);
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

// Inputs [lo, lo + n), each read by adjacent outputs. The rows of these are made, and each weight goes to its input's.
template <class Acc>
void filtered_transposed_block(const SignalTask& t, int64_t lo, int64_t n, Block<Acc>& b, Lease& lease) {
  constexpr int N = double_lanes;
  const Filtered rows(t);
  const Positions& p = t.forward;
  const double step = double(p.step_whole) + double(p.step_rest) / double(p.unit);
  const double start = double(p.whole) + double(p.rest) / double(p.unit), reach = double(t.forward_count);
  const int64_t from = std::max<int64_t>(0, int64_t((double(lo) - reach - start) / step) - 2);
  const int64_t to = std::min(t.n_in, int64_t((double(lo + n) + reach - start) / step) + 3);
  Vec<double>* const weight = reinterpret_cast<Vec<double>*>(lease->plane.get<char>(t.forward_count * vector_bytes));
  int32_t* const filled = lease->index.get<int32_t>(n);
  const int64_t whole = round_up(n, lanes<Acc>);
  std::fill(filled, filled + n, 0);
  for (int64_t j = 0; j < b.count; ++j) std::fill(b.weight + j * b.room, b.weight + j * b.room + whole, Acc{});
  with_vector_filter(t.filter, [&](auto&& of) {
    Walk<double> walk(p, from);
    for (int64_t o = from; o < to; o += N, walk.advance()) {
      const bool zero = rows.weigh(walk.rest, of, weight);
      for (int l = 0; l < int(std::min<int64_t>(N, to - o)); ++l) {
        const int64_t first = walk.whole[l] + t.forward_first - lo;
        const int64_t begin = std::max<int64_t>(0, -first), end = std::min(t.forward_count, n - first);
        for (int64_t j = begin; j < end; ++j) {
          const double w = weight[j][l];
          const int64_t i = first + j;
          if (zero) leave(t, lo + i);
          if (w == 0) continue;
          const int32_t slot = filled[i]++;
          if (slot == 0) b.index[i] = IndexOf<Acc>(o + l - from);
          if (slot < b.count) b.weight[slot * b.room + i] = Acc(w);
          else leave(t, lo + i);
        }
      }
    }
  });
  IndexOf<Acc> last = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (filled[i]) last = b.index[i];
    else b.index[i] = last;
  }
  for (int64_t i = n; i < whole; ++i) b.index[i] = last;
  b.n = n, b.origin = from;
}

}  // namespace
}  // namespace tenter
