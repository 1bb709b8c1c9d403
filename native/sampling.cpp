#include "sampling.hpp"

#include <algorithm>
#include <cmath>

#include "long_rows.hpp"

namespace tenter {
namespace {

constexpr int64_t exact_below = int64_t(1) << 53;
constexpr int64_t most_expected = int64_t(1) << 24;

Position normal(int64_t whole, Wide rest, Wide unit) {
  const Wide floor = rest / unit - (rest % unit < 0 ? 1 : 0);
  return {whole + int64_t(floor), rest - floor * unit};
}

// Half a step before each position, in pixels from the axis's edge: where areas begin and end.
Line edges_of(const Line& l) {
  const Wide odd = l.step.whole & 1;
  const Wide rest = 2 * l.first.rest - l.step.rest + l.unit - odd * l.unit;
  return {normal(l.first.whole - (l.step.whole >> 1), rest, 2 * l.unit), {l.step.whole, 2 * l.step.rest}, 2 * l.unit};
}

void normalize(double* weight, int64_t n) {
  double total = 0;
  for (int64_t k = 0; k < n; ++k) total += weight[k];
  if (std::fabs(total) < nothing) std::fill(weight, weight + n, 0.0);
  else
    for (int64_t k = 0; k < n; ++k) weight[k] /= total;
}

}  // namespace

Sampling::Sampling(int64_t n_in, int64_t n_out, Rule rule, const Line& line, double support, Weights weights,
                   int64_t numerator, int64_t denominator, double stretch, bool normalize, Edge edge)
    : n_in_(n_in),
      n_out_(n_out),
      rule_(rule),
      line_(rule == Rule::overlapped ? edges_of(line) : line),
      centers_(line),
      stretch_(stretch),
      weights_(std::move(weights)),
      numerator_(numerator),
      denominator_(denominator),
      normalize_(normalize),
      edge_(edge) {
  reach_ = support * stretch_;
  slack_ = 1e-9 * (1 + reach_);  // of positions that are roundings
  const double unit = double(line.unit);
  exact_ = numerator_ > 0 && (reach_ + 2) * unit * double(denominator_) < double(exact_below) &&
           unit * double(numerator_) < double(exact_below);
}

int64_t Sampling::period(int64_t most) const {
  Wide a = line_.unit, b = line_.step.rest;
  while (b) std::swap(a %= b, b);
  const Wide outputs = line_.unit / a;
  return outputs <= most ? int64_t(outputs) : 0;
}

int64_t Sampling::taps_each() const {
  if (!n_out_) return 0;
  const Taps t = taps(line_.at(n_out_ / 2));
  return edge_ == Edge::renormalize ? inside(t).count : t.count;
}

Sampling::Taps Sampling::taps(const Position& p) const {
  if (rule_ != Rule::filtered) {
    Position end = p;
    line_.advance(end);
    return {p.whole, std::max<int64_t>(0, end.whole + (end.rest > 0) - p.whole)};
  }
  return taps_around(p.whole, line_.quotient(p.rest));
}

// Of a filter at whole + part pixels. Casts truncate; calls of std::floor would take most of the time.
inline Sampling::Taps Sampling::taps_around(int64_t whole, double part) const {
  const double begin = part - reach_ - slack_, end = part + reach_ + slack_;
  const int64_t first = int64_t(begin), last = int64_t(end);
  const int64_t lowest = whole + first + (begin > double(first)), highest = whole + last - (end < double(last));
  return {lowest, highest + 1 - lowest};
}

// Inputs outside are not read, and may be very many.
Sampling::Taps Sampling::inside(const Taps& t) const {
  const int64_t lowest = std::clamp<int64_t>(t.lowest, 0, n_in_);
  return {lowest, std::max<int64_t>(0, std::min(t.lowest + t.count, n_in_) - lowest)};
}

// Whether an output lies outside the centers of the pixels at the edges.
bool Sampling::outside(const Position& p) const { return p.whole < 0 || p.whole + (p.rest > 0) > n_in_ - 1; }

void Sampling::cut(const Taps& t, const Position& p, int64_t& start, int64_t& stop) const {
  start = t.lowest, stop = t.lowest + t.count;
  if (goes_on(edge_)) return;
  if (edge_ == Edge::extrapolate && outside(p)) {
    start = stop = p.whole < 0 ? 0 : n_in_;
  } else if ((edge_ == Edge::replicate || edge_ == Edge::extrapolate) && n_in_) {
    start = std::clamp<int64_t>(start, 0, n_in_ - 1), stop = std::clamp<int64_t>(stop, 1, n_in_);
  } else {
    start = std::clamp<int64_t>(start, 0, n_in_), stop = std::clamp(stop, start, n_in_);
  }
}

// A row from the weights of all its taps: what lies past the edges is added to the pixels that stand for it, or
// dropped.
inline void Sampling::add_row(const Taps& t, const Position& p, const double* weight, Rows& rows) const {
  int64_t start, stop;
  cut(t, p, start, stop);
  const int64_t at = rows.offset.back(), n = stop - start;
  rows.start.push_back(start), rows.offset.push_back(at + n);
  if (int64_t(rows.weight.size()) < at + n) rows.weight.resize(size_t(2 * (at + n)));
  double* const to = rows.weight.data() + at;
  if (start == t.lowest && n == t.count) {
    std::copy(weight, weight + n, to);
    return;
  }
  std::fill(to, to + n, 0.0);
  if (!n) return;
  const bool drops = edge_ == Edge::constant || edge_ == Edge::renormalize;
  for (int64_t k = 0; k < t.count; ++k) {
    const int64_t column = t.lowest + k;
    if (drops && (column < 0 || column >= n_in_)) continue;
    to[std::clamp<int64_t>(column, 0, n_in_ - 1) - start] += weight[k];
  }
}

// Distances of all taps of a few rows, then their weights together. A distance is exact up to its last division where
// that can be had, as filters have edges, which a rounding must not cross.
void Sampling::filtered(int64_t lo, int64_t hi, Rows& rows) const {
  constexpr int64_t together = 256;
  std::vector<double> distance, weight;
  Taps taps_of[together];
  Position position[together];
  const bool normalizes = normalize_ || edge_ == Edge::renormalize;
  const int64_t unit = exact_ ? int64_t(line_.unit) : 1;
  const double exact_unit = double(unit * numerator_), exact_step = double(unit * denominator_);
  Position p = line_.at(lo);
  for (int64_t from = lo; from < hi; from += together) {
    const int64_t n = std::min(hi - from, together);
    int64_t n_taps = 0;
    for (int64_t row = 0; row < n; ++row, line_.advance(p)) {
      position[row] = p;
      taps_of[row] = taps_around(p.whole, line_.quotient(p.rest));
      if (edge_ == Edge::renormalize) taps_of[row] = inside(taps_of[row]);
      n_taps += taps_of[row].count;
    }
    if (int64_t(distance.size()) < n_taps) distance.resize(size_t(n_taps)), weight.resize(size_t(n_taps));
    double* d = distance.data();
    for (int64_t row = 0; row < n; ++row) {
      const Taps& t = taps_of[row];
      const Position& at = position[row];
      if (exact_) {
        double part = double(((t.lowest - at.whole) * unit - int64_t(at.rest)) * denominator_);
        for (int64_t k = 0; k < t.count; ++k, part += exact_step) *d++ = part;
      } else {
        const double part = line_.quotient(at.rest);
        for (int64_t k = 0; k < t.count; ++k) *d++ = (double(t.lowest - at.whole + k) - part) / stretch_;
      }
    }
    if (exact_)
      for (int64_t k = 0; k < n_taps; ++k) distance[size_t(k)] /= exact_unit;
    double* w = weight.data();
    weights_(distance.data(), n_taps, w);
    for (int64_t k = 0; k < n_taps; ++k) w[k] += 0.0;  // no -0.0, which products of zeros with negative factors are
    if (normalizes) {
      double* of_row = w;
      for (int64_t row = 0; row < n; of_row += taps_of[row++].count) normalize(of_row, taps_of[row].count);
    }
    auto within = [&](const Taps& t) {
      return t.lowest >= 0 && t.lowest + t.count <= n_in_ && edge_ != Edge::extrapolate;
    };
    for (int64_t row = 0; row < n;) {
      if (!within(taps_of[row])) {
        add_row(taps_of[row], position[row], w, rows);
        w += taps_of[row++].count;
        continue;
      }
      const int64_t before = rows.offset.back();
      int64_t after = before;
      for (; row < n && within(taps_of[row]); ++row) {
        after += taps_of[row].count;
        rows.start.push_back(taps_of[row].lowest), rows.offset.push_back(after);
      }
      if (int64_t(rows.weight.size()) < after) rows.weight.resize(size_t(2 * after));
      std::copy_n(w, after - before, rows.weight.data() + before);
      w += after - before;
    }
  }
}

// Line l is that of areas' edges: an area ends where the next begins.
void Sampling::overlapped(int64_t lo, int64_t hi, Rows& rows) const {
  const Line& l = line_;
  const bool narrow = l.unit < Wide(1) << 62;
  const double area = narrow ? double(l.step.whole * l.unit + l.step.rest)
                             : double(l.step.whole) * double(l.unit) + double(l.step.rest);
  std::vector<double> weight;
  Position begin = l.at(lo), center = centers_.at(lo);
  for (int64_t o = lo; o < hi; ++o, centers_.advance(center)) {
    Position end = begin;
    l.advance(end);
    Taps t = taps(begin);
    if (edge_ == Edge::renormalize) t = inside(t);
    weight.resize(size_t(t.count));
    for (int64_t k = 0; k < t.count; ++k) {
      const int64_t column = t.lowest + k;
      const Wide from = column == begin.whole ? begin.rest : 0, to = column == end.whole ? end.rest : l.unit;
      weight[size_t(k)] = (narrow ? double(int64_t(to - from)) : double(to - from)) / area;
    }
    if (edge_ == Edge::renormalize) normalize(weight.data(), t.count);
    add_row(t, center, weight.data(), rows);
    begin = end;
  }
}

void Sampling::touched(int64_t lo, int64_t hi, Rows& rows) const {
  Position p = line_.at(lo);
  for (int64_t o = lo; o < hi; ++o, line_.advance(p)) {
    const Taps t = taps(p);
    const int64_t at = rows.offset.back();
    rows.start.push_back(t.lowest), rows.offset.push_back(at + t.count);
    if (int64_t(rows.weight.size()) < at + t.count) rows.weight.resize(size_t(2 * (at + t.count)));
    std::fill_n(rows.weight.data() + at, t.count, 1.0 / double(t.count));
  }
}

void Sampling::untrimmed(int64_t lo, int64_t hi, Rows& rows) const {
  rows.start.clear(), rows.offset.clear();
  rows.start.reserve(size_t(hi - lo)), rows.offset.reserve(size_t(hi - lo + 1));
  rows.offset.push_back(0);
  const int64_t expected = (hi - lo) * (taps_each() + 1);  // at once, as vectors that grow are copied
  if (expected <= most_expected && int64_t(rows.weight.size()) < expected) rows.weight.resize(size_t(expected));
  if (has_long_rows()) add_long_rows(*this, lo, hi, rows);
  else switch (rule_) {
      case Rule::filtered: filtered(lo, hi, rows); break;
      case Rule::overlapped: overlapped(lo, hi, rows); break;
      case Rule::touched: touched(lo, hi, rows); break;
    }
  rows.weight.resize(size_t(rows.offset.back()));
}

}  // namespace tenter
