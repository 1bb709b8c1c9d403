#include "rules/source_index.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

constexpr int64_t below31 = int64_t(1) << 31, unbounded = int64_t(1) << 62;

}  // namespace

SourceIndex::SourceIndex(const Setup& setup)
    : n_in(setup.n_in),
      n_out(setup.n_out),
      formula(setup.formula),
      first(setup.first),
      step(setup.step),
      line(setup.line),
      least(-unbounded),
      most(unbounded),
      begin(setup.begin),
      end(setup.end),
      inside_begin(0),
      inside_end(setup.n_out),
      edge(setup.edge),
      narrow(false) {
  if (formula == Formula::accumulated) accumulate();
  slope = formula == Formula::float_quotients ? double(n_in) / double(std::max<int64_t>(1, n_out)) : step;
  origin = 0;
  if (formula == Formula::line) {
    slope = double(line.step.whole) + line.quotient(line.step.rest);
    origin = double(line.first.whole) + line.quotient(line.first.rest);
  } else if (formula == Formula::accumulated) {
    origin = first;
  }
  if (edge == Edge::constant) {  // while indices are not clamped yet
    begin = first_of(0);
    end = first_of(n_in);
  }
  if (is_periodic()) inside_begin = first_of(0), inside_end = first_of(n_in);
  else least = 0, most = n_in - 1;
  narrow = n_in < below31 && n_out < below31;
  if (formula != Formula::line || !narrow || !n_out) return;
  const int64_t ends[] = {line.first.whole, line.at(n_out - 1).whole};
  for (int64_t at : ends) narrow = narrow && -below31 / 2 < at && at < below31 / 2;
  narrow = narrow && line.unit < Wide(1) << narrow_unit_bits;
}

// Between two powers of two, doubles are evenly spaced, so adding `step` is rounded by the same amount each time. Ties
// are an exception, as they are rounded to even. But after the first sum all sums rise by the same amount, also then.
// So a piece begins with the second value after a power of two.
void SourceIndex::accumulate() {
  double x = first;
  for (int64_t o = 0; o < n_out;) {
    const double y = x + step, z = y + step, rise = z - y;
    const bool level =
        y != 0 && z != 0 && std::ilogb(x) == std::ilogb(y) && std::ilogb(y) == std::ilogb(z) && x * y > 0;
    if (!level) {
      pieces.push_back({o++, x, 0});
      x = y;
      continue;
    }
    pieces.push_back({o++, x, 0});
    if (o == n_out) return;
    // In units of the last place, a positive y may rise to 2^53 - 1 and a negative one to -2^52.
    const double unit = std::ldexp(1.0, std::ilogb(y) - 52);
    const int64_t at = int64_t(y / unit), by = int64_t(rise / unit);
    const int64_t room = (y > 0 ? (int64_t(1) << 53) - 1 : -(int64_t(1) << 52)) - at;
    const int64_t n = by > 0 ? std::min(n_out - o, room / by + 1) : n_out - o;
    pieces.push_back({o, y, rise});
    o += n;
    x = y + double(n - 1) * rise + step;
  }
}

int64_t SourceIndex::at(int64_t o) const {
  int64_t base;
  int32_t index;
  kernels().indices(*this, o, 1, &index, base);
  return base + index;
}

void SourceIndex::index(int64_t lo, int64_t hi, int64_t* to) const {
  constexpr int64_t together = 1024;
  int32_t some[together];
  for (int64_t base; lo < hi;) {
    const int64_t n = kernels().indices(*this, lo, std::min(together, hi - lo), some, base);
    for (int64_t k = 0; k < n; ++k) to[k] = base + some[k];
    if (!is_inside(lo, lo + n))
      for (int64_t k = 0; k < n; ++k) to[k] = folded(to[k], n_in, edge);
    lo += n, to += n;
  }
}

// Looks near a guess first: a vector of indices costs as much as a single one.
int64_t SourceIndex::first_of(int64_t i) const {
  constexpr int64_t near = 16;
  int64_t lo = begin, hi = end;
  const double guess = slope > 0 ? (double(i) - origin) / slope : 0;
  if (guess > double(begin) && guess < double(end)) {
    int32_t some[near];
    int64_t base;
    const int64_t from = std::max(begin, int64_t(guess) - near / 2);
    const int64_t n = kernels().indices(*this, from, std::min(near, end - from), some, base);
    const int64_t at = std::lower_bound(some, some + n, i - base) - some;
    if (at > 0 && at < n) return from + at;
    if (at == 0) hi = from;
    else lo = from + n;
  }
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    if (at(middle) >= i) hi = middle;
    else lo = middle + 1;
  }
  return lo;
}

int64_t SourceIndex::longest_run() const {
  const int64_t all = end - begin;
  if (n_in == 1 || all <= 1 || slope <= 0) return all;
  // Positions outside of the axis are clamped to its ends. Inside, rounding moves them by less than a pixel, or by a
  // few on an axis that is too long for float32.
  constexpr double margin = 4;
  const double inside = margin * (1 + 1 / slope);
  return std::max({first_of(1) - begin, end - first_of(n_in - 1), int64_t(std::min(inside, double(all)))});
}

void SourceIndex::offsets(int64_t lo, int64_t hi, int64_t* to) const {
  constexpr int64_t together = 1024;
  int32_t some[together];
  const int64_t from = first_of(lo), stop = first_of(hi);
  // Each output writes o + 1 as the end of its input's outputs, and the last one stays. Inputs without outputs begin
  // and end where the input before ends.
  std::fill(to, to + (hi - lo) + 1, from);
  int64_t base;
  for (int64_t o = from; o < stop;) {
    const int64_t n = kernels().indices(*this, o, std::min(together, stop - o), some, base);
    int64_t* const ends = to + 1 + base - lo;
    for (int64_t k = 0; k < n; ++k) ends[some[k]] = o + k + 1;
    o += n;
  }
  for (int64_t j = 1; j <= hi - lo; ++j) to[j] = std::max(to[j], to[j - 1]);
}

namespace {

// Whether output o of a line reads input o / k.
bool line_repeats(const Line& line, int64_t k) {
  return line.step.whole == (k == 1) && line.step.rest * k == (k == 1 ? 0 : line.unit) && line.first.whole == 0 &&
         line.first.rest * k < line.unit;
}

// The same for formulas of floats. If the step is a power of two and all positions are exact in float32, nothing is
// rounded. Only the first and the last output of an input could then be off, so it is enough to look at these. Returns
// false also if positions are rounded.
bool exact_floats_repeat(const SourceIndex& p, int64_t k) {
  if (p.formula == Formula::float_quotients || p.formula == Formula::line || (k & (k - 1)) != 0) return false;
  const bool centered = p.first == 0 || p.first == 0.5 || p.first == p.step / 2;
  if (p.step * double(k) != 1 || !centered || p.n_out > int64_t(1) << 23) return false;
  return p.at(0) == 0 && p.at(k - 1) == 0 && p.at(p.n_out - 1) == p.n_in - 1;
}

// The same for any formula: compares all indices.
bool all_repeat(const SourceIndex& p, int64_t k) {
  constexpr int64_t together = 1024;
  int32_t index[together];
  int64_t base, i = 0, j = 0;  // output o == i * k + j
  for (int64_t o = 0; o < p.n_out;) {
    const int64_t n = kernels().indices(p, o, std::min(together, p.n_out - o), index, base);
    for (int64_t m = 0; m < n; ++m) {
      if (base + index[m] != i) return false;
      if (++j == k) j = 0, ++i;
    }
    o += n;
  }
  return true;
}

}  // namespace

int64_t SourceIndex::repeat() const {
  if (!n_out || !n_in || n_out % n_in || !reads_all()) return n_out ? -1 : 0;
  const int64_t k = n_out / n_in;
  if (formula == Formula::line && line_repeats(line, k)) return k;
  if (exact_floats_repeat(*this, k)) return k;
  if (n_in + n_out > tuning.long_axis) return -1;
  return all_repeat(*this, k) ? k : -1;
}

}  // namespace tenter
