// Maps along contiguous signals without tables: a few operations on an output's position give its weights, so kernels
// compute them where they use them.
#pragma once
#include "kernels/kernels.hpp"
#include "rules/filters.hpp"

namespace tenter {

struct OwnedMap;

// A line of positions whose rests fit 64 bits. The position of target t among the sources is
//   whole + t * step_whole + (rest + t * step_rest) / unit,   with 0 <= rest, step_rest < unit < 2^62.
struct Positions {
  int64_t whole, rest, step_whole, step_rest, unit;
};

// A task that computes the outputs [lo, hi) of every row of a window task. An output is called a target here, an input
// a source. Target t is at position q + rest / unit. Its candidates are the sources q + first .. q + first + count - 1.
//   triangle             linear interpolation and its transpose: source q + k is at distance |rest - k * unit|, and has
//                        weight if that is less than `pixel`
//   touched              the mean of `count` sources if rest + step_rest > unit, else of count - 1
//   touched_transposed   the first candidate has weight, others as in `triangle`; its weight is as in a target of
//                        `forward`, a mean of forward_count or forward_count - 1 sources
//   filtered             the weight is a filter of the distance, which is divided by `stretched_unit`; weights may be
//                        divided by their sum
//   filtered_transposed  the transpose: each candidate is a target of `forward`, whose sources begin at forward_first
struct SignalTask {
  enum Kind : int { triangle, touched, touched_transposed, filtered, filtered_transposed } kind;
  WindowTask rows;
  int64_t n_in, n_out;  // of each row
  int64_t lo, hi;
  Positions at;
  int64_t pixel, first, count;
  bool exact;       // whether distances are exact before their one division; else rests are divided first
  bool transposed;  // whether a triangle is transposed
  Positions forward;
  int64_t forward_count;
  // For filters. A distance is an integer: a rest, and whole pixels in units of rests, times `denominator`. `reaches`
  // bounds it. left: one byte for every `left_targets` targets; the kernel sets it where a row has weights of zero,
  // which the caller must then compute with tables.
  Filter filter;
  double support;
  int64_t forward_first, denominator, stretched_unit, reaches;
  bool normalizes;
  uint8_t* left;
};
constexpr int64_t left_targets = 64;

// Whether a window task of one axis with this map can be a signal task, and the axis is long enough.
bool signal_axis(const WindowTask& t, const OwnedMap& map);

// Fills in the signal task for a window task of one axis with this map. Returns false if there is none.
bool signal_task(const WindowTask& t, const OwnedMap& map, SignalTask& task);

}  // namespace tenter
