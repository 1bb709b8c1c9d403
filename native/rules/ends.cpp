#include "rules/ends.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace tenter {
namespace {

int64_t n_rows(const Rows& rows) { return int64_t(rows.start.size()); }

// The rows with their padding mapped back to inputs. Returns nullopt if a row's inputs are not adjacent, or rows
// descend.
std::optional<Rows> on_axis(const Rows& given, int64_t n_in, Edge edge) {
  Rows made{given.start, given.offset, {}};
  made.weight.reserve(given.weight.size());
  std::vector<int64_t> at;
  std::vector<uint8_t> read;
  for (int64_t o = 0; o < n_rows(given); ++o) {
    at.clear();
    for (int64_t c = given.start[size_t(o)]; c < given.stop(o); ++c) at.push_back(folded(c, n_in, edge));
    if (at.empty()) return std::nullopt;
    const auto [least, most] = std::minmax_element(at.begin(), at.end());
    const int64_t start = *least, n = *most + 1 - start;
    if (n > int64_t(at.size())) return std::nullopt;
    const size_t before = made.weight.size();
    made.weight.resize(before + size_t(n), 0.0), read.assign(size_t(n), 0);
    for (size_t k = 0; k < at.size(); ++k) {
      made.weight[before + size_t(at[k] - start)] += given.weight[size_t(given.offset[size_t(o)]) + k];
      read[size_t(at[k] - start)] = 1;
    }
    made.start[size_t(o)] = start, made.offset[size_t(o) + 1] = int64_t(made.weight.size());
    const bool descends = o && (start < made.start[size_t(o) - 1] || start + n < made.stop(o - 1));
    if (descends || std::find(read.begin(), read.end(), 0) != read.end()) return std::nullopt;
  }
  return made;
}

// Whether row `row` of a may come before row `after` of b in a window map.
bool in_order(const Rows& a, int64_t row, const Rows& b, int64_t after) {
  return a.start[size_t(row)] <= b.start[size_t(after)] && a.stop(row) <= b.stop(after);
}

Ends::Some gathered(const Rows& rows, int64_t n_in, Edge edge) {
  std::vector<int64_t> index;
  index.reserve(rows.weight.size());
  for (int64_t o = 0; o < n_rows(rows); ++o)
    for (int64_t c = rows.start[size_t(o)]; c < rows.stop(o); ++c) index.push_back(folded(c, n_in, edge));
  LaidOut made = laid_out(n_rows(rows), rows.offset.data(), index.data());
  return {std::move(made.order), {std::move(made.start), rows.offset, rows.weight}};
}

Ends forward_ends(const Sampling& rule) {
  const int64_t n_in = rule.n_in(), n_out = rule.n_out();
  Ends made;
  rule.interior(made.lo, made.hi);
  if (made.lo >= made.hi) made.lo = made.hi = n_out;
  const int64_t lo = made.lo, hi = made.hi;
  Rows first, last;
  rule.make(0, lo, first), rule.make(hi, n_out, last);
  std::optional<Rows> before = on_axis(first, n_in, rule.edge()), after = on_axis(last, n_in, rule.edge());
  made.gathers = !before || !after;
  if (!made.gathers && lo < hi) {
    Rows next, previous;
    rule.make(lo, lo + 1, next), rule.make(hi - 1, hi, previous);
    made.gathers = (lo && !in_order(*before, lo - 1, next, 0)) || (hi < n_out && !in_order(previous, 0, *after, 0));
  }
  if (made.gathers) {
    made.before = gathered(first, n_in, rule.edge()), made.after = gathered(last, n_in, rule.edge());
  } else {
    made.before.rows = std::move(*before), made.after.rows = std::move(*after);
  }
  return made;
}

// Calls f(row, input, weight) for each tap. Rows are numbered from `number`. order: the inputs in the order in which
// rows read them; null if rows read adjacent inputs.
template <class F>
void each_tap(const Rows& rows, const std::vector<int64_t>* order, int64_t number, F&& f) {
  for (int64_t o = 0; o < n_rows(rows); ++o)
    for (int64_t k = rows.offset[size_t(o)]; k < rows.offset[size_t(o) + 1]; ++k) {
      const int64_t at = rows.start[size_t(o)] + k - rows.offset[size_t(o)];
      f(number + o, order ? (*order)[size_t(at)] : at, rows.weight[size_t(k)]);
    }
}

// The inputs [lo, hi) that only rows inside of the axis read. Rows at the ends read none of them.
void inputs_inside(const Sampling& rule, const Ends& forward, int64_t& lo, int64_t& hi) {
  lo = hi = rule.n_in();
  if (forward.lo == forward.hi) return;
  int64_t start, stop;
  rule.bounds(forward.lo, start, stop);
  int64_t from = stop;
  rule.bounds(forward.hi - 1, start, stop);
  int64_t to = start;
  const int64_t middle = from + (to - from) / 2;
  auto reads = [&](int64_t, int64_t i, double) {
    if (i < middle) from = std::max(from, i + 1);
    else to = std::min(to, i);
  };
  const auto orders = [&](const Ends::Some& some) { return forward.gathers ? &some.order : nullptr; };
  each_tap(forward.before.rows, orders(forward.before), 0, reads);
  each_tap(forward.after.rows, orders(forward.after), forward.hi, reads);
  if (from < to) lo = from, hi = to;
}

// Rows of the transpose from their taps, whose columns ascend in each row. first: where an empty row begins, if no row
// before it has taps.
Ends::Some transposed_rows(const Taps& taps, bool gathers, int64_t first) {
  const int64_t n = int64_t(taps.offset.size()) - 1;
  if (gathers) {
    LaidOut made = laid_out(n, taps.offset.data(), taps.column.data());
    return {std::move(made.order), {std::move(made.start), taps.offset, taps.weight}};
  }
  Ends::Some made;
  made.rows = {{}, taps.offset, taps.weight};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = taps.offset[size_t(i)], to = taps.offset[size_t(i) + 1];
    made.rows.start.push_back(from < to ? taps.column[size_t(from)] : first);
    if (from < to) first = taps.column[size_t(to) - 1] + 1;
  }
  return made;
}

}  // namespace

double taps_at_ends(const Sampling& rule) {
  int64_t lo, hi;
  rule.interior(lo, hi);
  return double(rule.n_out() - std::max<int64_t>(0, hi - lo)) * double(rule.taps_each() + 1);
}

Ends ends_of(const Sampling& rule, bool transposed) {
  Ends forward = forward_ends(rule);
  if (!transposed) return forward;
  Ends made;
  made.gathers = forward.gathers;
  inputs_inside(rule, forward, made.lo, made.hi);
  // Rows inside of the axis, [forward.lo, head) and [tail, forward.hi), also read inputs outside of [lo, hi).
  int64_t start, stop;
  auto first_where = [&](int64_t from, int64_t to, auto&& holds) {
    while (from < to) {
      const int64_t middle = from + (to - from) / 2;
      rule.bounds(middle, start, stop);
      if (holds()) to = middle;
      else from = middle + 1;
    }
    return from;
  };
  const int64_t head = first_where(forward.lo, forward.hi, [&] { return start >= made.lo; });
  const int64_t tail = first_where(head, forward.hi, [&] { return stop > made.hi; });
  Rows beside_head, beside_tail;
  rule.make(forward.lo, head, beside_head), rule.make(tail, forward.hi, beside_tail);
  const int64_t n_after = rule.n_in() - made.hi;
  auto each = [&](auto&& f) {
    each_tap(forward.before.rows, forward.gathers ? &forward.before.order : nullptr, 0, f);
    each_tap(beside_head, nullptr, forward.lo, f);
    each_tap(beside_tail, nullptr, tail, f);
    each_tap(forward.after.rows, forward.gathers ? &forward.after.order : nullptr, forward.hi, f);
  };
  Taps before{std::vector<int64_t>(size_t(made.lo) + 1, 0), {}, {}};
  Taps after{std::vector<int64_t>(size_t(n_after) + 1, 0), {}, {}};
  each([&](int64_t, int64_t i, double) {
    if (i < made.lo) ++before.offset[size_t(i) + 1];
    else if (i >= made.hi) ++after.offset[size_t(i - made.hi) + 1];
  });
  for (Taps* some : {&before, &after}) {
    std::partial_sum(some->offset.begin(), some->offset.end(), some->offset.begin());
    some->column.resize(size_t(some->offset.back())), some->weight.resize(size_t(some->offset.back()));
  }
  std::vector<int64_t> next_before(before.offset), next_after(after.offset);
  each([&](int64_t o, int64_t i, double weight) {
    if (made.lo <= i && i < made.hi) return;
    Taps& to = i < made.lo ? before : after;
    const size_t at = size_t(i < made.lo ? next_before[size_t(i)]++ : next_after[size_t(i - made.hi)]++);
    to.column[at] = o, to.weight[at] = weight;
  });
  made.before = transposed_rows(before, made.gathers, 0);
  made.after = transposed_rows(after, made.gathers, tail);
  return made;
}

}  // namespace tenter
