#include "calls/dynamic_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calls/call_key.hpp"

namespace tenter {
namespace {

constexpr int64_t exact_scale = int64_t(1) << 53;  // so that the quotient of two doubles is the nearest double

// The length of a result, as tenter._specs.lengths.scaled computes it; -1 where Python must compute it.
int64_t scaled(double length, double factor, LengthRounding rounding) {
  const double made = length * factor;
  if (!(made < double(most_length))) return -1;
  switch (rounding) {
    case LengthRounding::floor: return int64_t(made);
    case LengthRounding::round: return int64_t(made + 0.5);
    case LengthRounding::round_even: return int64_t(std::nearbyint(made));
    default: return int64_t(std::ceil(made));
  }
}

int64_t scaled(const AxisPart& part, const Scale& s, LengthRounding rounding) {
  if (part.of > Wide(1) << finest_scaled) return -1;
  const Wide n = part.extent * s.numerator, d = part.of * s.denominator;
  const Wide below = n / d, rest = n % d;
  if (below >= most_length) return -1;
  bool up = rounding == LengthRounding::ceil ? rest > 0 : 2 * rest >= d;
  if (rounding == LengthRounding::floor || (rounding == LengthRounding::round_even && 2 * rest == d && below % 2 == 0))
    up = false;
  return int64_t(below) + up;
}

}  // namespace

bool DynamicArguments::read_sizes(PyObject* size, int n_axes) {
  const Sequence values(size);
  if (values.size() >= 0 && values.size() != n_axes) return false;
  for (int k = 0; k < n_axes; ++k) {
    int overflow = 0;
    sizes[k] = PyLong_AsLongLongAndOverflow(values.size() < 0 ? size : values[k], &overflow);
    if (overflow || sizes[k] < 1 || sizes[k] > most_length) return false;
  }
  return true;
}

bool DynamicArguments::round_sizes(const int64_t* lengths, int n_axes, LengthRounding rounding) {
  if (scales.count != 1 && scales.count != n_axes) return false;
  for (int k = 0; k < n_axes; ++k) {
    const Scales::OfAxis& s = scales.of(k);
    if (lengths[k] > most_length) return false;
    if (!box(k) && !s.is_fraction) sizes[k] = scaled(double(lengths[k]), s.scale.value, rounding);
    else sizes[k] = scaled(extent(k, lengths[k]), s.scale, rounding);
    if (sizes[k] < 1) return false;
  }
  return true;
}

// The same as tenter._specs.lengths.fitted.
bool DynamicArguments::fit_sizes(const int64_t* lengths, int n_axes, Policy policy) {
  Scale found{0, 1, 0};
  for (int k = 0; k < n_axes; ++k) {
    const AxisPart all = extent(k, lengths[k]);
    if (all.extent < 1 || all.extent > exact_scale || all.of > exact_scale / sizes[k]) return false;
    const int64_t n = sizes[k] * int64_t(all.of), d = int64_t(all.extent);
    const bool less = Wide(n) * found.denominator < Wide(found.numerator) * d;
    if (k == 0 || less == (policy == Policy::not_larger)) found = {n, d, double(n) / double(d)};
  }
  const int64_t common = std::gcd(int64_t(found.numerator), int64_t(found.denominator));
  found.numerator /= common, found.denominator /= common;
  for (int k = 0; k < n_axes; ++k) {
    const int64_t n = scaled(extent(k, lengths[k]), found, LengthRounding::round);
    if (n < 0) return false;
    sizes[k] = std::max<int64_t>(n, 1);
  }
  scales.count = 1, scales.each[0] = {found, true};
  return true;
}

}  // namespace tenter
