#include "rules/folded.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace tenter {
namespace {

// Windows without the zero weights at their ends, as long as windows then do not descend. first, stop: their inputs.
Rows trimmed(const std::vector<int64_t>& first, const std::vector<int64_t>& stop, const std::vector<double>& weight) {
  const size_t n = first.size();
  std::vector<int64_t> begin(stop), end(first);
  int64_t at = 0;
  for (size_t o = 0; o < n; at += stop[o] - first[o], ++o) {
    const double* const w = weight.data() + at;
    const int64_t count = stop[o] - first[o];
    int64_t k = 0;
    while (k < count && w[k] == 0) ++k;
    if (k == count) continue;
    begin[o] = first[o] + k;
    for (k = count; w[k - 1] == 0;) --k;
    end[o] = first[o] + k;
  }
  for (size_t o = n; o-- > 1;) begin[o - 1] = std::min(begin[o - 1], begin[o]);
  Rows made;
  made.start.reserve(n), made.offset.reserve(n + 1), made.weight.reserve(weight.size());
  made.offset.push_back(0), at = 0;
  int64_t last = 0;
  for (size_t o = 0; o < n; at += stop[o] - first[o], ++o) {
    last = o ? std::max(last, end[o]) : end[o];
    const int64_t from = std::max(begin[o], first[o]), to = std::min(std::max(last, begin[o]), stop[o]);
    const auto w = weight.begin() + at;
    made.weight.insert(made.weight.end(), w + (from - first[o]), w + (to - first[o]));
    made.start.push_back(from), made.offset.push_back(int64_t(made.weight.size()));
  }
  return made;
}

int64_t distinct(const int64_t* from, const int64_t* to) {
  if (std::adjacent_find(from, to, std::greater_equal<int64_t>()) == to) return to - from;
  std::vector<int64_t> some(from, to);
  std::sort(some.begin(), some.end());
  return std::unique(some.begin(), some.end()) - some.begin();
}

// Windows that contain these taps; nullopt if they would be much longer than the taps. exactly: if they would be longer
// at all, as a tap of weight 0 turns an inf or NaN into NaN.
std::optional<Rows> adjacent(int64_t n_in, const Taps& taps, const std::vector<int64_t>& column, bool exactly) {
  const size_t n = taps.offset.size() - 1;
  std::vector<int64_t> first(n, n_in), stop(n);
  int64_t last = 0;
  for (size_t o = 0; o < n; ++o) {
    for (int64_t k = taps.offset[o]; k < taps.offset[o + 1]; ++k) {
      first[o] = std::min(first[o], column[size_t(k)]);
      last = std::max(last, column[size_t(k)] + 1);
    }
    stop[o] = last;
  }
  Wide span = 0;
  for (size_t o = n; o-- > 0;) {
    if (o + 1 < n) first[o] = std::min(first[o], first[o + 1]);
    stop[o] = std::max(stop[o], first[o]);
    span += stop[o] - first[o];
  }
  if (span > 2 * Wide(column.size()) + 4 * Wide(n)) return std::nullopt;
  std::vector<double> held(size_t(span), 0.0);
  int64_t at = 0, n_distinct = 0;
  for (size_t o = 0; o < n; at += stop[o] - first[o], ++o) {
    for (int64_t k = taps.offset[o]; k < taps.offset[o + 1]; ++k)
      held[size_t(at + column[size_t(k)] - first[o])] += taps.weight[size_t(k)];
    if (exactly) n_distinct += distinct(column.data() + taps.offset[o], column.data() + taps.offset[o + 1]);
  }
  if (exactly && span > n_distinct) return std::nullopt;
  return trimmed(first, stop, held);
}

bool identity(const Rows& rows, int64_t n_in) {
  const int64_t n = int64_t(rows.start.size());
  if (n_in != n || rows.offset.back() != n) return false;
  for (int64_t o = 0; o < n; ++o)
    if (rows.start[size_t(o)] != o || rows.weight[size_t(o)] != 1) return false;
  return true;
}

}  // namespace

Taps taps_of(const Sampling& sampling) {
  Rows rows;
  sampling.untrimmed(0, sampling.n_out(), rows);
  Taps made;
  made.offset.reserve(rows.offset.size()), made.column.reserve(rows.weight.size());
  made.offset.push_back(0);
  for (size_t o = 0; o < rows.start.size(); ++o) {
    for (int64_t k = rows.offset[o]; k < rows.offset[o + 1]; ++k) {
      const double w = rows.weight[size_t(k)];
      if (w != 0) made.column.push_back(rows.start[o] + k - rows.offset[o]), made.weight.push_back(w);
    }
    made.offset.push_back(int64_t(made.weight.size()));
  }
  return made;
}

bool FoldedRows::is_identity(int64_t n_in) const { return adjacent && identity(rows, n_in); }

FoldedRows fold_rows(int64_t n_in, Taps&& given, Edge edge) {
  const bool periodic = is_periodic(edge);
  std::vector<int64_t> at(given.column.size());
  std::transform(given.column.begin(), given.column.end(), at.begin(),
                 [&](int64_t c) { return folded(c, n_in, edge); });
  if (auto found = adjacent(n_in, given, at, periodic)) return {true, std::move(*found), {}};
  if (periodic) {  // windows on the padded axis, so that rows share what they read
    const auto [least, most] = std::minmax_element(given.column.begin(), given.column.end());
    const int64_t lowest = *least, length = *most + 1 - lowest;
    std::vector<int64_t> extended(given.column);
    for (int64_t& c : extended) c -= lowest;
    auto found = adjacent(length, given, extended, false);
    if (found && !identity(*found, length)) {
      Taps made{std::move(found->offset), {}, std::move(found->weight)};
      made.column.reserve(made.weight.size());
      for (size_t o = 0; o < found->start.size(); ++o)
        for (int64_t k = 0; k < made.offset[o + 1] - made.offset[o]; ++k)
          made.column.push_back(folded(found->start[o] + k + lowest, n_in, edge));
      return {false, {}, std::move(made)};
    }
  }
  Taps made{std::move(given.offset), std::vector<int64_t>(at.size()), std::vector<double>(at.size())};
  std::vector<int64_t> by(at.size());
  std::iota(by.begin(), by.end(), int64_t(0));
  for (size_t o = 0; o + 1 < made.offset.size(); ++o)
    std::stable_sort(by.begin() + made.offset[o], by.begin() + made.offset[o + 1],
                     [&](int64_t a, int64_t b) { return at[size_t(a)] < at[size_t(b)]; });
  for (size_t k = 0; k < by.size(); ++k)
    made.column[k] = at[size_t(by[k])], made.weight[k] = given.weight[size_t(by[k])];
  return {false, {}, std::move(made)};
}

LaidOut laid_out(int64_t n_rows, const int64_t* offset, const int64_t* index) {
  LaidOut made;
  made.start.reserve(size_t(n_rows)), made.order.reserve(size_t(offset[n_rows]));
  for (int64_t o = 0; o < n_rows; ++o) {
    const int64_t *const row = index + offset[o], *const end = index + offset[o + 1];
    int64_t shared = 0;
    if (o && row < end) {
      const int64_t *const before = index + offset[o - 1], *const from = std::find(before, row, *row);
      if (from < row && row - from <= end - row && std::equal(from, row, row)) shared = row - from;
    }
    made.start.push_back(int64_t(made.order.size()) - shared);
    made.order.insert(made.order.end(), row + shared, end);
  }
  return made;
}

Taps transposed(const Taps& taps, int64_t n_in) {
  Taps made{std::vector<int64_t>(size_t(n_in) + 1, 0), std::vector<int64_t>(taps.column.size()),
            std::vector<double>(taps.weight.size())};
  for (const int64_t i : taps.column) ++made.offset[size_t(i) + 1];
  std::partial_sum(made.offset.begin(), made.offset.end(), made.offset.begin());
  std::vector<int64_t> next(made.offset.begin(), made.offset.end() - 1);
  for (size_t o = 0; o + 1 < taps.offset.size(); ++o)
    for (int64_t k = taps.offset[o]; k < taps.offset[o + 1]; ++k) {
      const size_t at = size_t(next[size_t(taps.column[size_t(k)])]++);
      made.column[at] = int64_t(o);
      if (!made.weight.empty()) made.weight[at] = taps.weight[size_t(k)];
    }
  return made;
}

}  // namespace tenter
