// Rows of very many taps, whose weights are computed one chunk at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "rules/sampling.hpp"

namespace tenter {

// One row. Its weights are divided by their sum, and weights of the padding are added to the pixel at the edge. Both
// sums are added up from the sums of chunks ("parts"), so threads can compute these in any order.
class LongRow {
 public:
  LongRow(const Sampling& rule, int64_t o);
  // Row i of the transpose, if Sampling::has_lines says so.
  static LongRow transposed(const Sampling& rule, int64_t i);
  int64_t start() const { return start_; }  // the row reads inputs [start, stop)
  int64_t stop() const { return stop_; }
  int64_t n_parts() const { return int64_t(sums_.size()); }
  void sum_part(int64_t part);  // to be called once for each part, on any thread
  void finish();                // to be called after that, before `weights`
  // The weights of the inputs [from, from + n), which the row must read.
  void weights(int64_t from, int64_t n, double* to) const;
  // Leaves out zero weights at the ends of the rows of a whole axis, as Sampling::make does: long sums are made in
  // parts, which begin with the first tap.
  static void trim(std::vector<LongRow>& rows);

 private:
  struct Sums {
    double before = 0, all = 0, after = 0;  // of taps before the axis, of all taps, and of taps after the axis
  };
  void make_weights(int64_t lowest, int64_t n, double* to) const;
  LongRow(const Sampling& rule, int64_t start, int64_t stop) : rule_(&rule), start_(start), stop_(stop) {}
  void weights_of_lines(int64_t from, int64_t n, double* to) const;
  // The inputs [begin, end) without zero weights at the ends; [stop, start) if all are zero.
  void used(int64_t& begin, int64_t& end) const;

  // The outputs [begin, end) that have a pixel among their taps. Those of the transpose are the inputs of a row.
  struct PixelTaps {
    int64_t pixel, begin, end;
  };

  const Sampling* rule_;
  Position at_{}, end_{};
  Sampling::Taps taps_{};
  int64_t start_, stop_;
  std::vector<Sums> sums_;  // by parts
  Sums total_;
  std::vector<PixelTaps> pixels_;  // of the transpose: the row's own pixel, and those of the padding that it stands for
};

// Appends rows [lo, hi) of a rule with long rows to `rows`.
void add_long_rows(const Sampling& rule, int64_t lo, int64_t hi, Rows& rows);

}  // namespace tenter
