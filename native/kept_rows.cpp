// Which of a rule's taps rows keep, which of them reach past no edge, and the rows of transposes.
#include <algorithm>

#include "sampling.hpp"

namespace tenter {
namespace {

constexpr int64_t context_rows = 64;  // looked at together beside a range

// The first output in [lo, hi] for which `holds`, which does so from some output on. near: where that may be; each step
// away from there is twice as long as the one before, as what holds takes longer to see than a row takes to make.
template <class F>
int64_t first_where(int64_t lo, int64_t hi, int64_t near, F&& holds) {
  near = std::clamp(near, lo, hi);
  if (near == hi || holds(near)) {
    hi = near;
    for (int64_t step = 1; lo < hi; step *= 2) {
      const int64_t at = std::max(lo, hi - step);
      if (!holds(at)) {
        lo = at + 1;
        break;
      }
      hi = at;
    }
  } else {
    lo = near + 1;
    for (int64_t step = 1; lo < hi; step *= 2) {
      const int64_t at = std::min(hi, lo + step) - 1;
      if (holds(at)) {
        hi = at;
        break;
      }
      lo = at + 1;
    }
  }
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    if (holds(middle)) hi = middle;
    else lo = middle + 1;
  }
  return lo;
}

}  // namespace

// Row o is cut to begin no later than any row after it, and to end no earlier than any row before it. Of rows outside
// the range only those count that overlap the taps that may be dropped.
void Sampling::make(int64_t lo, int64_t hi, Rows& rows) const {
  untrimmed(lo, hi, rows);
  const size_t n = size_t(hi - lo);
  bool some_zero = false;
  for (size_t row = 0; row < n; ++row) {
    const int64_t from = rows.offset[row], to = rows.offset[row + 1];
    some_zero = some_zero || (from < to && (rows.weight[size_t(from)] == 0 || rows.weight[size_t(to - 1)] == 0));
  }
  if (!some_zero) return;
  std::vector<int64_t> first(n), last(n);
  auto used = [&](const Rows& r, size_t row, int64_t& begin, int64_t& end) {
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
  };
  for (size_t row = 0; row < n; ++row) used(rows, row, first[row], last[row]);
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
  if (lo == hi || rule_ != Rule::filtered) return;
  // Rows that overlap the first and the last of these decide about their taps too.
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
