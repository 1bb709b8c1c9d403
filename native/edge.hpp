// What stands for pixels past the edges of an axis.
#pragma once
#include <algorithm>
#include <cstdint>

#include "words.hpp"

namespace tenter {

// What stands for pixels past the edges of abcd: aa|abcd|dd, cb|abcd|cb, ba|abcd|dc, cd|abcd|ab, a constant, nothing
// (the other weights make up for it), and a constant for every output that itself lies outside. The flag of a row says
// whether the axis goes on past its edges.
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

constexpr bool goes_on(Edge e) {
  constexpr bool flags[] = {TENTER_EDGES(TENTER_FLAG)};
  return flags[int(e)];
}

// The pixel that stands for a position. At edges where the axis does not go on, the last pixels stand for all after
// them.
inline int64_t folded(int64_t column, int64_t n_in, Edge edge) {
  if (0 <= column && column < n_in) return column;
  auto modulo = [column](int64_t n) { return column % n < 0 ? column % n + n : column % n; };
  if (edge == Edge::wrap) return modulo(n_in);
  if (edge == Edge::symmetric || (edge == Edge::reflect && n_in > 1)) {
    const int64_t turn = edge == Edge::symmetric ? 2 * n_in - 1 : 2 * n_in - 2;  // positions that one pixel stands for
    const int64_t at = modulo(edge == Edge::symmetric ? turn + 1 : turn);
    return at >= n_in ? turn - at : at;
  }
  return std::clamp<int64_t>(column, 0, n_in - 1);
}

}  // namespace tenter
