// Resampling filters: weights by distances from the sample, in input pixels. tenter.filters documents them.
#pragma once
#include <cmath>
#include <cstdint>

#include "integers.hpp"

namespace tenter {

enum class FilterKind : int { triangle, cubic, spline, lanczos, box, hamming };

// p, q: cubic's a; the b and c of spline; the lobes of lanczos.
struct Filter {
  FilterKind kind;
  double p, q;
};

// sin(pi x), exactly zero at whole numbers: its Taylor series to x^21 is right to a unit in the last place within half
// a period.
TENTER_ALWAYS_INLINE double sinpi(double x) {
  constexpr double magic = 0x1.8p52;  // adding it leaves the nearest whole number in the low bits
  const double shifted = x + magic, whole = shifted - magic, r = x - whole, t = r * r;
  double s = 5.392664662608129e-10;
  s = s * t - 2.2948428997269873e-08;
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
  int64_t bits;
  static_assert(sizeof bits == sizeof shifted);
  std::memcpy(&bits, &shifted, sizeof bits);
  return bits & 1 ? -s : s;
}
TENTER_ALWAYS_INLINE double sinc(double x) { return x == 0 ? 1.0 : sinpi(x) / (3.14159265358979323846 * x); }

TENTER_ALWAYS_INLINE double triangle(double x) { return std::fmax(0.0, 1.0 - std::fabs(x)); }

// Keys (1981); the factored forms are PyTorch's.
TENTER_ALWAYS_INLINE double cubic(double x, double a) {
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0.0;
}

// Mitchell and Netravali (1988).
TENTER_ALWAYS_INLINE double spline(double x, double b, double c) {
  x = std::fabs(x);
  if (x < 1) return (((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + (6 - 2 * b)) / 6;
  return x < 2 ? ((((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)) / 6 : 0.0;
}

// Duchon (1979).
TENTER_ALWAYS_INLINE double lanczos(double x, double lobes) {
  return std::fabs(x) < lobes ? sinc(x) * sinc(x / lobes) : 0.0;
}

// The pixels within half a pixel, the far edge with them, as Pillow has it. A rounding of a distance must not decide
// about an edge.
TENTER_ALWAYS_INLINE double box(double x) {
  constexpr double rounding = 1e-9;
  return x > rounding - 0.5 && x <= rounding + 0.5 ? 1.0 : 0.0;
}

// A sinc under a Hamming window of one lobe, as Pillow has it.
TENTER_ALWAYS_INLINE double hamming(double x) {
  return std::fabs(x) < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(3.14159265358979323846 * x)) : 0.0;
}

inline void filter_weights(const Filter& f, const double* x, int64_t n, double* weight) {
  auto all = [&](auto&& of) {
    for (int64_t k = 0; k < n; ++k) weight[k] = of(x[k]);
  };
  switch (f.kind) {
    case FilterKind::triangle: return all([](double d) { return triangle(d); });
    case FilterKind::cubic: return all([&](double d) { return cubic(d, f.p); });
    case FilterKind::spline: return all([&](double d) { return spline(d, f.p, f.q); });
    case FilterKind::lanczos: return all([&](double d) { return lanczos(d, f.p); });
    case FilterKind::box: return all([](double d) { return box(d); });
    case FilterKind::hamming: return all([](double d) { return hamming(d); });
  }
}

}  // namespace tenter
