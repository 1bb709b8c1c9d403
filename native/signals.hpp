// Contiguous signals: rows of weights that follow from an output's position in a few operations, computed where they
// are used, so that there are no tables of an axis.
#pragma once
#include "filters.hpp"
#include "kernels.hpp"

namespace tenter {

struct OwnedMap;

// A line of positions whose rests fit 64 bits: target t lies at source whole + t * step_whole + (rest + t * step_rest)
// / unit, with 0 <= rest, step_rest < unit < 2^62.
struct Positions {
  int64_t whole, rest, step_whole, step_rest, unit;
};

// Targets [lo, hi) of every row of a window task: outputs of a map. Target t, at source q + rest / unit, adds those of
// its candidates that count, sources q + first .. q + first + count - 1:
//   triangle: source q + k lies |rest - k * unit| from it, and counts if that is less than `pixel`. These are linear
//             interpolation and its transpose.
//   touched:  the mean of count - 1 sources, or of `count`, if rest + step_rest > unit.
//   touched_transposed: the first counts, and others as in `triangle`; each is weighed as one of `forward`'s targets,
//             which are means of forward_count - 1 sources, or of forward_count.
//   filtered: each counts by a filter of its distance, in pixels or, where the axis shrinks, in `stretched_unit` parts
//   of
//             them; weights may be divided by their sum.
//   filtered_transposed: as each counts for one of `forward`'s targets, of sources from forward_first on.
//   stretched: as in `filtered`, for all targets of few sources, which lie so close together that many of them have the
//             same candidates. A source at an edge stands for those past it, unless these are dropped.
struct SignalTask {
  enum Kind : int { triangle, touched, touched_transposed, filtered, filtered_transposed, stretched } kind;
  WindowTask rows;
  int64_t n_in, n_out;  // of each row
  int64_t lo, hi;
  Positions at;
  int64_t pixel, first, count;
  bool exact;       // distances of a triangle are exact up to one division; else a rest is divided first
  bool transposed;  // of a triangle
  Positions forward;
  int64_t forward_count;
  // Of filters. denominator: parts of a distance for one of a rest; reaches: the most parts. left: a byte for every
  // `left_targets` of them, set where rows hold weights of zero, which another kernel must make.
  Filter filter;
  double support;
  int64_t forward_first, denominator, stretched_unit, reaches;
  bool normalizes, drops;
  uint8_t* left;
};
constexpr int64_t left_targets = 64;

// Whether what `map` makes of t's rows may be a signal's task, and its axis is long enough to be one.
bool signal_axis(const WindowTask& t, const OwnedMap& map);

// The task for what `map` makes of t's rows; false if there is none. t: of one axis.
bool signal_task(const WindowTask& t, const OwnedMap& map, SignalTask& task);

}  // namespace tenter
