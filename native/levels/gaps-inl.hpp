// Missing values are filled before an array is resized, and sums are divided by the shares of what is there.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/gaps.hpp"
#include "levels/stream-inl.hpp"

namespace tenter {
namespace {

// Selections are written with bits, of which compilers make vectors.
template <class Real, bool masked, bool skips, bool weighs>
void fill(const FillTask& t) {
  typedef Unsigned<sizeof(Real)> B;
  constexpr B one = std::bit_cast<B>(Real(1)), infinity = std::bit_cast<B>(std::numeric_limits<Real>::infinity());
  const B* const src = reinterpret_cast<const B*>(t.values);
  B *const dst = reinterpret_cast<B*>(t.filled), *const weight = reinterpret_cast<B*>(t.ones);
  for (int64_t i = 0; i < t.n; ++i) {
    B there = ~B(0);
    if constexpr (masked) there &= -B(t.mask[i] != 0);
    if constexpr (skips) there &= -B((src[i] & ~(B(1) << (8 * sizeof(B) - 1))) <= infinity);
    dst[i] = src[i] & there;
    if constexpr (weighs) weight[i] = one & there;
  }
}

template <class Real>
void fill_as(const FillTask& t) {
  const auto with = [&]<bool masked, bool skips>() {
    return t.ones ? fill<Real, masked, skips, true>(t) : fill<Real, masked, skips, false>(t);
  };
  if (!t.mask) return with.template operator()<false, true>();
  return t.skips ? with.template operator()<true, true>() : with.template operator()<true, false>();
}

void fill_gaps(const FillTask& t) {
  if (t.dtype == Dtype::f32) fill_as<float>(t);
  else fill_as<double>(t);
}

template <class Real>
void quotients(const Real* sums, const Real* shares, int64_t n, Real above, Real* to) {
  for (int64_t i = 0; i < n; ++i) {
    const Real divisor = shares[i] > above ? shares[i] : std::numeric_limits<Real>::quiet_NaN();
    to[i] = sums[i] / divisor;
  }
}

template <class Real>
void divide_as(const DivideTask& t) {
  const Real *const sums = reinterpret_cast<const Real*>(t.sums), *const shares =
                                                                      reinterpret_cast<const Real*>(t.shares);
  Real* const to = reinterpret_cast<Real*>(t.quotients);
  if (!t.stream) return quotients(sums, shares, t.n, Real(t.above), to);
  Real staging[stream_part / 4 / sizeof(Real)];
  for (int64_t i = 0, n; i < t.n; i += n) {
    n = std::min<int64_t>(t.n - i, std::size(staging));
    quotients(sums + i, shares + i, n, Real(t.above), staging);
    stream_store(to + i, staging, n * int64_t(sizeof(Real)));
  }
  store_fence(true);
}

void divide_by_shares(const DivideTask& t) {
  if (t.dtype == Dtype::f32) divide_as<float>(t);
  else divide_as<double>(t);
}

}  // namespace
}  // namespace tenter
