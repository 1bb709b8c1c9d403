#include "rules/long_rows.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"

namespace tenter {
namespace {

constexpr int64_t at_once = 1024;  // taps per chunk, so that their distances stay in cache

double sum_of(const double* w, int64_t n) {
  constexpr int64_t lanes = 16;
  double lane[lanes] = {}, sum = 0;
  int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int64_t l = 0; l < lanes; ++l) lane[l] += w[k + l];
  for (; k < n; ++k) lane[k % lanes] += w[k];
  for (const double of : lane) sum += of;
  return sum;
}

}  // namespace

LongRow::LongRow(const Sampling& rule, int64_t o) : rule_(&rule), at_(rule.line_.at(o)), end_(at_) {
  rule.line_.advance(end_);
  taps_ = rule.taps(at_);
  if (rule.edge_ == Edge::renormalize) taps_ = rule.inside(taps_);
  const bool overlapped = rule.weighting_ == Weighting::overlapped;
  rule.cut(taps_, overlapped ? rule.centers_.at(o) : at_, start_, stop_);
  if (rule.weighting_ != Weighting::touched)
    sums_.resize(size_t((taps_.count + Sampling::long_row - 1) / Sampling::long_row));
}

LongRow LongRow::transposed(const Sampling& rule, int64_t i) {
  const int64_t n = rule.n_out_;
  const auto near = int64_t(double(n) / double(rule.n_in_) * double(i));
  Rows row;  // without zero weights at its ends
  const auto made = [&](int64_t o) { return rule.make(o, o + 1, row), row.start[0]; };
  const int64_t start = first_where(0, n, near, [&](int64_t o) { return made(o), row.stop(0) > i; });
  LongRow found(rule, start, first_where(start, n, near, [&](int64_t o) { return made(o) > i; }));
  const bool drops = rule.edge_ == Edge::constant || !n;
  auto taps = [&](int64_t o) { return rule.taps(rule.line_.at(o)); };
  const int64_t first = i == 0 && !drops ? std::min<int64_t>(0, taps(0).lowest) : i;
  const Sampling::Taps last = n ? taps(n - 1) : Sampling::Taps{};
  const int64_t end = i == rule.n_in_ - 1 && !drops ? std::max(i + 1, last.lowest + last.count) : i + 1;
  for (int64_t pixel = first; pixel < end; ++pixel) {
    auto reaches = [&](int64_t o) { return taps(o).lowest + taps(o).count > pixel; };
    const int64_t begin = first_where(0, n, start, reaches);
    found.pixels_.push_back(
        {pixel, begin, first_where(begin, n, begin, [&](int64_t o) { return taps(o).lowest > pixel; })});
  }
  return found;
}

// A pixel's weights in outputs of a line are those at equal distances. A pixel at an edge gets the weights of the
// padding, in ascending order as in Sampling::add_row.
void LongRow::weights_of_lines(int64_t from, int64_t n, double* to) const {
  const Line& l = rule_->line_;
  const auto unit = int64_t(l.unit);
  const double step = double(-(l.step.whole * unit + int64_t(l.step.rest)) * rule_->denominator_);
  double weight[at_once];
  std::fill_n(to, n, 0.0);
  for (const PixelTaps& some : pixels_) {
    const int64_t end = std::min(from + n, some.end);
    for (int64_t o = std::max(from, some.begin), together; o < end; o += together) {
      together = std::min(at_once, end - o);
      const Position at = l.at(o);
      const double first = double(((some.pixel - at.whole) * unit - int64_t(at.rest)) * rule_->denominator_);
      kernels().line_weights(*rule_->filter, first, step, double(unit * rule_->numerator_), together, weight);
      for (int64_t k = 0; k < together; ++k) to[o - from + k] += weight[k];
    }
  }
}

// The same weights as in Sampling::filtered and Sampling::overlapped.
void LongRow::make_weights(int64_t lowest, int64_t n, double* to) const {
  const Sampling& r = *rule_;
  if (r.weighting_ == Weighting::touched) return void(std::fill_n(to, n, 1.0 / double(taps_.count)));
  if (r.weighting_ == Weighting::overlapped) {
    const Line& l = r.line_;
    const double area = l.unit < Wide(1) << 62 ? double(l.step.whole * l.unit + l.step.rest)
                                               : double(l.step.whole) * double(l.unit) + double(l.step.rest);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t column = lowest + k;
      const Wide from = column == at_.whole ? at_.rest : 0, end = column == end_.whole ? end_.rest : l.unit;
      to[k] = double(end - from) / area;
    }
    return;
  }
  if (r.exact_ && r.filter) {
    const int64_t unit = int64_t(r.line_.unit);
    const double first = double(((lowest - at_.whole) * unit - int64_t(at_.rest)) * r.denominator_);
    const double step = double(unit * r.denominator_);
    return kernels().line_weights(*r.filter, first, step, double(unit * r.numerator_), n, to);
  }
  double distance[at_once];
  const double part = r.line_.quotient(at_.rest);
  const int64_t unit = r.exact_ ? int64_t(r.line_.unit) : 1;
  const double exact_unit = double(unit * r.numerator_), exact_step = double(unit * r.denominator_);
  for (int64_t done = 0; done < n; done += at_once) {
    const int some = int(std::min(at_once, n - done));
    const int64_t first = lowest + done - at_.whole;
    if (r.exact_) {
      const double from = double((first * unit - int64_t(at_.rest)) * r.denominator_);
      for (int k = 0; k < some; ++k) distance[k] = (from + double(k) * exact_step) / exact_unit;
    } else {
      const double from = double(first);
      for (int k = 0; k < some; ++k) distance[k] = ((from + double(k)) - part) / r.stretch_;
    }
    r.weights_(distance, some, to + done);
    for (int k = 0; k < some; ++k) to[done + k] += 0.0;  // turns -0.0 into 0.0
  }
}

void LongRow::sum_part(int64_t part) {
  double weight[at_once];
  const int64_t lo = taps_.lowest + part * Sampling::long_row;
  const int64_t hi = std::min(lo + Sampling::long_row, taps_.lowest + taps_.count), n_in = rule_->n_in_;
  Sums& sums = sums_[size_t(part)];
  for (int64_t at = lo; at < hi; at += at_once) {
    const int64_t n = std::min(at_once, hi - at);
    make_weights(at, n, weight);
    const int64_t inside = std::clamp<int64_t>(-at, 0, n), after = std::clamp<int64_t>(n_in - at, 0, n);
    sums.all += sum_of(weight, n);
    if (inside) sums.before += sum_of(weight, inside);
    if (after < n) sums.after += sum_of(weight + after, n - after);
  }
}

void LongRow::finish() {
  for (const Sums& part : sums_) total_.before += part.before, total_.all += part.all, total_.after += part.after;
  const bool divides = rule_->normalize_ || rule_->edge_ == Edge::renormalize;
  if (!divides || rule_->weighting_ == Weighting::touched) total_.all = 1;
}

void LongRow::weights(int64_t from, int64_t n, double* to) const {
  if (!pixels_.empty()) return weights_of_lines(from, n, to);
  const Sampling& r = *rule_;
  make_weights(from, n, to);
  for (int64_t k = 0; k < n; ++k)  // the pixel at an edge may get only the weights of the padding
    if (from + k < taps_.lowest || from + k >= taps_.lowest + taps_.count) to[k] = 0;
  const double total = total_.all;
  const bool has_edge_taps = r.edge_ == Edge::replicate || r.edge_ == Edge::extrapolate;
  if (has_edge_taps && from == 0) to[0] += total_.before;
  if (has_edge_taps && from + n == r.n_in_) to[n - 1] += total_.after;
  if (std::fabs(total) < nothing) std::fill_n(to, n, 0.0);
  else if (total != 1)
    for (int64_t k = 0; k < n; ++k) to[k] /= total;
}

void LongRow::used(int64_t& begin, int64_t& end) const {
  constexpr int64_t few = 16;  // most rows have no zero among so many
  double weight[at_once];
  begin = stop_, end = start_;
  for (int64_t at = start_, n; at < stop_ && begin == stop_; at += n) {
    n = std::min(at == start_ ? few : at_once, stop_ - at);
    weights(at, n, weight);
    for (int64_t k = n; k-- > 0;)
      if (weight[k] != 0) begin = at + k;
  }
  for (int64_t to = stop_, n; to > start_ && end == start_; to -= n) {
    n = std::min(to == stop_ ? few : at_once, to - start_);
    const int64_t at = to - n;
    weights(at, n, weight);
    for (int64_t k = 0; k < n; ++k)
      if (weight[k] != 0) end = at + k + 1;
  }
}

void LongRow::trim(std::vector<LongRow>& rows) {
  if (!rows.empty() && !rows[0].pixels_.empty()) return;
  std::vector<int64_t> first(rows.size()), last(rows.size());
  for (size_t k = 0; k < rows.size(); ++k) rows[k].used(first[k], last[k]);
  for (size_t k = rows.size(); k-- > 1;) first[k - 1] = std::min(first[k - 1], first[k]);
  for (size_t k = 1; k < rows.size(); ++k) last[k] = std::max(last[k], last[k - 1]);
  for (size_t k = 0; k < rows.size(); ++k) {
    LongRow& row = rows[k];
    const int64_t from = std::max(first[k], row.start_), to = std::min(std::max(last[k], first[k]), row.stop_);
    row.start_ = from, row.stop_ = to;
  }
}

void add_long_rows(const Sampling& rule, int64_t lo, int64_t hi, Rows& rows) {
  for (int64_t o = lo; o < hi; ++o) {
    LongRow row(rule, o);
    for (int64_t part = 0; part < row.n_parts(); ++part) row.sum_part(part);
    row.finish();
    const int64_t n = row.stop() - row.start(), at = rows.offset.back();
    rows.start.push_back(row.start()), rows.offset.push_back(at + n);
    if (int64_t(rows.weight.size()) < at + n) rows.weight.resize(size_t(at + n));
    if (n) row.weights(row.start(), n, rows.weight.data() + at);
  }
}

}  // namespace tenter
