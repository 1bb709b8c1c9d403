// The rows of a resampled axis, computed for any range of outputs: which inputs an output reads, with which weights.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "edge.hpp"
#include "filters.hpp"
#include "line.hpp"

namespace tenter {

// filtered: by a filter; touched: means of the pixels that an output's area touches; overlapped: means by how much of
// each pixel lies there.
enum class Rule : int { filtered, touched, overlapped };

// Rows [lo, lo + start.size()): first input, running number of taps from 0, weights.
struct Rows {
  std::vector<int64_t> start, offset;
  std::vector<double> weight;
  int64_t stop(int64_t row) const { return start[row] + offset[row + 1] - offset[row]; }
};

// Rows [lo, hi) of the transpose, made of the rows from `from` on: all that read one of these inputs. Those are
// adjacent, as windows do not descend. Without weights all are ones.
void transpose(const Rows& forward, int64_t from, int64_t lo, int64_t hi, Rows& rows);

// Where an axis goes on past its edges, rows reach past it; ends.hpp puts them onto it.
class Sampling {
 public:
  // Rows of more taps are long: their weights are made and summed in parts of so many.
  static constexpr int64_t long_row = int64_t(1) << 16;
  typedef std::function<void(const double* distance, int64_t n, double* weight)> Weights;

  // stretch: how many times wider the filter is than it is by itself: numerator / denominator, or 0 / 0 if these need
  // more than 64 bits.
  Sampling(int64_t n_in, int64_t n_out, Rule rule, const Line& line, double support, Weights weights, int64_t numerator,
           int64_t denominator, double stretch, bool normalize, Edge edge);

  std::optional<Filter> filter;  // what the weights are those of, if it is one of the core's; set before the first use

  int64_t n_in() const { return n_in_; }
  int64_t n_out() const { return n_out_; }
  bool steps_by_one() const { return line_.step.whole == 1 && line_.step.rest == 0; }
  Rule rule() const { return rule_; }
  Edge edge() const { return edge_; }
  const Line& line() const { return line_; }
  bool exact() const { return exact_; }  // whether distances of taps are exact up to their last division
  // Whether rows within the axis are a triangle's weights as they are.
  bool is_linear() const {
    return filter && filter->kind == FilterKind::triangle && rule_ == Rule::filtered && numerator_ == 1 &&
           denominator_ == 1 && !normalize_ && edge_ != Edge::renormalize;
  }
  // Whether they may be a signal's by another filter (signals.hpp).
  bool is_filtered_signal() const {
    return filter && rule_ == Rule::filtered && is_vectorized(*filter) && !is_linear();
  }
  double reach() const { return reach_; }  // of a filter, in pixels
  double stretch() const { return stretch_; }
  int64_t numerator() const { return numerator_; }
  int64_t denominator() const { return denominator_; }
  bool normalizes() const { return normalize_ || edge_ == Edge::renormalize; }
  // Outputs after which rows repeat, a whole number of inputs further on; 0 if that takes more than `most`.
  int64_t period(int64_t most) const;
  int64_t shift(int64_t outputs) const { return line_.at(outputs).whole - line_.first.whole; }  // over whole periods
  int64_t taps_each() const;                                                                    // about
  bool has_long_rows() const { return taps_each() > long_row; }
  // Outputs [lo, hi) whose rows, and those that overlap these, reach past no edge.
  void interior(int64_t& lo, int64_t& hi) const;
  // The inputs of a row before any is dropped.
  void bounds(int64_t o, int64_t& start, int64_t& stop) const;

  // Rows [lo, hi) as the rule has them.
  void untrimmed(int64_t lo, int64_t hi, Rows& rows) const;
  // The same without the weights of zero at rows' ends, as far as rows then do not descend: fewer taps to add, and a
  // pixel that counts for nothing cannot spread its inf or NaN.
  void make(int64_t lo, int64_t hi, Rows& rows) const;
  // Rows [lo, hi) of the transpose.
  void make_transposed(int64_t lo, int64_t hi, Rows& rows) const;

  struct Taps {
    int64_t lowest, count;  // before they are cut to the axis
  };

 private:
  friend class LongRow;
  Taps taps(const Position& p) const;
  Taps taps_around(int64_t whole, double part) const;
  Taps inside(const Taps& t) const;
  bool outside(const Position& p) const;
  void cut(const Taps& t, const Position& p, int64_t& start, int64_t& stop) const;
  void filtered(int64_t lo, int64_t hi, Rows& rows) const;
  void overlapped(int64_t lo, int64_t hi, Rows& rows) const;
  void touched(int64_t lo, int64_t hi, Rows& rows) const;
  void add_row(const Taps& t, const Position& p, const double* weight, Rows& rows) const;

  int64_t n_in_, n_out_;
  Rule rule_;
  Line line_;  // of positions, for overlapped of areas' edges
  Line centers_;
  double reach_, slack_, stretch_;
  Weights weights_;
  int64_t numerator_, denominator_;  // of the stretch
  bool exact_, normalize_;
  Edge edge_;
};

}  // namespace tenter
