#include "whole_axis.hpp"

#include <algorithm>
#include <numeric>

namespace tenter {
namespace {

Position over(int64_t value, int64_t unit) {
  const int64_t whole = value / unit - (value % unit < 0);
  return {whole, value - whole * unit};
}
Line line_of(int64_t first, int64_t step, int64_t unit) { return {over(first, unit), over(step, unit), unit}; }

}  // namespace

// tenter.geometry.Geometry.units has the same positions, of scales too.
Sampling WholeAxis::sampling(int64_t n_in, int64_t n_out) const {
  if (rule == Rule::touched)
    return {n_in, n_out, Rule::touched, line_of(0, n_in, n_out), 0, nullptr, 1, 1, 1, false, Edge::renormalize};
  int64_t step = n_out ? n_in : 1, unit = n_out ? n_out : 1;
  if (by_corners(align)) step = n_out > 1 ? n_in - 1 : 0, unit = n_out > 1 ? n_out - 1 : 1;
  int64_t first = by_halves(align, n_out) ? step - unit : 0;
  step *= 2, unit *= 2;
  const int64_t common = std::gcd(std::gcd(first, step), unit);
  first /= common, step /= common, unit /= common;
  int64_t wide = 1, one = 1;  // the stretch, as a fraction
  if (widens && align == Align::corner_areas) wide = std::max(step, unit), one = unit;
  else if (widens) wide = std::max(n_in, n_out), one = n_out;
  const bool stretched = wide != one && one > 0;
  if (!stretched) wide = one = 1;
  const double ratio = double(wide) / double(one);
  if (wide >= int64_t(1) << 53) wide = one = 0;
  Sampling made(n_in, n_out, Rule::filtered, line_of(first, step, unit), support, weights, wide, one, ratio,
                !sums_to_one || stretched, edge);
  made.filter = filter;
  return made;
}

std::optional<Sampling> WholeAxis::sampling(int64_t n_in, int64_t n_out, const AxisPart& part,
                                            const Scale* scale) const {
  if (rule == Rule::touched || (scale && (by_corners(align) || part.of > Wide(1) << finest_scaled)))
    return std::nullopt;
  const Units u = units_of(part, align, n_out, scale);
  Line line;
  if (!line_of(u, n_out, line)) return std::nullopt;
  if (rule == Rule::overlapped) return Sampling(n_in, n_out, rule, line, 0, nullptr, 1, 1, 1, false, edge);
  Stretch s{1, 1, 1};
  if (widens && scale) s = stretch_of(scale->denominator, scale->numerator);
  else if (widens && align == Align::corner_areas) s = stretch_of(u.step, u.unit);
  else if (widens) s = stretch_of(part.extent, part.of * n_out);
  const bool stretched = s.numerator != s.denominator || !s.numerator;
  Sampling made(n_in, n_out, rule, line, support, weights, s.numerator, s.denominator, s.ratio,
                !sums_to_one || stretched, edge);
  made.filter = filter;
  return made;
}

}  // namespace tenter
