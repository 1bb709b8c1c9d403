// Positions of outputs along an axis, as exact fractions: output o is at first + o * step.
#pragma once
#include <algorithm>
#include <cstdint>

#include "system/integers.hpp"

namespace tenter {

typedef __int128 Wide;

// A position of whole + rest / unit pixels, with 0 <= rest < unit.
struct Position {
  int64_t whole;
  Wide rest;
};

// A line of positions. unit is below 2^90, so that the rest of any output is exact in 128 bits.
struct Line {
  Position first, step;
  Wide unit;
  Position at(int64_t o) const {
    const Wide rest = first.rest + o * step.rest;  // never negative: o and both rests are not
    if ((rest | unit) >> 63 == 0) {                // a division of 128 bits takes several times as long
      const int64_t part = int64_t(rest), one = int64_t(unit);
      return {first.whole + o * step.whole + part / one, part % one};
    }
    return {first.whole + o * step.whole + int64_t(rest / unit), rest % unit};
  }
  void advance(Position& p) const {
    p.whole += step.whole, p.rest += step.rest;
    if (p.rest >= unit) p.rest -= unit, ++p.whole;
  }
  // numerator / unit. Small units are converted by 64 bits, as the conversion of 128 bits is a function call.
  double quotient(Wide numerator) const {
    return unit < Wide(1) << 62 ? double(int64_t(numerator)) / double(int64_t(unit)) : double(numerator) / double(unit);
  }
};

// The first output in [lo, hi) for which `holds` is true, or hi. `holds` is true for all later outputs too. near: a
// guess. The search starts there and doubles its step, as one call of `holds` takes longer than computing a row.
template <class F>
int64_t first_where(int64_t lo, int64_t hi, int64_t near, F&& holds) {
  near = std::clamp(near, lo, hi);
  if (near == hi || holds(near)) {
    hi = near;
    for (int64_t step = 1; lo < hi; step *= 2) {
      const int64_t at = std::max(lo, hi - step);
      if (!holds(at)) {
        lo = at + 1;
        break;
      }
      hi = at;
    }
  } else {
    lo = near + 1;
    for (int64_t step = 1; lo < hi; step *= 2) {
      const int64_t at = std::min(hi, lo + step) - 1;
      if (holds(at)) {
        hi = at;
        break;
      }
      lo = at + 1;
    }
  }
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    if (holds(middle)) hi = middle;
    else lo = middle + 1;
  }
  return lo;
}

}  // namespace tenter
