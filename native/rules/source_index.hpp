// Source indices: which input each output of a nearest kind copies, computed for any range of outputs.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "rules/edge.hpp"
#include "rules/line.hpp"

namespace tenter {

// How positions are computed. The source index is the floor of the position of output o, so rounding decides where a
// position is at the edge of a pixel. Each formula rounds like one of the libraries.
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

constexpr int narrow_unit_bits = 36;  // of a line's unit: products with the outputs of a chunk stay exact in doubles

// The source indices of one axis.
struct SourceIndex {
  int64_t n_in, n_out;
  Formula formula;
  double first, step;  // the numbers of the formula; of `line`, see below
  Line line;
  int64_t least, most;  // indices are clamped to these
  int64_t begin, end;   // the outputs that read an input
  // With a periodic edge mode: the outputs whose index is inside of the axis.
  int64_t inside_begin, inside_end;
  Edge edge;
  bool narrow;  // whether lengths and indices are so small that kernels can use 32 bits
  // For `accumulated`: outputs whose positions rise by a constant, as they do between two powers of two. The position
  // of output o is exactly at + (o - from) * step.
  struct Piece {
    int64_t from;
    double at, step;
  };
  std::vector<Piece> pieces;

  // What a SourceIndex is made from.
  struct Setup {
    int64_t n_in, n_out;
    Formula formula;
    double first = 0, step = 0;
    Line line{{0, 0}, {0, 0}, 1};  // for Formula::line
    // constant: outputs whose index is outside of the axis read nothing. Periodic modes: indices may be in the padding.
    Edge edge = Edge::replicate;
    int64_t begin = 0, end = n_out;  // outputs outside of these read nothing
  };
  explicit SourceIndex(const Setup& setup);

  bool is_periodic() const { return tenter::is_periodic(edge); }
  bool reads_padding() const { return is_periodic() && (inside_begin > 0 || inside_end < n_out); }
  bool is_inside(int64_t lo, int64_t hi) const { return !is_periodic() || (inside_begin <= lo && hi <= inside_end); }
  bool reads_all() const { return begin == 0 && end == n_out; }
  int64_t at(int64_t o) const;  // the source index of output o, which may be in the padding
  // The source indices of outputs [lo, hi), with padding mapped back to inputs.
  void index(int64_t lo, int64_t hi, int64_t* to) const;
  // The first output in [begin, end) that reads input i or a later one.
  int64_t first_of(int64_t i) const;
  // first_of(i) for each i in [lo, hi], without a search for each.
  void offsets(int64_t lo, int64_t hi, int64_t* to) const;
  // At most so many outputs read one input.
  int64_t longest_run() const;
  // k if output o reads input o / k for all o; else -1. On a long axis it may be -1 although there is such a k.
  int64_t repeat() const;

 private:
  void accumulate();
  double origin, slope;  // positions are about origin + o * slope
};

// Whether a kernel can compute the transpose of these source indices: sums along the fastest axis only, which must be
// contiguous, of runs so short that a chunk of inputs has few outputs.
inline bool can_sum_indexed(const WindowTask& t, const SourceIndex& p) {
  constexpr int64_t longest = 64;
  const bool floats = t.acc == Accumulate::f32 && (t.in == Dtype::f32 || t.in == Dtype::f16 || t.in == Dtype::bf16);
  const bool doubles = t.acc == Accumulate::f64 && t.in == Dtype::f64;
  const int64_t size = t.in == Dtype::f64 ? 8 : t.in == Dtype::f32 ? 4 : 2;
  return (floats || doubles) && t.in == t.out && !t.plane && !t.row && t.column && t.inner == 1 &&
         t.column_stride == size && p.n_out / longest <= p.n_in;
}

// How many outputs read each input, if these are the source indices of an ordinary repeat; else 0.
inline int64_t equal_runs(const SourceIndex& p) {
  const Line& l = p.line;
  const bool from_begin = l.first.whole == 0 && l.first.rest == 0 && l.step.whole == 0 && l.step.rest == 1;
  return p.formula == Formula::line && from_begin && p.n_out == p.n_in * int64_t(l.unit) ? int64_t(l.unit) : 0;
}

}  // namespace tenter
