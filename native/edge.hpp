// What stands for pixels past the edges of an axis.
#pragma once
#include <cstdint>

namespace tenter {

// As tenter._rules.edges.NUMBERS. At the last three the axis goes on past its edges.
enum class Edge : int { replicate, constant, renormalize, extrapolate, reflect, symmetric, wrap };
inline bool known_edge(int edge) { return edge >= 0 && edge <= int(Edge::wrap); }
inline bool goes_on(Edge e) { return e >= Edge::reflect; }

// The pixel that stands for a position; at edges where the axis does not go on, its last pixels stand for all after
// them.
int64_t folded(int64_t column, int64_t n_in, Edge edge);

}  // namespace tenter
