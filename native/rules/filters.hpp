// Resampling filters: functions from a distance in input pixels to a weight. tenter.filters documents them.
#pragma once
#include <cmath>
#include <cstdint>

#include "system/integers.hpp"
#include "system/words.hpp"

namespace tenter {

constexpr double nothing = 1e-12;  // smaller weights and sums are rounding errors (tenter.filters.NOTHING)

#define TENTER_FILTERS(row) row(triangle) row(cubic) row(spline) row(lanczos) row(box) row(hamming)
TENTER_ENUM(FilterKind, filter, TENTER_FILTERS)

// A filter and its parameters: p is cubic's a, spline's b or the number of lobes of lanczos; q is spline's c.
struct Filter {
  FilterKind kind;
  double p = 0, q = 0;
  bool operator==(const Filter&) const = default;
};

// The modes of resize that are filters, except cubic.
//   support      in pixels: weights are zero at larger distances
//   sums_to_one  whether the weights at any position sum to one without normalizing
//   of_pillow    whether Pillow has the filter
struct NamedFilter {
  const char* name;
  Filter filter;
  double support;
  bool sums_to_one = false, of_pillow = false;
};
inline constexpr NamedFilter named_filters[] = {
    {"linear", {FilterKind::triangle}, 1, true, true},
    {"catmull-rom", {FilterKind::cubic, -0.5}, 2, true, true},
    {"mitchell", {FilterKind::spline, 1 / 3.0, 1 / 3.0}, 2, true},
    {"bspline", {FilterKind::spline, 1, 0}, 2, true},
    {"lanczos2", {FilterKind::lanczos, 2}, 2},
    {"lanczos3", {FilterKind::lanczos, 3}, 3, false, true},
    {"lanczos4", {FilterKind::lanczos, 4}, 4},
    {"lanczos5", {FilterKind::lanczos, 5}, 5},
    {"box", {FilterKind::box}, 0.5, false, true},
    {"hamming", {FilterKind::hamming}, 1, false, true},
};

// The functions below take doubles or vectors of doubles. Both use the same operations and give the same bits.

// sin(pi x), exactly zero at whole numbers. Within half a period its Taylor series to x^21 is right to one unit in the
// last place.
template <class T>
TENTER_ALWAYS_INLINE T sinpi(T x) {
  constexpr double magic = 0x1.8p52;  // adding and subtracting it rounds to the nearest whole number
  const T whole = (x + magic) - magic, r = x - whole, t = r * r;
  T s = t * 5.392664662608129e-10 - 2.2948428997269873e-08;
  s = s * t + 7.9520540014755126e-07;
  s = s * t - 2.1915353447830217e-05;
  s = s * t + 4.6630280576761255e-04;
  s = s * t - 7.3704309457143504e-03;
  s = s * t + 8.2145886611128233e-02;
  s = s * t - 5.9926452932079211e-01;
  s = s * t + 2.5501640398773455;
  s = s * t - 5.1677127800499703;
  s = s * t + 3.1415926535897931;
  s *= r;
  const T half = whole * 0.5;
  return (half + magic) - magic == half ? s : -s;  // whether `whole` is even
}
template <class T>
TENTER_ALWAYS_INLINE T sinc(T x) {
  return x == 0 ? T{} + 1 : sinpi(x) / (3.14159265358979323846 * x);
}

template <class T>
TENTER_ALWAYS_INLINE T magnitude(T x) {
  return x < 0 ? -x : x;
}

template <class T>
TENTER_ALWAYS_INLINE T triangle(T x) {
  const T left = 1 - magnitude(x);
  return left > 0 ? left : T{};
}

// Keys (1981); the factored forms are PyTorch's.
template <class T>
TENTER_ALWAYS_INLINE T cubic(T x, double a) {
  x = magnitude(x);
  const T near = ((a + 2) * x - (a + 3)) * x * x + 1, far = ((x - 5) * x + 8) * x * a - 4 * a;
  return x < 1 ? near : x < 2 ? far : T{};
}

// Mitchell and Netravali (1988).
template <class T>
TENTER_ALWAYS_INLINE T spline(T x, double b, double c) {
  x = magnitude(x);
  const T near = (((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + (6 - 2 * b)) / 6;
  const T far = ((((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)) / 6;
  return x < 1 ? near : x < 2 ? far : T{};
}

// Duchon (1979).
template <class T>
TENTER_ALWAYS_INLINE T lanczos(T x, double lobes) {
  return magnitude(x) < lobes ? sinc(x) * sinc(x / lobes) : T{};
}

// 1 within half a pixel, including the far edge, as in Pillow. A rounding error of the distance must not decide.
TENTER_ALWAYS_INLINE double box(double x) {
  constexpr double rounding = 1e-9;
  return x > rounding - 0.5 && x <= rounding + 0.5 ? 1.0 : 0.0;
}

// A sinc with a Hamming window of one lobe, as in Pillow.
TENTER_ALWAYS_INLINE double hamming(double x) {
  return std::fabs(x) < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(3.14159265358979323846 * x)) : 0.0;
}

// Calls all(f) with the filter's function if it accepts vectors of distances, else each(f) with one that takes a
// double.
template <class All, class Each>
TENTER_ALWAYS_INLINE void with_filter(const Filter& f, All&& all, Each&& each) {
  switch (f.kind) {
    case FilterKind::triangle: return all([](auto d) { return triangle(d); });
    case FilterKind::cubic: return all([&](auto d) { return cubic(d, f.p); });
    case FilterKind::spline: return all([&](auto d) { return spline(d, f.p, f.q); });
    case FilterKind::lanczos: return all([&](auto d) { return lanczos(d, f.p); });
    case FilterKind::box: return each([](double d) { return box(d); });
    case FilterKind::hamming: return each([](double d) { return hamming(d); });
  }
}

// Whether the filter's function accepts vectors.
inline bool is_vectorized(const Filter& f) {
  bool found = false;
  with_filter(f, [&](auto&&) { found = true; }, [](auto&&) {});
  return found;
}

}  // namespace tenter
