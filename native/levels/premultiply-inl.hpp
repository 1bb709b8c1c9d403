// Premultiplies colors by alpha, as floats to be resampled, and divides by it.
#pragma once
#include "kernels/premultiply.hpp"
#include "levels/convert-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// Vectors of whole pixels: alpha in every lane of its pixel, and a mask of the lanes that hold alpha.
template <class Real, int C>
inline Vec<Real> alphas(Vec<Real> x) {
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    return __builtin_shufflevector(x, x, (l | (C - 1))...);
  }(std::make_integer_sequence<int, lanes<Real>>{});
}
template <class Real, int C>
inline Vec<Real> colors_or(Vec<Real> colors, Vec<Real> alpha) {
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    return __builtin_shufflevector(colors, alpha, (l % C == C - 1 ? lanes<Real> + l : l)...);
  }(std::make_integer_sequence<int, lanes<Real>>{});
}

// Vectors too short for a whole pixel: 16 bytes with float64 values of alpha and three colors.
template <class Real, int C>
constexpr bool splits_pixels = lanes<Real> < C;

template <class Real, class Value, int C>
void multiply(const Value* src, Real* dst, int64_t n) {
  constexpr int N = lanes<Real>;
  if constexpr (splits_pixels<Real, C>) {
    for (int64_t i = 0; i < n; ++i) {
      const Real alpha = Real(src[i / C * C + C - 1]);
      dst[i] = i % C == C - 1 ? alpha : Real(src[i]) * alpha;
    }
    return;
  }
  auto product = [](Vec<Real> x) { return colors_or<Real, C>(x * alphas<Real, C>(x), x); };
  int64_t i = 0;
  for (; i + N <= n; i += N) store<Real, Real>(dst + i, product(load<Real, Value>(src + i)));
  if (i < n) store_masked<Real, Real>(dst + i, product(load_masked<Real, Value>(src + i, n - i)), n - i);
}

template <class Real, class Value, int C>
void divide(const Real* src, Value* dst, int64_t n, Real unseen) {
  constexpr int N = lanes<Real>;
  if constexpr (splits_pixels<Real, C>) {
    for (int64_t i = 0; i < n; ++i) {
      const Real alpha = src[i / C * C + C - 1];
      dst[i] = Value(i % C == C - 1 ? alpha : alpha > unseen ? src[i] / alpha : Real(0));
    }
    return;
  }
  auto quotient = [&](Vec<Real> x) {
    const Vec<Real> alpha = alphas<Real, C>(x), color = x / alpha;
    return colors_or<Real, C>(alpha > splat(unseen) ? color : Vec<Real>{}, x);
  };
  int64_t i = 0;
  for (; i + N <= n; i += N) store<Real, Value>(dst + i, quotient(load<Real, Real>(src + i)));
  if (i < n) store_masked<Real, Value>(dst + i, quotient(load_masked<Real, Real>(src + i, n - i)), n - i);
}

template <class Real, class Value, int C>
void premultiply_as(const PremultiplyTask& t, int threads) {
  constexpr int64_t part = 1 << 14;  // values per task: a multiple of every vector length
  const int64_t n = t.n_pixels * C;
  parallel(ceil_div(n, part), team_for(n * 8, threads), [&](int64_t p) {
    const int64_t at = p * part, size = std::min(part, n - at);
    if (t.divides)
      divide<Real, Value, C>(static_cast<const Real*>(t.src) + at, static_cast<Value*>(t.dst) + at, size,
                             Real(t.alpha));
    else multiply<Real, Value, C>(static_cast<const Value*>(t.src) + at, static_cast<Real*>(t.dst) + at, size);
  });
}
template <class Real, class Value>
void premultiply_of(const PremultiplyTask& t, int threads) {
  if (t.channels == 2) premultiply_as<Real, Value, 2>(t, threads);
  else premultiply_as<Real, Value, 4>(t, threads);
}

// Whether alpha is t.alpha in every pixel of src.
template <class Real, class Value, int C>
bool is_alpha_as(const PremultiplyTask& t, int threads) {
  constexpr int64_t part = 1 << 14;
  constexpr int N = lanes<Real>;
  const int64_t n = t.n_pixels * C;
  const Vec<Real> full = splat(Real(t.alpha));
  bool same = true;  // any task may write it
  parallel(ceil_div(n, part), team_for(n * 8, threads), [&](int64_t p) {
    if (!__atomic_load_n(&same, __ATOMIC_RELAXED)) return;
    const int64_t at = p * part, size = std::min(part, n - at);
    const Value* const src = static_cast<const Value*>(t.src) + at;
    auto differs = [&](Vec<Real> x) { return colors_or<Real, C>(full, x) != full; };
    int64_t i = 0;
    decltype(full != full) some{};
    for (; i + N <= size && !splits_pixels<Real, C>; i += N) some |= differs(load<Real, Value>(src + i));
    for (; i < size; i += C) some |= load_one<Real, Value>(src + i + C - 1) != full;
    if (any((Vec<int64_t>)some)) __atomic_store_n(&same, false, __ATOMIC_RELAXED);
  });
  return same;
}

inline bool is_alpha(const PremultiplyTask& t, int threads) {
  auto of = [&]<class Real, class Value>() {
    return t.channels == 2 ? is_alpha_as<Real, Value, 2>(t, threads) : is_alpha_as<Real, Value, 4>(t, threads);
  };
  switch (t.dtype) {
    case Dtype::u8: return of.template operator()<float, uint8_t>();
    case Dtype::u16: return of.template operator()<float, uint16_t>();
    case Dtype::f16: return of.template operator()<float, f16>();
    case Dtype::f32: return of.template operator()<float, float>();
    case Dtype::f64: return of.template operator()<double, double>();
    default: no_kernel("no pictures of this dtype");
  }
}

inline void premultiply(const PremultiplyTask& t, int threads) {
  switch (t.dtype) {
    case Dtype::u8: return premultiply_of<float, uint8_t>(t, threads);
    case Dtype::u16: return premultiply_of<float, uint16_t>(t, threads);
    case Dtype::f16: return premultiply_of<float, f16>(t, threads);
    case Dtype::f32: return premultiply_of<float, float>(t, threads);
    case Dtype::f64: return premultiply_of<double, double>(t, threads);
    default: no_kernel("no pictures of this dtype");
  }
}

}  // namespace
}  // namespace tenter
