// Rows of very many taps, whose weights are made a part at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "sampling.hpp"

namespace tenter {

// One row. Its weights are divided by their sum, and those past an edge are added to the pixel there. Both sums are
// those of parts, so that parts can be made in any order.
class LongRow {
 public:
  LongRow(const Sampling& rule, int64_t o);
  int64_t start() const { return start_; }  // inputs that it reads
  int64_t stop() const { return stop_; }
  int64_t n_parts() const { return int64_t(sums_.size()); }
  void sum_part(int64_t part);  // each once, before there are weights; threads may share them out
  void finish();
  // Of inputs [from, from + n) that it reads.
  void weights(int64_t from, int64_t n, double* to) const;

 private:
  struct Sums {
    double before = 0, all = 0, after = 0;  // past the edges, and of all taps
  };
  void weigh(int64_t lowest, int64_t n, double* to) const;

  const Sampling* rule_;
  Position at_, end_;
  Sampling::Taps taps_;
  int64_t start_, stop_;
  std::vector<Sums> sums_;  // by parts
  Sums total_;
};

// Rows [lo, hi) of such a rule, as tables.
void add_long_rows(const Sampling& rule, int64_t lo, int64_t hi, Rows& rows);

}  // namespace tenter
