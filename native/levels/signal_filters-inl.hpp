// Rows of a filter's weights for a block of a signal's targets, and rows of their transposes.
#pragma once
#include <algorithm>
#include <cmath>

#include "levels/positions-inl.hpp"
#include "rules/filters.hpp"

namespace tenter {
namespace {

constexpr double least_weight = 1e-36;

inline Vec<int64_t> is_nothing(Vec<double> total) { return (Vec<int64_t>)(magnitude(total) < nothing); }

// The weights of the candidates of targets, as doubles: candidate j of target k has weight[j * pitch + k]. One function
// makes them for all kinds of rows and sums, as the compiler's time goes into the number of filters.
struct FilterRows {
  int64_t first, count;  // candidates first .. first + count - 1
  double unit;           // fractions of a pixel between candidates
  int64_t pitch = 0;
  double *weight = nullptr, *total = nullptr;  // total: the sum of each target's weights
  // For each vector of targets: whether a candidate within the support has weight zero. Its row is then not like
  // others: it may be cropped, or have a zero inside.
  uint8_t* odd = nullptr;

  // Makes space for n targets.
  void room(int64_t n, Lease& lease) {
    pitch = round_up(n, lanes<float>);
    weight = lease->plane.get<double>((count + 2) * pitch);
    total = weight + count * pitch, odd = reinterpret_cast<uint8_t*>(total + pitch);
  }
  // Makes the next n targets of a walk. A distance is a whole number of fractions of a pixel, divided once, so weights
  // have the bits that Sampling gives.
  [[gnu::noinline]] void make(const SignalTask& t, Walk<double>& walk, int64_t n) const {
    const bool fast = t.stretched_unit < exact_quotients && t.reaches < exact_quotients;
    const Vec<double> scale = splat(double(t.denominator)), pixel = splat(double(t.stretched_unit));
    const Vec<double> reciprocal = splat(1 / double(t.stretched_unit)),
                      edge = splat(t.support * double(t.stretched_unit));
    const FilterRows r = *this;  // copies: the compiler must assume that stores of weights change what is referred to
    const Filter filter = t.filter;
    Walk<double> next = walk;
    with_filter(
        filter,
        [&](auto&& of) __attribute__((always_inline)) {
          for (int64_t k = 0; k < n; k += double_lanes, next.advance()) {
            const Vec<double> from = next.rest * scale;
            Vec<double> total{};
            Vec<int64_t> zero{};
            for (int64_t j = 0; j < r.count; ++j) {
              const Vec<double> parts = splat(double(r.first + j) * r.unit) - from;
              const Vec<double> w = of(fast ? quotient(parts, pixel, reciprocal) : parts / pixel);
              zero |= (Vec<int64_t>)(magnitude(parts) < edge) & (Vec<int64_t>)(magnitude(w) < least_weight);
              total += w;
              store_bits(r.weight + j * r.pitch + k, w);
            }
            store_bits(r.total + k, total);
            r.odd[k / double_lanes] = any(zero);
          }
        },
        [](auto&&) {});  // signals exist only for filters whose functions accept vectors
    walk = next;
  }
  // Divides the weights of target k's vector by totals(j), of each candidate j.
  template <class Totals>
  TENTER_ALWAYS_INLINE void divide(int64_t k, Totals&& totals) const {
    Vec<int64_t> zero{};
    for (int64_t j = 0; j < count; ++j) {
      double* const w = weight + j * pitch + k;
      const Vec<double> by = totals(j);
      zero |= is_nothing(by);
      store_bits(w, load_unaligned<Vec<double>>(w) / by);
    }
    odd[k / double_lanes] |= any(zero);
  }
  template <class Acc>
  void narrow(int64_t n, Block<Acc>& b) const {
    for (int64_t j = 0; j < count; ++j)
      for (int64_t k = 0; k < n; k += double_lanes)
        store_weights(b.weight + j * b.room + k, load_unaligned<Vec<double>>(weight + j * pitch + k));
  }
  // Calls f for each of n targets whose row is not like others.
  template <class F>
  void each_odd(int64_t n, F&& f) const {
    for (int64_t k = 0; k < n; k += double_lanes)
      for (int64_t i = k; odd[k / double_lanes] && i < std::min(k + double_lanes, n); ++i) f(i);
  }
};

// Rows of outputs of the map, not of its transpose.
inline FilterRows forward_rows(const SignalTask& t) {
  return {t.forward_first, t.forward_count, double(t.forward.unit) * double(t.denominator)};
}

// Marks that the row of a target is not like others, so that another kernel computes it. Several tasks may write the
// same byte.
inline void leave(const SignalTask& t, int64_t target) {
  __atomic_store_n(t.left + (target - t.lo) / left_targets, uint8_t(1), __ATOMIC_RELAXED);
}

// Makes the rows of n outputs of a walk. Calls left(k) for those that are not like others.
template <class Acc, class F>
void filtered_block(const SignalTask& t, Walk<double>& walk, int64_t n, Block<Acc>& b, Lease& lease, F&& left) {
  FilterRows rows = forward_rows(t);
  const int64_t whole = round_up(n, lanes<Acc>);
  rows.room(whole, lease);
  Walk<double> at = walk;
  rows.make(t, at, whole);
  for (int64_t k = 0; t.normalizes && k < whole; k += double_lanes)
    rows.divide(k, [&](int64_t) { return load_unaligned<Vec<double>>(rows.total + k); });
  rows.narrow(whole, b);
  fill_block(t.forward_first, walk, n, b, [](Vec<double>, int64_t) {});
  rows.each_odd(n, left);
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
  constexpr int64_t N = double_lanes, some = 256;
  const int64_t whole = round_up(n, lanes<Acc>);
  Walk<double> at = walk;
  fill_block(t.first, walk, n, b, [](Vec<double>, int64_t) {});
  double* totals = nullptr;
  if (t.normalizes) {  // sums of the rows of outputs from b.origin on; outputs outside the axis do not count
    const int64_t read = b.index[whole - 1] + b.count;
    totals = lease->gathered.get<double>(read + 4 * N);
    std::fill(totals, totals + read + 4 * N, 1.0);
    const int64_t to = std::min(t.n_in - b.origin, read);
    int64_t o = std::max<int64_t>(0, -b.origin);
    FilterRows forward = forward_rows(t);
    forward.room(some, lease);
    Walk<double> of(t.forward, b.origin + o);
    for (; o < to; o += some) {
      const int64_t made = std::min(some, to - o);
      forward.make(t, of, made);
      std::copy_n(forward.total, made, totals + o);
    }
  }
  FilterRows rows{t.first, t.count, double(t.at.unit) * double(t.denominator)};
  rows.room(whole, lease);
  rows.make(t, at, whole);
  for (int64_t k = 0; totals && k < whole; k += N)
    rows.divide(k, [&](int64_t j) { return at_places(totals + j, b.index + k); });
  rows.narrow(whole, b);
  rows.each_odd(n, [&](int64_t k) { leave(t, lo + k); });
}

}  // namespace
}  // namespace tenter
