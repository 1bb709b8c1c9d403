#include "rules/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "rules/long_rows.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

constexpr int64_t exact_below = int64_t(1) << 53;
constexpr int64_t most_expected = int64_t(1) << 24;

Position normal(int64_t whole, Wide rest, Wide unit) {
  const Wide floor = rest / unit - (rest % unit < 0 ? 1 : 0);
  return {whole + int64_t(floor), rest - floor * unit};
}

// The line of positions half a step before those of l, measured from the edge of the axis: where areas begin and end.
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

Sampling::Sampling(Setup&& setup)
    : filter(setup.filter),
      n_in_(setup.n_in),
      n_out_(setup.n_out),
      weighting_(setup.weighting),
      line_(setup.weighting == Weighting::overlapped ? edges_of(setup.line) : setup.line),
      centers_(setup.line),
      stretch_(setup.stretch.ratio),
      weights_(std::move(setup.weights)),
      numerator_(setup.stretch.numerator),
      denominator_(setup.stretch.denominator),
      normalize_(setup.normalize),
      edge_(setup.edge) {
  reach_ = setup.support * stretch_;
  slack_ = 1e-9 * (1 + reach_);  // more than the rounding errors of positions
  const double unit = double(setup.line.unit);
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
  if (weighting_ != Weighting::filtered) {
    Position end = p;
    line_.advance(end);
    return {p.whole, std::max<int64_t>(0, end.whole + (end.rest > 0) - p.whole)};
  }
  return taps_around(p.whole, line_.quotient(p.rest));
}

// The taps of a filter at whole + part pixels. Casts truncate; calls of std::floor would take most of the time.
inline Sampling::Taps Sampling::taps_around(int64_t whole, double part) const {
  const double begin = part - reach_ - slack_, end = part + reach_ + slack_;
  const int64_t first = int64_t(begin), last = int64_t(end);
  const int64_t lowest = whole + first + (begin > double(first)), highest = whole + last - (end < double(last));
  return {lowest, highest + 1 - lowest};
}

// Leaves out taps outside the axis; there may be very many.
Sampling::Taps Sampling::inside(const Taps& t) const {
  const int64_t lowest = std::clamp<int64_t>(t.lowest, 0, n_in_);
  return {lowest, std::max<int64_t>(0, std::min(t.lowest + t.count, n_in_) - lowest)};
}

// Whether a position is outside of the centers of the first and the last pixel.
bool Sampling::outside(const Position& p) const { return p.whole < 0 || p.whole + (p.rest > 0) > n_in_ - 1; }

void Sampling::cut(const Taps& t, const Position& p, int64_t& start, int64_t& stop) const {
  start = t.lowest, stop = t.lowest + t.count;
  if (is_periodic(edge_)) return;
  if (edge_ == Edge::extrapolate && outside(p)) {
    start = stop = p.whole < 0 ? 0 : n_in_;
  } else if ((edge_ == Edge::replicate || edge_ == Edge::extrapolate) && n_in_) {
    start = std::clamp<int64_t>(start, 0, n_in_ - 1), stop = std::clamp<int64_t>(stop, 1, n_in_);
  } else {
    start = std::clamp<int64_t>(start, 0, n_in_), stop = std::clamp(stop, start, n_in_);
  }
}

// Appends a row from the weights of all its taps. Weights of the padding are added to the pixels at the edges, or
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

// Computes the distances of the taps of n rows. Distances are exact before their one division, if they fit: a filter
// can jump at its edge, and a rounding error must not decide on which side a tap is.
void Sampling::distances(const Taps* taps_of, const Position* position, int64_t n, double* distance) const {
  const int64_t unit = exact_ ? int64_t(line_.unit) : 1;
  const double exact_unit = double(unit * numerator_), exact_step = double(unit * denominator_);
  double* d = distance;
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
    for (double* k = distance; k < d; ++k) *k /= exact_unit;
}

// Appends n rows from the weights of all their taps. Rows that do not reach into the padding are copied together.
void Sampling::add_rows(const Taps* taps_of, const Position* position, int64_t n, const double* weight,
                        Rows& rows) const {
  auto within = [&](const Taps& t) {
    return t.lowest >= 0 && t.lowest + t.count <= n_in_ && edge_ != Edge::extrapolate;
  };
  for (int64_t row = 0; row < n;) {
    if (!within(taps_of[row])) {
      add_row(taps_of[row], position[row], weight, rows);
      weight += taps_of[row++].count;
      continue;
    }
    const int64_t before = rows.offset.back();
    int64_t after = before;
    for (; row < n && within(taps_of[row]); ++row) {
      after += taps_of[row].count;
      rows.start.push_back(taps_of[row].lowest), rows.offset.push_back(after);
    }
    if (int64_t(rows.weight.size()) < after) rows.weight.resize(size_t(2 * after));
    std::copy_n(weight, after - before, rows.weight.data() + before);
    weight += after - before;
  }
}

// Rows are computed in chunks, so that the filter's function gets many distances at once.
void Sampling::computed(int64_t lo, int64_t hi, Rows& rows) const {
  constexpr int64_t together = 256;
  std::vector<double> distance, weight;
  Taps taps_of[together];
  Position position[together];
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
    distances(taps_of, position, n, distance.data());
    double* const w = weight.data();
    weights_(distance.data(), n_taps, w);
    for (int64_t k = 0; k < n_taps; ++k) w[k] += 0.0;  // turns -0.0, a product of zero and a negative factor, into 0.0
    if (normalizes()) {
      double* of_row = w;
      for (int64_t row = 0; row < n; of_row += taps_of[row++].count) normalize(of_row, taps_of[row].count);
    }
    add_rows(taps_of, position, n, w, rows);
  }
}

// Rows that do not reach into the padding repeat after a period: one period is computed, the others are copies of it.
void Sampling::filtered(int64_t lo, int64_t hi, Rows& rows) const {
  const int64_t n = hi - lo >= least_repeated && edge_ != Edge::extrapolate ? period((hi - lo) / 2) : 0;
  if (!n) return computed(lo, hi, rows);
  const int64_t from = first_where(lo, hi, lo, [&](int64_t o) { return taps(line_.at(o)).lowest >= 0; });
  const int64_t to = first_where(from, hi, hi, [&](int64_t o) {
    const Taps t = taps(line_.at(o));
    return t.lowest + t.count > n_in_;
  });
  const int64_t end = std::min(from + n, to), inputs = shift(n);
  computed(lo, end, rows);
  const int64_t begin = rows.offset[size_t(from - lo)], stop = rows.offset.back(), taps = stop - begin;
  for (int64_t o = end; o < to; ++o) {
    rows.start.push_back(rows.start[size_t(o - n - lo)] + inputs);
    rows.offset.push_back(rows.offset[size_t(o - n - lo) + 1] + taps);
  }
  const int64_t all = rows.offset.back();
  if (int64_t(rows.weight.size()) < all) rows.weight.resize(size_t(2 * all));
  double* const weight = rows.weight.data();
  for (int64_t done = stop; done < all; done += std::min(taps, all - done))
    std::copy_n(weight + done - taps, std::min(taps, all - done), weight + done);
  computed(to, hi, rows);
}

// The line is that of the areas' edges: an area ends where the next begins.
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

// Rows with OpenCV's weights for 8-bit values.
void Sampling::stepped(int64_t lo, int64_t hi, Rows& rows) const {
  LinearSteps from = *linear_steps;
  from.first_output += lo;
  const TapsAxis axis(from, n_in_, hi - lo);
  constexpr double units = 1 << step_bits;
  rows.weight.clear();
  for (size_t row = 0; row < size_t(hi - lo); ++row) {
    const bool one = axis.input[2 * row] == axis.input[2 * row + 1];
    rows.start.push_back(axis.input[2 * row]), rows.offset.push_back(rows.offset.back() + (one ? 1 : 2));
    rows.weight.push_back(one ? 1 : axis.weight[2 * row] / units);
    if (!one) rows.weight.push_back(axis.weight[2 * row + 1] / units);
  }
}

Sampling Sampling::part(int64_t lo, int64_t hi, int64_t first_input, int64_t n_in) const {
  Sampling made = *this;
  made.n_in_ = n_in, made.n_out_ = hi - lo;
  made.line_.first = line_.at(lo), made.line_.first.whole -= first_input;
  made.centers_ = made.line_;
  made.linear_steps->first_output += lo, made.linear_steps->first_input += first_input;
  return made;
}

void Sampling::untrimmed(int64_t lo, int64_t hi, Rows& rows) const {
  rows.start.clear(), rows.offset.clear();
  rows.start.reserve(size_t(hi - lo)), rows.offset.reserve(size_t(hi - lo + 1));
  rows.offset.push_back(0);
  const int64_t expected = (hi - lo) * (taps_each() + 1);  // resized once, as a vector that grows is copied
  if (expected <= most_expected && int64_t(rows.weight.size()) < expected) rows.weight.resize(size_t(expected));
  if (linear_steps) stepped(lo, hi, rows);
  else if (has_long_rows()) add_long_rows(*this, lo, hi, rows);
  else switch (weighting_) {
      case Weighting::filtered: filtered(lo, hi, rows); break;
      case Weighting::overlapped: overlapped(lo, hi, rows); break;
      case Weighting::touched: touched(lo, hi, rows); break;
    }
  rows.weight.resize(size_t(rows.offset.back()));
}

// ---- which taps rows keep, which rows no edge changes, and the rows of the transpose

namespace {

constexpr int64_t context_rows = 64;  // rows next to a range that are looked at together

bool any_zero_ends(const Rows& rows) {
  for (size_t row = 0; row < rows.start.size(); ++row) {
    const int64_t from = rows.offset[row], to = rows.offset[row + 1];
    if (from < to && (rows.weight[size_t(from)] == 0 || rows.weight[size_t(to - 1)] == 0)) return true;
  }
  return false;
}

// The inputs [begin, end) of a row without the zero weights at its ends. If all weights are zero, begin is the row's
// stop and end its start.
void used_inputs(const Rows& r, size_t row, int64_t& begin, int64_t& end) {
  begin = r.stop(int64_t(row)), end = r.start[row];
  if (begin > end && r.weight[size_t(r.offset[row])] != 0 && r.weight[size_t(r.offset[row + 1] - 1)] != 0) {
    std::swap(begin, end);
    return;
  }
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
}

// Cuts each row to its inputs in [first, last), in place.
void cut_rows(const std::vector<int64_t>& first, const std::vector<int64_t>& last, Rows& rows) {
  int64_t length = 0, offset = 0;  // of the weights so far; rows.offset[row] before it is overwritten
  for (size_t row = 0; row < first.size(); ++row) {
    const int64_t from = std::max(first[row], rows.start[row]);
    const int64_t end = rows.offset[row + 1], stop = rows.start[row] + end - offset;
    const int64_t to = std::min(std::max(last[row], first[row]), stop);
    const int64_t at = offset + from - rows.start[row];
    std::copy(rows.weight.begin() + at, rows.weight.begin() + at + (to - from), rows.weight.begin() + length);
    rows.start[row] = from, rows.offset[row] = length;
    length += to - from, offset = end;
  }
  rows.offset[first.size()] = length;
  rows.weight.resize(size_t(length));
}

}  // namespace

// The lowest used input of the rows from `o` on, or `limit` if that is lower.
int64_t Sampling::lowest_used(int64_t o, int64_t limit) const {
  Rows rows;
  int64_t begin, end, start, stop;
  for (; o < n_out_; o += context_rows) {
    bounds(o, start, stop);
    if (start >= limit) break;
    untrimmed(o, std::min(n_out_, o + context_rows), rows);
    for (size_t row = 0; row < rows.start.size(); ++row) {
      used_inputs(rows, row, begin, end);
      limit = std::min(limit, begin);
    }
  }
  return limit;
}

// The end of the highest used input of the rows before `o`, or `limit` if that is higher.
int64_t Sampling::highest_used(int64_t o, int64_t limit) const {
  Rows rows;
  int64_t begin, end, start, stop;
  for (; o > 0; o -= std::min(o, context_rows)) {
    bounds(o - 1, start, stop);
    if (stop <= limit) break;
    untrimmed(o - std::min(o, context_rows), o, rows);
    for (size_t row = 0; row < rows.start.size(); ++row) {
      used_inputs(rows, row, begin, end);
      limit = std::max(limit, end);
    }
  }
  return limit;
}

// A row must begin no later than any row after it, and end no earlier than any row before it. This holds for rows
// outside of [lo, hi) too, as far as they overlap the taps that may be left out.
void Sampling::make(int64_t lo, int64_t hi, Rows& rows) const {
  untrimmed(lo, hi, rows);
  if (!any_zero_ends(rows)) return;
  const size_t n = size_t(hi - lo);
  std::vector<int64_t> first(n), last(n);
  for (size_t row = 0; row < n; ++row) used_inputs(rows, row, first[row], last[row]);
  int64_t limit = lowest_used(hi, *std::max_element(first.begin(), first.end()));
  for (size_t row = n; row-- > 0;) first[row] = limit = std::min(limit, first[row]);
  limit = highest_used(lo, *std::min_element(last.begin(), last.end()));
  for (size_t row = 0; row < n; ++row) last[row] = limit = std::max(limit, last[row]);
  cut_rows(first, last, rows);
}

void Sampling::bounds(int64_t o, int64_t& start, int64_t& stop) const {
  const Position p = line_.at(o);
  cut(taps(p), weighting_ == Weighting::overlapped ? centers_.at(o) : p, start, stop);
}

void Sampling::interior(int64_t& lo, int64_t& hi) const {
  auto lowest = [&](int64_t o) { return taps(line_.at(o)).lowest; };
  auto stop = [&](int64_t o) {
    const Taps t = taps(line_.at(o));
    return t.lowest + t.count;
  };
  auto before = [&](int64_t o) { return edge_ == Edge::extrapolate && centers_.at(o).whole < 0; };
  auto after = [&](int64_t o) { return edge_ == Edge::extrapolate && outside(centers_.at(o)); };
  lo = first_where(0, n_out_, 0, [&](int64_t o) { return lowest(o) >= 0 && !before(o); });
  hi = first_where(lo, n_out_, n_out_, [&](int64_t o) { return stop(o) > n_in_ || after(o); });
  if (lo == hi || weighting_ != Weighting::filtered) return;
  // Which taps a row keeps also depends on the rows that overlap it. So rows that overlap a row at an end are left out.
  const int64_t begin = stop(lo), end = lowest(hi - 1);
  const int64_t from = first_where(lo, hi, lo, [&](int64_t o) { return lowest(o) >= begin; });
  hi = first_where(lo, hi, hi, [&](int64_t o) { return stop(o) > end; });
  lo = from, hi = std::max(lo, hi);
}

void transpose(const Rows& forward, int64_t from, int64_t lo, int64_t hi, Rows& rows) {
  const auto n = int64_t(forward.start.size());
  rows.start.clear(), rows.offset.assign(1, 0), rows.weight.clear();
  rows.start.reserve(size_t(hi - lo)), rows.offset.reserve(size_t(hi - lo + 1)),
      rows.weight.reserve(forward.weight.size());
  int64_t first = 0, end = 0;  // rows [first, end) of `forward` read input i
  for (int64_t i = lo; i < hi; ++i) {
    while (first < n && forward.stop(first) <= i) ++first;
    while (end < n && forward.start[size_t(end)] <= i) ++end;
    end = std::max(end, first);
    rows.start.push_back(from + first), rows.offset.push_back(rows.offset.back() + end - first);
    if (forward.weight.empty()) continue;
    for (int64_t o = first; o < end; ++o)
      rows.weight.push_back(forward.weight[size_t(forward.offset[size_t(o)] + i - forward.start[size_t(o)])]);
  }
}

void Sampling::make_transposed(int64_t lo, int64_t hi, Rows& rows) const {
  int64_t start, stop;
  auto near = [&](int64_t i) { return int64_t(double(n_out_) / double(std::max<int64_t>(1, n_in_)) * double(i)); };
  const int64_t from = first_where(0, n_out_, near(lo), [&](int64_t o) { return bounds(o, start, stop), stop > lo; });
  const int64_t to =
      first_where(from, n_out_, near(hi), [&](int64_t o) { return bounds(o, start, stop), start >= hi; });
  Rows forward;
  make(from, to, forward);
  transpose(forward, from, lo, hi, rows);
}

}  // namespace tenter
