// Edge modes: how an axis is padded.
#pragma once
#include <algorithm>
#include <cstdint>

#include "system/words.hpp"

namespace tenter {

// The padding of abcd. The flag says whether the edge mode extends the axis periodically (is_periodic).
//   replicate    aa|abcd|dd
//   reflect      cb|abcd|cb
//   symmetric    ba|abcd|dc
//   wrap         cd|abcd|ab
//   constant     a constant fill value
//   renormalize  nothing: the other weights are divided by their sum
//   extrapolate  like replicate, but an output whose position is outside of the axis is the fill value
// clang-format off
#define TENTER_EDGES(row) \
  row(replicate, false) \
  row(reflect, true) \
  row(symmetric, true) \
  row(wrap, true) \
  row(constant, false) \
  row(renormalize, false) \
  row(extrapolate, false)
// clang-format on
TENTER_ENUM(Edge, edge, TENTER_EDGES)

constexpr bool is_periodic(Edge e) {
  constexpr bool flags[] = {TENTER_EDGES(TENTER_FLAG)};
  return flags[int(e)];
}

// The input at a position of the padded axis, which may be outside of [0, n_in). Edge modes that are not periodic
// replicate here.
inline int64_t folded(int64_t column, int64_t n_in, Edge edge) {
  if (0 <= column && column < n_in) return column;
  auto modulo = [column](int64_t n) { return column % n < 0 ? column % n + n : column % n; };
  if (edge == Edge::wrap) return modulo(n_in);
  if (edge == Edge::symmetric || (edge == Edge::reflect && n_in > 1)) {
    const int64_t mirror = edge == Edge::symmetric ? 2 * n_in - 1 : 2 * n_in - 2;  // at and mirror - at are one pixel
    const int64_t at = modulo(edge == Edge::symmetric ? mirror + 1 : mirror);
    return at >= n_in ? mirror - at : at;
  }
  return std::clamp<int64_t>(column, 0, n_in - 1);
}

}  // namespace tenter
