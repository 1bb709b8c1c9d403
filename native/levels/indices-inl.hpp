// Source indices of nearest modes, computed by loops without branches, which the compiler vectorizes.
#pragma once
#include <algorithm>
#include <cmath>

#include "rules/source_index.hpp"
#include "system/integers.hpp"

namespace tenter {
namespace {

constexpr int64_t line_chunk = 4096;  // outputs whose positions are exact in doubles (SourceIndex::narrow)

// Whether the indices of outputs [lo, lo + n) are computed in int32 and clamped to the axis.
inline bool narrow(const SourceIndex& p, int64_t lo, int64_t n) { return p.narrow && p.is_inside(lo, lo + n); }

// The floor of a position, clamped to [0, most] or to [least, most].
template <class Real>
inline int32_t cut(Real x, int32_t most) {
  constexpr Real largest = sizeof(Real) == 4 ? Real(0x7fffff80) : Real(0x7fffffff);  // that int32 holds
  x = x < largest ? x : largest;
  x = x > 0 ? x : 0;
  const int32_t i = int32_t(x);
  return i < most ? i : most;
}
template <class Real>
inline int64_t cut(Real position, int64_t least, int64_t most) {
  const double x = std::floor(double(position));
  return x >= double(most) ? most : x <= double(least) ? least : int64_t(x);
}

// Stores the index of output lo + k, less `base`, in index[k]. Returns how many: fewer than n if the indices are
// further apart than int32 holds.
template <class At>
inline int64_t apart(int64_t lo, int64_t n, int32_t* index, int64_t& base, At&& at) {
  base = at(lo);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t more = at(lo + k) - base;
    if (more != int32_t(more)) return k;
    index[k] = int32_t(more);
  }
  return n;
}

template <class Position>
inline int64_t each(const SourceIndex& p, int64_t lo, int64_t n, int32_t* index, int64_t& base, Position&& position) {
  if (!narrow(p, lo, n)) return apart(lo, n, index, base, [&](int64_t o) { return cut(position(o), p.least, p.most); });
  const int32_t first = int32_t(lo), count = int32_t(n), most = int32_t(p.n_in - 1);
  base = 0;
  for (int32_t k = 0; k < count; ++k) index[k] = cut(position(first + k), most);
  return n;
}

// The floor of a quotient of whole numbers below 2^51 by the unit. With 1/2 added, the quotient is further from an
// integer than the roundings of two operations reach, so the floor is exact.
inline int64_t on_line(const SourceIndex& p, int64_t lo, int64_t n, int32_t* index, int64_t& base) {
  const Line& l = p.line;
  if (!narrow(p, lo, n)) {
    Position at = l.at(lo);
    int64_t o = lo;
    return apart(lo, n, index, base, [&](int64_t wanted) {
      for (; o < wanted; ++o) l.advance(at);
      return std::clamp(at.whole, p.least, p.most);
    });
  }
  const double step = double(int64_t(l.step.rest)), over = 1.0 / double(int64_t(l.unit));
  const int32_t whole_step = int32_t(l.step.whole), most = int32_t(p.n_in - 1);
  base = 0;
  for (int64_t done = 0; done < n; done += line_chunk) {
    const Position at = l.at(lo + done);
    const double rest = double(int64_t(at.rest)) + 0.5;
    const int32_t whole = int32_t(at.whole), count = int32_t(std::min(line_chunk, n - done));
    int32_t* const to = index + done;
    for (int32_t k = 0; k < count; ++k) {
      int32_t i = whole + k * whole_step + int32_t((rest + double(k) * step) * over);
      i = i < most ? i : most;
      to[k] = i > 0 ? i : 0;
    }
  }
  return n;
}

inline int64_t summed(const SourceIndex& p, int64_t lo, int64_t n, int32_t* index, int64_t& base) {
  auto piece = std::upper_bound(p.pieces.begin(), p.pieces.end(), lo,
                                [](int64_t o, const SourceIndex::Piece& from) { return o < from.from; }) -
               1;
  if (!narrow(p, lo, n))
    return apart(lo, n, index, base, [&](int64_t o) {
      while (piece + 1 != p.pieces.end() && piece[1].from <= o) ++piece;
      return cut(piece->at + double(o - piece->from) * piece->step, p.least, p.most);
    });
  const int32_t most = int32_t(p.n_in - 1);
  base = 0;
  for (int64_t done = 0; done < n; ++piece) {
    const int64_t end = piece + 1 == p.pieces.end() ? lo + n : std::min(lo + n, piece[1].from);
    const int32_t before = int32_t(lo + done - piece->from), count = int32_t(end - lo - done);
    const double at = piece->at, step = piece->step;
    int32_t* const to = index + done;
    for (int32_t k = 0; k < count; ++k) to[k] = cut(at + double(before + k) * step, most);
    done += count;
  }
  return n;
}

// Stores the source indices of outputs [lo, lo + n), less `base`. Returns how many are stored.
inline int64_t indices_of(const SourceIndex& p, int64_t lo, int64_t n, int32_t* index, int64_t& base) {
  const float first = float(p.first), step = float(p.step);
  const double wide = p.step, offset = p.first;
  auto of = [&](auto&& position) { return each(p, lo, n, index, base, position); };
  switch (p.formula) {
    case Formula::floats: return of([=](auto o) { return (float(o) + first) * step; });
    // Negative centers are clamped after 1/2 is added: the compiler then makes vectors. The sums are the same, as
    // centers above 0 give at least 1/2.
    case Formula::float_centers:
#if defined(__FMA__) || defined(__aarch64__)
      return of([=](auto o) {
        const float above = __builtin_fmaf(float(o) + 0.5f, step, -0.5f) + 0.5f;
        return above > 0.5f ? above : 0.5f;
      });
#else
      return of([=](auto o) {  // a product of two floats is exact in double, so one rounding is left
        const float above = float(double(float(o) + 0.5f) * wide - 0.5) + 0.5f;
        return above > 0.5f ? above : 0.5f;
      });
#endif
    case Formula::doubles: return of([=](auto o) { return float(double(o) * wide); });
    case Formula::double_centers:
      return of([=](auto o) {
        const double center = (double(o) + 0.5) * wide - 0.5;
        const float above = float(center + 0.5);
        return above > 0.5f ? above : 0.5f;
      });
    case Formula::float_quotients: {
      const float n_in = float(p.n_in), n_out = float(p.n_out);
      return of([=](auto o) { return (float(o) + 0.5f) * n_in / n_out; });
    }
    case Formula::offset: return of([=](auto o) { return double(o) * wide + offset; });
    case Formula::centers: return of([=](auto o) { return ((double(o) + 0.5) * wide - 0.5) + 0.5; });
    case Formula::accumulated: return summed(p, lo, n, index, base);
    case Formula::line: return on_line(p, lo, n, index, base);
  }
  return n;
}

}  // namespace
}  // namespace tenter
