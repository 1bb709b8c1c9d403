#include "rules/axis_part.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace tenter {
namespace {

constexpr Wide below63 = Wide(1) << 63, exact_below = Wide(1) << 53, finest_unit = Wide(1) << 90;
constexpr int64_t farthest = int64_t(1) << 61;

// The greatest common divisor.
Wide common(Wide a, Wide b) {
  a = a < 0 ? -a : a, b = b < 0 ? -b : b;
  if (!a || !b) return a + b;
  int twos = 0;  // common factors of 2 first, as most denominators are powers of two
  for (; !((a | b) & 1); ++twos) a >>= 1, b >>= 1;
  while (b && (a >= below63 || b >= below63)) std::swap(a %= b, b);
  return (b ? Wide(std::gcd(int64_t(a), int64_t(b))) : a) << twos;
}

bool is_narrow(Wide a) { return a == int64_t(a); }
// a / b; by 64 bits if possible, as a division of 128 bits takes several times as long.
Wide divided(Wide a, Wide b) { return is_narrow(a) && is_narrow(b) ? int64_t(a) / int64_t(b) : a / b; }

int bits(Wide a) {
  typedef unsigned __int128 Unsigned;
  const Unsigned size = a < 0 ? -Unsigned(a) : Unsigned(a);
  const auto high = uint64_t(size >> 64), low = uint64_t(size);
  return high ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
}

// The double nearest to a / b, for a >= 0. Returns false if b has too many bits.
bool quotient(Wide a, Wide b, double& to) {
  if (!a || (a < exact_below && b < exact_below)) return to = double(a) / double(b), true;
  int shift = 0;
  for (; b >= Wide(1) << 62 && !(b & 1); ++shift) b >>= 1;
  if (b >= Wide(1) << 62) return false;
  Wide whole = a / b, rest = a % b;
  for (; whole < Wide(1) << 60; ++shift) {
    rest <<= 1, whole <<= 1;
    if (rest >= b) rest -= b, whole |= 1;
  }
  to = std::ldexp(double(whole | (rest != 0)), -shift);
  return true;
}

}  // namespace

bool multiply(Wide a, Wide b, Wide& to) {
  if (bits(a) + bits(b) > 122) return false;
  return to = a * b, true;
}

bool Fraction::read(const char* words) {
  const bool below = *words == '-';
  words += below;
  auto number = [&](Wide& to) {
    for (to = 0; *words >= '0' && *words <= '9'; ++words) {
      if (to >= Wide(1) << 116) return false;
      to = 10 * to + (*words - '0');
    }
    return true;
  };
  denominator = 1;
  if (!number(numerator)) return false;
  if (*words == '/' && !(++words, number(denominator))) return false;
  if (*words || denominator < 1) return false;
  const Wide all = common(numerator, denominator);
  numerator /= all, denominator /= all;
  if (!quotient(numerator, denominator, value)) return false;
  if (below) numerator = -numerator, value = -value;
  return true;
}

bool box_of(const Fraction& begin, const Fraction& end, Box& to) {
  AxisPart& p = to.part;
  Wide high;
  const Wide times = end.denominator / common(begin.denominator, end.denominator);
  if (!multiply(begin.denominator, times, p.of) || !multiply(begin.numerator, times, p.low) ||
      !multiply(end.numerator, p.of / end.denominator, high))
    return false;
  p.extent = high - p.low, to.begin = begin.value, to.end = end.value;
  return true;
}

namespace {

// The step between two positions, in 1 / `of` / `steps` pixels. Returns false if it has too many bits.
bool step_of(const AxisPart& p, Align align, int64_t n_out, const Scale* scale, Wide& step, Wide& steps) {
  step = p.extent, steps = n_out;
  if (by_corners(align)) {
    step = n_out > 1 ? p.extent - p.of : 0;
    steps = n_out > 1 ? n_out - 1 : 1;
    if (!scale) return true;
    // The length of the result is the exact product of length and scale, not rounded.
    Wide length, of;
    if (!multiply(p.extent, scale->numerator, length) || !multiply(p.of, scale->denominator, of)) return false;
    step = 0, steps = 1;
    return length <= of || (multiply(p.extent - p.of, of, step) && (steps = length - of));
  }
  if (scale) return steps = scale->numerator, multiply(p.of, scale->denominator, step);
  if (!n_out) step = p.of, steps = 1;
  return true;
}

}  // namespace

bool units_of(const AxisPart& p, Align align, int64_t n_out, const Scale* scale, Units& to) {
  Wide step, steps;
  if (!step_of(p, align, n_out, scale, step, steps)) return false;
  Wide unit, low, all_inputs = 0, all_steps = 0;
  if (!multiply(steps, p.of, unit) || !multiply(steps, p.low, low)) return false;
  Wide& first = to.first = 2 * low;
  if (by_halves(align, n_out)) first += step - unit;
  if (align == Align::half_pixel_symmetric) {
    if (!multiply(steps, p.extent, all_inputs) || !multiply(n_out, step, all_steps)) return false;
    first += all_inputs - all_steps;
  }
  if (align == Align::tf_half_pixel_for_nn) first += step;
  if (align == Align::tf_crop_and_resize && n_out == 1) {
    if (!multiply(steps, p.extent - p.of, all_inputs)) return false;
    first += all_inputs;
  }
  const Wide all = common(common(first, 2 * step), 2 * unit);
  to = {divided(first, all), divided(2 * step, all), divided(2 * unit, all)};
  return true;
}

bool line_of(const Units& u, int64_t n_out, Line& to) {
  if (u.unit >= finest_unit) return false;
  const Wide first = divided(u.first, u.unit), step = divided(u.step, u.unit), most = farthest / (n_out + 1);
  if (first >= farthest || first <= -farthest || step >= most || step <= -most) return false;
  auto position = [&](Wide value, Wide whole) {
    whole -= whole * u.unit > value;  // rounded down
    return Position{int64_t(whole), value - whole * u.unit};
  };
  to = {position(u.first, first), position(u.step, step), u.unit};
  return Wide(std::abs(to.first.whole)) + Wide(n_out) * (std::abs(to.step.whole) + 1) < farthest;
}

bool stretch_of(Wide inputs, Wide outputs, Stretch& to) {
  to = {1, 1, 1.0};
  if (inputs <= outputs) return true;
  const Wide all = common(inputs, outputs);
  inputs = divided(inputs, all), outputs = divided(outputs, all);
  if (!quotient(inputs, outputs, to.ratio)) return false;
  const bool fits = inputs < exact_below;
  to.numerator = fits ? int64_t(inputs) : 0, to.denominator = fits ? int64_t(outputs) : 0;
  return true;
}

}  // namespace tenter
