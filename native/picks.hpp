// Which input each output of a nearest kind takes, computed for any range of outputs.
#pragma once
#include <cstdint>
#include <vector>

#include "edge.hpp"
#include "kernels.hpp"
#include "line.hpp"

namespace tenter {

// Positions by the arithmetic of a library, whose roundings decide where a position falls on a pixel's edge; an output
// takes the input at its position's floor. `first` and `step` are the formula's numbers.
//   floats           (o + first) * step in float32
//   float_centers    (o + 1/2) * step - 1/2 in one rounding to float32, at least 0; then + 1/2
//   doubles          o * step in float64, rounded to float32
//   double_centers   (o + 1/2) * step - 1/2 in float64, at least 0; then + 1/2, rounded to float32
//   float_quotients  (o + 1/2) * n_in / n_out in float32
//   offset           o * step + first in float64
//   centers          ((o + 1/2) * step - 1/2) + 1/2 in float64
//   accumulated      first + step + step + ... in float64
//   line             exact
#define TENTER_FORMULAS(row)                                                                                    \
  row(floats) row(float_centers) row(doubles) row(double_centers) row(float_quotients) row(offset) row(centers) \
      row(accumulated) row(line)
TENTER_ENUM(Formula, formula, TENTER_FORMULAS)

constexpr int narrow_unit_bits = 36;  // of a line's unit: with a band's outputs, products stay exact in doubles

struct Picking {
  int64_t n_in, n_out;
  Formula formula;
  double first, step;
  Line line;
  int64_t least, most;  // indices are cut to these
  int64_t begin, end;   // outputs that read an input
  // Of an axis that goes on past its edges: outputs whose index is on the axis.
  int64_t inside_begin, inside_end;
  Edge edge;
  bool narrow;  // lengths and indices on the axis are below 2^31
  // Sums that rise by the same from output to output, as they do between two powers of two: output o is at
  // `at + (o - from) * step`, exactly.
  struct Piece {
    int64_t from;
    double at, step;
  };
  std::vector<Piece> pieces;

  // begin, end: where outputs that lie outside read nothing. edge: `constant` where outputs read nothing either whose
  // index lies outside. Where the axis goes on past its edges, indices do.
  Picking(int64_t n_in, int64_t n_out, Formula formula, double first, double step, const Line& line, int64_t begin,
          int64_t end, Edge edge);

  bool goes_on() const { return tenter::goes_on(edge); }
  bool goes_past() const { return goes_on() && (inside_begin > 0 || inside_end < n_out); }
  bool is_inside(int64_t lo, int64_t hi) const { return !goes_on() || (inside_begin <= lo && hi <= inside_end); }
  bool reads_all() const { return begin == 0 && end == n_out; }
  int64_t at(int64_t o) const;  // past the axis too
  // The inputs, on the axis.
  void index(int64_t lo, int64_t hi, int64_t* to) const;
  // The first output in [begin, end) that takes input i or one after it.
  int64_t first_of(int64_t i) const;
  // first_of each input in [lo, hi], without a search for each.
  void offsets(int64_t lo, int64_t hi, int64_t* to) const;
  // k where output o takes input o / k; -1 elsewhere, and perhaps where an axis is long.
  int64_t repeat() const;

 private:
  void accumulate();
  double origin, slope;  // about: of positions along the axis
};

// Whether there is a kernel for the sums that the transpose of a rule takes: of the fastest axis alone, which lies
// together, and of runs short enough that a band of inputs has few outputs.
inline bool can_sum_picked(const WindowTask& t, const Picking& p) {
  constexpr int64_t longest = 64;
  const bool floats = t.acc == Accumulate::f32 && (t.in == Dtype::f32 || t.in == Dtype::f16 || t.in == Dtype::bf16);
  const bool doubles = t.acc == Accumulate::f64 && t.in == Dtype::f64;
  const int64_t size = t.in == Dtype::f64 ? 8 : t.in == Dtype::f32 ? 4 : 2;
  return (floats || doubles) && t.in == t.out && !t.plane && !t.row && t.column && t.inner == 1 &&
         t.column_stride == size && p.n_out / longest <= p.n_in;
}

}  // namespace tenter
