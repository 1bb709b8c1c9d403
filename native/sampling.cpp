#include "sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenter {
namespace {

constexpr double nothing = 1e-12;  // sums of weights this small are roundings (tenter.filters.NOTHING)
constexpr int64_t exact_below = int64_t(1) << 53;
constexpr int64_t context_rows = 64;  // looked at together beside a range

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
inline Sampling::Taps Sampling::inside(const Taps& t) const {
  const int64_t lowest = std::clamp<int64_t>(t.lowest, 0, n_in_);
  return {lowest, std::max<int64_t>(0, std::min(t.lowest + t.count, n_in_) - lowest)};
}

// Whether an output lies outside the centers of the pixels at the edges.
bool Sampling::outside(const Position& p) const { return p.whole < 0 || p.whole + (p.rest > 0) > n_in_ - 1; }

void Sampling::cut(const Taps& t, const Position& p, int64_t& start, int64_t& stop) const {
  start = t.lowest, stop = t.lowest + t.count;
  if (edge_ == Edge::beyond) return;
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
    const Taps &front = taps_of[0], &back = taps_of[n - 1];
    const bool within = front.lowest >= 0 && back.lowest + back.count <= n_in_ && edge_ != Edge::extrapolate;
    const int64_t before = rows.offset.back();
    if (within && int64_t(rows.weight.size()) < before + n_taps) rows.weight.resize(size_t(2 * (before + n_taps)));
    double* w = within ? rows.weight.data() + before : weight.data();
    weights_(distance.data(), n_taps, w);
    for (int64_t k = 0; k < n_taps; ++k) w[k] += 0.0;  // no -0.0, which products of zeros with negative factors are
    for (int64_t row = 0; row < n; ++row) {
      const Taps& t = taps_of[row];
      if (normalizes) normalize(w, t.count);
      if (within) rows.start.push_back(t.lowest), rows.offset.push_back(rows.offset.back() + t.count);
      else add_row(t, position[row], w, rows);
      w += t.count;
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
  switch (rule_) {
    case Rule::filtered: filtered(lo, hi, rows); break;
    case Rule::overlapped: overlapped(lo, hi, rows); break;
    case Rule::touched: touched(lo, hi, rows); break;
  }
  rows.weight.resize(size_t(rows.offset.back()));
}

// Row o is cut to begin no later than any row after it, and to end no earlier than any row before it. Of rows outside
// the range only those count that overlap the taps that may be dropped.
void Sampling::make(int64_t lo, int64_t hi, Rows& rows) const {
  untrimmed(lo, hi, rows);
  if (lo == hi) return;
  const size_t n = size_t(hi - lo);
  std::vector<int64_t> first(n), last(n);
  bool some_zero = false;
  auto used = [&](const Rows& r, size_t row, int64_t& begin, int64_t& end) {
    begin = r.stop(int64_t(row)), end = r.start[row];
    if (begin > end && r.weight[size_t(r.offset[row])] != 0 && r.weight[size_t(r.offset[row + 1] - 1)] != 0) {
      std::swap(begin, end);
      return;
    }
    some_zero = some_zero || begin > end;
    const int64_t shift = r.start[row] - r.offset[row];
    for (int64_t k = r.offset[row]; k < r.offset[row + 1]; ++k)
      if (r.weight[size_t(k)] != 0) {
        begin = k + shift;
        break;
      }
    for (int64_t k = r.offset[row + 1]; k > r.offset[row]; --k)
      if (r.weight[size_t(k - 1)] != 0) {
        end = k + shift;
        break;
      }
  };
  for (size_t row = 0; row < n; ++row) used(rows, row, first[row], last[row]);
  if (!some_zero) return;
  Rows beside;
  int64_t begin, end, start, stop, limit = *std::max_element(first.begin(), first.end());
  for (int64_t o = hi; o < n_out_; o += context_rows) {
    bounds(o, start, stop);
    if (start >= limit) break;
    untrimmed(o, std::min(n_out_, o + context_rows), beside);
    for (size_t row = 0; row < beside.start.size(); ++row) {
      used(beside, row, begin, end);
      limit = std::min(limit, begin);
    }
  }
  for (size_t row = n; row-- > 0;) first[row] = limit = std::min(limit, first[row]);
  limit = *std::min_element(last.begin(), last.end());
  for (int64_t o = lo; o > 0; o -= std::min(o, context_rows)) {
    bounds(o - 1, start, stop);
    if (stop <= limit) break;
    untrimmed(o - std::min(o, context_rows), o, beside);
    for (size_t row = 0; row < beside.start.size(); ++row) {
      used(beside, row, begin, end);
      limit = std::max(limit, end);
    }
  }
  int64_t kept = 0;
  for (size_t row = 0; row < n; ++row) {
    limit = std::max(limit, last[row]);
    const int64_t from = std::max(first[row], rows.start[row]);
    const int64_t to = std::min(std::max(limit, first[row]), rows.stop(int64_t(row)));
    const int64_t at = rows.offset[row] + from - rows.start[row];
    // In place: nothing moves to the right.
    std::copy(rows.weight.begin() + at, rows.weight.begin() + at + (to - from), rows.weight.begin() + kept);
    rows.start[row] = from, first[row] = kept;
    kept += to - from;
  }
  std::copy(first.begin(), first.end(), rows.offset.begin());
  rows.offset[n] = kept;
  rows.weight.resize(size_t(kept));
}

void Sampling::bounds(int64_t o, int64_t& start, int64_t& stop) const {
  const Position p = line_.at(o);
  cut(taps(p), rule_ == Rule::overlapped ? centers_.at(o) : p, start, stop);
}

// The first output in [lo, hi] for which `holds`, which does so from some output on.
template <class F>
static int64_t first_where(int64_t lo, int64_t hi, F&& holds) {
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    if (holds(middle)) hi = middle;
    else lo = middle + 1;
  }
  return lo;
}

void Sampling::interior(int64_t& lo, int64_t& hi) const {
  auto lowest = [&](int64_t o) { return taps(line_.at(o)).lowest; };
  auto stop = [&](int64_t o) {
    const Taps t = taps(line_.at(o));
    return t.lowest + t.count;
  };
  auto before = [&](int64_t o) { return edge_ == Edge::extrapolate && centers_.at(o).whole < 0; };
  auto after = [&](int64_t o) { return edge_ == Edge::extrapolate && outside(centers_.at(o)); };
  lo = first_where(0, n_out_, [&](int64_t o) { return lowest(o) >= 0 && !before(o); });
  hi = first_where(lo, n_out_, [&](int64_t o) { return stop(o) > n_in_ || after(o); });
  if (lo == hi || rule_ != Rule::filtered) return;
  // Rows that overlap the first and the last of these decide about their taps too.
  const int64_t begin = stop(lo), end = lowest(hi - 1);
  const int64_t from = first_where(lo, hi, [&](int64_t o) { return lowest(o) >= begin; });
  hi = first_where(lo, hi, [&](int64_t o) { return stop(o) > end; });
  lo = from, hi = std::max(lo, hi);
}

// Inputs [lo, hi) are read by adjacent outputs, as windows do not descend.
void Sampling::make_transposed(int64_t lo, int64_t hi, Rows& rows) const {
  int64_t start, stop;
  const int64_t from = first_where(0, n_out_, [&](int64_t o) { return bounds(o, start, stop), stop > lo; });
  const int64_t to = first_where(from, n_out_, [&](int64_t o) { return bounds(o, start, stop), start >= hi; });
  Rows forward;
  make(from, to, forward);
  rows.start.clear(), rows.offset.assign(1, 0), rows.weight.clear();
  int64_t first = 0, end = 0;  // rows [first, end) of `forward` read input i
  for (int64_t i = lo; i < hi; ++i) {
    while (first < to - from && forward.stop(first) <= i) ++first;
    while (end < to - from && forward.start[size_t(end)] <= i) ++end;
    end = std::max(end, first);
    rows.start.push_back(from + first), rows.offset.push_back(rows.offset.back() + end - first);
    for (int64_t o = first; o < end; ++o)
      rows.weight.push_back(forward.weight[size_t(forward.offset[size_t(o)] + i - forward.start[size_t(o)])]);
  }
}

}  // namespace tenter
