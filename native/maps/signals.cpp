#include "maps/signals.hpp"

#include <cmath>
#include <numeric>

#include "kernels/long_sums.hpp"
#include "maps/owned_map.hpp"

namespace tenter {
namespace {

constexpr Wide most_rest = Wide(1) << 61;
constexpr int64_t exact_distances = int64_t(1) << 53;
constexpr int64_t most_step = int64_t(1) << 20, most_candidates = 256, most_touched = int64_t(1) << 40;

// Computes the positions of outputs among inputs (forward) and of inputs among outputs (backward). Returns false if
// rests need more than 64 bits. transposed: whether `backward` is wanted.
bool lines(const Line& l, bool transposed, Positions& forward, Positions& backward) {
  if (l.unit >= most_rest || l.step.whole < 0 || l.step.whole >= most_step) return false;
  const Wide step = l.step.whole * l.unit + l.step.rest;  // both are in 1 / unit pixels
  const Wide first = l.first.whole * l.unit + l.first.rest;
  if (step <= 0 || step >= most_rest || (transposed && l.unit / step >= most_step)) return false;
  const Wide rest = -first % step;
  forward = {l.first.whole, int64_t(l.first.rest), l.step.whole, int64_t(l.step.rest), int64_t(l.unit)};
  backward = {int64_t(-first / step) - (rest < 0), int64_t(rest < 0 ? rest + step : rest), int64_t(l.unit / step),
              int64_t(l.unit % step), int64_t(step)};
  return true;
}

// Fills in the task of a filter other than linear interpolation, whose outputs reach less than `reach` pixels to either
// side. Returns false if no kernel can do it.
bool filter_fits(const OwnedMap& map, const Positions& backward, SignalTask& task) {
  const Sampling& rule = *map.sampling;
  const Positions& p = task.forward;
  const double reach = rule.reach(), step = double(p.step_whole) + double(p.step_rest) / double(p.unit);
  const bool many = map.transposed && 2 * reach / step > double(most_candidates - 2);
  if (!rule.exact() || reach > double(most_candidates) || many) return false;
  task.denominator = rule.denominator(), task.stretched_unit = p.unit * rule.numerator();
  task.support = std::round(reach / rule.stretch());  // a whole number for all filters that have a kernel
  const int64_t parts = int64_t(task.support) * rule.numerator(), whole = parts / task.denominator;
  const bool even = parts % task.denominator == 0;
  task.forward_first = even ? 1 - whole : -whole, task.forward_count = 2 * whole + 2 * !even;
  task.filter = *rule.filter, task.normalizes = rule.normalizes();
  task.reaches = int64_t(reach + 3) * p.unit * task.denominator;
  task.kind = map.transposed ? SignalTask::filtered_transposed : SignalTask::filtered;
  task.at = map.transposed ? backward : p;
  task.first = task.forward_first, task.count = task.forward_count;
  if (map.transposed) {  // candidates are nearer than so many steps
    const Wide steps =
        (Wide(parts) * p.unit + Wide(backward.unit) * task.denominator - 1) / (Wide(backward.unit) * task.denominator);
    task.first = 1 - int64_t(steps), task.count = 2 * int64_t(steps);
    const double farthest = double(task.count + 1) * double(backward.unit) * double(task.denominator);
    if (farthest >= double(exact_distances)) return false;
  }
  task.exact = true, task.pixel = 1;
  return true;
}

// Fills in all of a task that follows from the rule. Returns false if no kernel can do it.
bool rule_fits(const OwnedMap& map, SignalTask& task) {
  const Sampling& rule = *map.sampling;
  const bool touched = rule.weighting() == Weighting::touched;
  Positions backward;
  if (!lines(rule.line(), map.transposed, task.forward, backward)) return false;
  if (rule.is_filtered_signal()) {
    task.transposed = map.transposed;
    return filter_fits(map, backward, task);
  }
  task.exact = touched || rule.exact(), task.transposed = map.transposed;
  task.at = map.transposed ? backward : task.forward;
  task.pixel = task.forward.unit, task.forward_count = task.forward.step_whole + 2;
  const int64_t step = task.at.unit, last = task.pixel > 1 ? 1 + (task.pixel - 2) / step : 0;
  if (touched && (task.forward.step_rest == 0 || std::max(task.pixel, step) >= most_touched)) return false;
  if (touched && !map.transposed) {
    task.kind = SignalTask::touched, task.first = 0, task.count = task.forward_count;
    return true;
  }
  task.kind = touched ? SignalTask::touched_transposed : SignalTask::triangle;
  task.first = touched ? 0 : -((task.pixel - 1) / step);
  task.count = last - task.first + 1;
  return task.count <= most_candidates && step < int64_t(most_rest) / (task.count + 1);
}

bool axis_fits(const WindowTask& t, const OwnedMap& map, SignalTask& task) {
  const bool contiguous = t.column && t.inner == 1 && (t.column_stride == size_of(t.in) || t.n_column == 1);
  return contiguous && !t.clamps && t.acc != Accumulate::i64 && map.map.n_in + map.map.n_out > tuning.signal_axis &&
         map.may_be_signal() && rule_fits(map, task) && task.count <= sum_part;
}

}  // namespace

bool signal_axis(const WindowTask& t, const OwnedMap& map) {
  SignalTask task;
  return axis_fits(t, map, task);
}

bool signal_task(const WindowTask& t, const OwnedMap& map, SignalTask& task) {
  if (!axis_fits(t, map, task)) return false;
  task.rows = t, task.n_in = map.map.n_in, task.n_out = map.map.n_out;
  map.interior(task.lo, task.hi);
  return task.lo < task.hi;
}

}  // namespace tenter
