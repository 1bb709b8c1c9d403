#include "rules/between.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "system/integers.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

constexpr int64_t part_length = 1 << 14;  // positions of a part
constexpr int searches_at_once = 16;      // searches whose loads do not wait for each other
constexpr int64_t near = 8;  // coordinates after that of the last position among which the next is looked for

// For each value, the first coordinate that is not below it.
template <class Number>
void search(const Number* c, int64_t n, const Number* value, int64_t* found) {
  std::fill(found, found + searches_at_once, 0);
  int64_t length = n;
  for (; length > 1; length -= length / 2)
    for (int k = 0; k < searches_at_once; ++k) found[k] += c[found[k] + length / 2 - 1] < value[k] ? length / 2 : 0;
  for (int k = 0; k < searches_at_once; ++k) found[k] += c[found[k]] < value[k];
}

// The same for values that ascend slowly, from a coordinate on. Returns false if one is far away.
template <class Number>
bool follow(const Number* c, int64_t n, const Number* value, int64_t from, int64_t* found) {
  for (int k = 0; k < searches_at_once; ++k) {
    if (from > 0 && c[from - 1] >= value[k]) return false;
    for (const int64_t end = from + near; from < n && c[from] < value[k]; ++from)
      if (from == end) return false;
    found[k] = from;
  }
  return true;
}

Team team_of(int64_t n, int threads) { return team_for(n * 64, threads); }

}  // namespace

template <class Number>
void Between<Number>::place(Number rounding, Number* placed, int64_t* last, int64_t* first, int threads) const {
  parallel(ceil_div(n_at, part_length), team_of(n_at, threads), [&](int64_t p) {
    int64_t from = 0, found[searches_at_once];
    Number value[searches_at_once];
    for (int64_t o = p * part_length, end = std::min(o + part_length, n_at), some; o < end; o += some) {
      some = std::min<int64_t>(searches_at_once, end - o);
      for (int k = 0; k < searches_at_once; ++k) value[k] = at[o + std::min<int64_t>(k, some - 1)] - rounding;
      if (!follow(coordinates, n, value, from, found)) search(coordinates, n, value, found);
      from = found[some - 1];
      for (int64_t k = 0; k < some; ++k) {
        const Number position = at[o + k], beside = coordinates[std::min(found[k], n - 1)];
        const Number apart = beside > position ? beside - position : position - beside;
        const bool hit = apart <= rounding;
        placed[o + k] = hit ? beside : position, first[o + k] = found[k], last[o + k] = found[k] - !hit;
      }
    }
  });
}

template <class Number>
int64_t Between<Number>::lines(const int64_t* last, bool clips, int64_t* start, int64_t* offset, double* weight,
                               int threads) const {
  const int64_t n_parts = ceil_div(n_at, part_length);
  std::vector<int64_t> taps(size_t(n_parts) + 1, 0);  // of each part, then before each
  parallel(n_parts, team_of(n_at, threads), [&](int64_t p) {
    double* const to = weight + 2 * p * part_length;
    int64_t count = 0;
    for (int64_t o = p * part_length, end = std::min(o + part_length, n_at); o < end; ++o) {
      const int64_t i = std::clamp<int64_t>(last[o], 0, n - 2);
      const Number position = clips ? std::clamp(at[o], coordinates[0], coordinates[n - 1]) : at[o];
      const Number left = coordinates[i];
      const double right = double(position - left) / double(coordinates[i + 1] - left), rest = 1 - right;
      const bool reads_left = rest != 0, reads_right = right != 0;
      start[o] = i + !reads_left, offset[o] = count;
      to[count] = reads_left ? rest : right, to[count + 1] = right;
      count += reads_left + reads_right;
    }
    taps[size_t(p) + 1] = count;
  });
  for (int64_t p = 0; p < n_parts; ++p) {
    const int64_t before = taps[size_t(p)], count = taps[size_t(p) + 1];
    if (before != 2 * p * part_length)
      std::memmove(weight + before, weight + 2 * p * part_length, size_t(count) * sizeof(double));
    taps[size_t(p) + 1] += before;
  }
  parallel(n_parts, team_of(n_at, threads), [&](int64_t p) {
    for (int64_t o = p * part_length, end = std::min(o + part_length, n_at); o < end; ++o) offset[o] += taps[size_t(p)];
  });
  return offset[n_at] = taps[size_t(n_parts)];
}

template struct Between<double>;
template struct Between<int64_t>;

}  // namespace tenter
