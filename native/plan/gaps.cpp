#include "plan/gaps.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "system/integers.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

constexpr int64_t part = 1 << 14;  // values of a task

template <class Real>
using Bits = std::conditional_t<sizeof(Real) == 4, uint32_t, uint64_t>;

// Selections are written with bits, of which compilers make vectors.
template <class Real, bool masked, bool skips, bool weighs>
void fill_part(const Real* values, const uint8_t* mask, Real* filled, Real* ones, int64_t n) {
  typedef Bits<Real> B;
  constexpr B one = std::bit_cast<B>(Real(1)), infinity = std::bit_cast<B>(std::numeric_limits<Real>::infinity());
  const B* const src = reinterpret_cast<const B*>(values);
  B *const dst = reinterpret_cast<B*>(filled), *const weight = reinterpret_cast<B*>(ones);
  for (int64_t i = 0; i < n; ++i) {
    B there = ~B(0);
    if constexpr (masked) there &= -B(mask[i] != 0);
    if constexpr (skips) there &= -B((src[i] & ~(B(1) << (8 * sizeof(B) - 1))) <= infinity);
    dst[i] = src[i] & there;
    if constexpr (weighs) weight[i] = one & there;
  }
}

template <class Real>
void fill_parts(const Gaps& t, int threads) {
  auto run = [&](auto fill) {
    parallel(ceil_div(t.n, part), team_for(t.n * int64_t(sizeof(Real)), threads), [&](int64_t p) {
      for (int64_t at = p * part, end = std::min(at + part, t.n); at < end;) {
        const int64_t in_mask = t.mask ? at % t.period : 0;
        const int64_t size = t.mask ? std::min(end - at, t.period - in_mask) : end - at;
        fill(static_cast<const Real*>(t.values) + at, t.mask + in_mask, static_cast<Real*>(t.filled) + at,
             t.ones ? static_cast<Real*>(t.ones) + at : nullptr, size);
        at += size;
      }
    });
  };
  if (t.mask && t.skips)
    return t.ones ? run(fill_part<Real, true, true, true>) : run(fill_part<Real, true, true, false>);
  if (t.mask) return t.ones ? run(fill_part<Real, true, false, true>) : run(fill_part<Real, true, false, false>);
  return t.ones ? run(fill_part<Real, false, true, true>) : run(fill_part<Real, false, true, false>);
}

template <class Real>
void divide_parts(Real* sums, const Real* shares, int64_t n, Real above, int threads) {
  parallel(ceil_div(n, part), team_for(2 * n * int64_t(sizeof(Real)), threads), [&](int64_t p) {
    for (int64_t i = p * part, end = std::min(i + part, n); i < end; ++i) {
      const Real divisor = shares[i] > above ? shares[i] : std::numeric_limits<Real>::quiet_NaN();
      sums[i] /= divisor;
    }
  });
}

}  // namespace

void Gaps::fill(int threads) const {
  if (dtype == Dtype::f32) fill_parts<float>(*this, threads);
  else if (dtype == Dtype::f64) fill_parts<double>(*this, threads);
  else no_kernel("expected float32 or float64");
}

void divide_by_shares(void* sums, const void* shares, int64_t n, Dtype dtype, double above, int threads) {
  if (dtype == Dtype::f32)
    return divide_parts(static_cast<float*>(sums), static_cast<const float*>(shares), n, float(above), threads);
  if (dtype != Dtype::f64) no_kernel("expected float32 or float64");
  divide_parts(static_cast<double*>(sums), static_cast<const double*>(shares), n, above, threads);
}

}  // namespace tenter
