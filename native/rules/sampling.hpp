// The rows of a resampled axis, computed for any range of outputs: which inputs an output reads, and with which
// weights.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "rules/axis_part.hpp"
#include "rules/edge.hpp"
#include "rules/filters.hpp"
#include "rules/line.hpp"
#include "rules/byte_taps.hpp"

namespace tenter {

//   filtered    weights by a filter
//   touched     means of the pixels that an output's area touches
//   overlapped  means weighted by how much of each pixel is inside of the output's area
enum class Weighting : int { filtered, touched, overlapped };

// A range of rows. Row r reads the inputs from start[r] on, with weights [offset[r], offset[r + 1]).
struct Rows {
  std::vector<int64_t> start, offset;
  std::vector<double> weight;
  int64_t stop(int64_t row) const { return start[row] + offset[row + 1] - offset[row]; }
};

// Rows [lo, hi) of the transpose.
//   forward  rows `from`, `from` + 1, ... of the map: at least all that read an input in [lo, hi). They are adjacent,
//   as
//            windows do not descend. Without weights, all weights are 1
void transpose(const Rows& forward, int64_t from, int64_t lo, int64_t hi, Rows& rows);

// A rule for the rows of one axis. With a periodic edge mode, rows reach into the padding; ends.hpp maps them back.
class Sampling {
 public:
  // A row with more taps is long: its weights are computed and summed in chunks of so many.
  static constexpr int64_t long_row = int64_t(1) << 16;
  typedef std::function<void(const double* distance, int64_t n, double* weight)> Weights;

  // What a Sampling is made from. All but the first five are for filters only.
  struct Setup {
    int64_t n_in, n_out;
    Weighting weighting;
    Line line;  // positions of outputs
    Edge edge;
    double support = 0;          // of the filter before it is stretched, in pixels
    Weights weights = nullptr;   // the filter's function
    Stretch stretch{1, 1, 1.0};  // how many times wider the filter is than by itself
    bool normalize = false;      // whether the weights of a row are divided by their sum
    std::optional<Filter> filter =
        std::nullopt;  // the core's filter with these weights; nullopt if Python computes them
  };
  explicit Sampling(Setup&& setup);

  std::optional<Filter> filter;

  // These two are set before the first use (AxisRule::mark).
  // linear_steps: the positions of 8-bit values that are interpolated as in OpenCV; rows are then made from these, not
  // from the line. fixed_taps: whether 8-bit values can be summed in fixed point, if the other axis allows it too
  // (byte_taps.hpp).
  std::optional<LinearSteps> linear_steps;
  bool fixed_taps = false;
  // A rule with linear_steps for outputs [lo, hi), which reads inputs from first_input on.
  Sampling part(int64_t lo, int64_t hi, int64_t first_input, int64_t n_in) const;

  int64_t n_in() const { return n_in_; }
  int64_t n_out() const { return n_out_; }
  bool steps_by_one() const { return line_.step.whole == 1 && line_.step.rest == 0; }
  Weighting weighting() const { return weighting_; }
  Edge edge() const { return edge_; }
  const Line& line() const { return line_; }
  bool exact() const { return exact_; }  // whether distances of taps are exact before their last division
  // Whether rows inside of the axis have exactly the weights of a triangle filter.
  bool is_linear() const {
    return filter && filter->kind == FilterKind::triangle && weighting_ == Weighting::filtered && numerator_ == 1 &&
           denominator_ == 1 && !normalize_ && edge_ != Edge::renormalize && !linear_steps;
  }
  // Whether the rows may be those of a signal task with another filter (signals.hpp).
  bool is_filtered_signal() const {
    return filter && weighting_ == Weighting::filtered && is_vectorized(*filter) && !is_linear() && !linear_steps;
  }
  double reach() const { return reach_; }  // how far a filter reaches to either side, in pixels
  double stretch() const { return stretch_; }
  int64_t numerator() const { return numerator_; }
  int64_t denominator() const { return denominator_; }
  bool normalizes() const { return normalize_ || edge_ == Edge::renormalize; }
  // After how many outputs the rows repeat, shifted by a whole number of inputs; 0 if that takes more than `most`.
  int64_t period(int64_t most) const;
  // By how many inputs rows are shifted after so many outputs, a multiple of the period.
  int64_t shift(int64_t outputs) const { return line_.at(outputs).whole - line_.first.whole; }
  int64_t taps_each() const;  // about how many taps a row has
  bool has_long_rows() const { return taps_each() > long_row; }
  // Whether the weights of an input in the outputs that read it follow from their distances alone.
  bool has_lines() const {
    const bool stays = edge_ == Edge::replicate || edge_ == Edge::constant;
    if (!filter || weighting_ != Weighting::filtered || !exact_ || !stays || normalizes() || linear_steps) return false;
    return (Wide(line_.step.whole) + 1) * line_.unit * denominator_ < Wide(1) << 53;  // multiples of the step are exact
  }
  // The outputs [lo, hi) whose rows, and all rows that overlap these, do not reach into the padding.
  void interior(int64_t& lo, int64_t& hi) const;
  // The inputs [start, stop) of a row before zero weights are left out.
  void bounds(int64_t o, int64_t& start, int64_t& stop) const;

  // Rows [lo, hi) with all taps of the rule.
  void untrimmed(int64_t lo, int64_t hi, Rows& rows) const;
  // Rows [lo, hi) without zero weights at their ends, as long as rows then do not descend. This leaves fewer taps to
  // add, and a pixel without weight cannot turn a result into NaN.
  void make(int64_t lo, int64_t hi, Rows& rows) const;
  // Rows [lo, hi) of the transpose.
  void make_transposed(int64_t lo, int64_t hi, Rows& rows) const;

  // The taps of a row, which may reach into the padding.
  struct Taps {
    int64_t lowest, count;
  };

 private:
  friend class LongRow;
  Taps taps(const Position& p) const;
  Taps taps_around(int64_t whole, double part) const;
  Taps inside(const Taps& t) const;
  bool outside(const Position& p) const;
  void cut(const Taps& t, const Position& p, int64_t& start, int64_t& stop) const;
  void filtered(int64_t lo, int64_t hi, Rows& rows) const;
  void computed(int64_t lo, int64_t hi, Rows& rows) const;
  void overlapped(int64_t lo, int64_t hi, Rows& rows) const;
  void touched(int64_t lo, int64_t hi, Rows& rows) const;
  void stepped(int64_t lo, int64_t hi, Rows& rows) const;
  void add_row(const Taps& t, const Position& p, const double* weight, Rows& rows) const;
  void distances(const Taps* taps_of, const Position* position, int64_t n, double* distance) const;
  void add_rows(const Taps* taps_of, const Position* position, int64_t n, const double* weight, Rows& rows) const;
  int64_t lowest_used(int64_t o, int64_t limit) const;
  int64_t highest_used(int64_t o, int64_t limit) const;

  int64_t n_in_, n_out_;
  Weighting weighting_;
  Line line_;     // positions of outputs; of `overlapped`, where areas begin
  Line centers_;  // positions of outputs
  double reach_, slack_, stretch_;
  Weights weights_;
  int64_t numerator_, denominator_;  // the stretch as a fraction
  bool exact_, normalize_;
  Edge edge_;
};

}  // namespace tenter
