#include "axis_part.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace tenter {
namespace {

constexpr Wide below63 = Wide(1) << 63, exact_below = Wide(1) << 53, finest_unit = Wide(1) << 90;
constexpr int64_t farthest = int64_t(1) << 61;

Wide common(Wide a, Wide b) {
  a = a < 0 ? -a : a, b = b < 0 ? -b : b;
  if (!a || !b) return a + b;
  int twos = 0;  // what both have, as most denominators are powers of two
  for (; !((a | b) & 1); ++twos) a >>= 1, b >>= 1;
  while (b && (a >= below63 || b >= below63)) std::swap(a %= b, b);
  return (b ? Wide(std::gcd(int64_t(a), int64_t(b))) : a) << twos;
}

// a / b to the nearest double: as many bits of the quotient as fit, the last of which says whether anything is left.
double quotient(Wide a, Wide b) {
  if (a < exact_below && b < exact_below) return double(a) / double(b);
  int shift = 0;
  while (b >= Wide(1) << 62) b >>= 1, ++shift;  // so large a one is a power of two times outputs: no bit is lost
  Wide whole = a / b, rest = a % b;
  for (; whole < Wide(1) << 60; ++shift) {
    rest <<= 1, whole <<= 1;
    if (rest >= b) rest -= b, whole |= 1;
  }
  return std::ldexp(double(whole | (rest != 0)), -shift);
}

}  // namespace

Units units_of(const AxisPart& p, Align align, int64_t n_out, const Scale* scale) {
  Wide step = p.extent, steps = n_out;
  if (scale) {
    step = p.of * scale->denominator, steps = scale->numerator;
  } else if (by_corners(align)) {
    step = n_out > 1 ? p.extent - p.of : 0;
    steps = n_out > 1 ? n_out - 1 : 1;
  }
  Units u{2 * steps * p.low, 2 * step, 2 * steps * p.of};
  if (by_halves(align, n_out)) u.first += step - steps * p.of;
  if (align == Align::half_pixel_symmetric) u.first += steps * p.extent - n_out * step;
  if (align == Align::tf_half_pixel_for_nn) u.first += step;
  if (align == Align::tf_crop_and_resize && n_out == 1) u.first += steps * (p.extent - p.of);
  const Wide all = common(common(u.first, u.step), u.unit);
  return {u.first / all, u.step / all, u.unit / all};
}

bool line_of(const Units& u, int64_t n_out, Line& to) {
  if (u.unit >= finest_unit || u.step < 0) return false;
  auto over = [&](Wide value) {
    const Wide whole = value / u.unit - (value % u.unit < 0);
    return Position{int64_t(whole), value - whole * u.unit};
  };
  if (u.first / u.unit >= farthest || u.first / u.unit <= -farthest || u.step / u.unit >= farthest / (n_out + 1))
    return false;
  to = {over(u.first), over(u.step), u.unit};
  return Wide(std::abs(to.first.whole)) + Wide(n_out) * (to.step.whole + 1) < farthest;
}

Stretch stretch_of(Wide inputs, Wide outputs) {
  if (inputs <= outputs) return {1, 1, 1.0};
  const Wide all = common(inputs, outputs);
  inputs /= all, outputs /= all;
  const double ratio = quotient(inputs, outputs);
  if (inputs >= exact_below) return {0, 0, ratio};
  return {int64_t(inputs), int64_t(outputs), ratio};
}

}  // namespace tenter
