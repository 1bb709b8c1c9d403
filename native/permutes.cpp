#include "permutes.hpp"

#include <algorithm>
#include <cstring>

namespace tenter {
namespace {

template <class T>
std::vector<char> bytes_of(const std::vector<T>& values) {
  const char* p = reinterpret_cast<const char*>(values.data());
  return std::vector<char>(p, p + values.size() * sizeof(T));
}

template <class I, class A>
bool make(const WindowMap& m, const A* weights, Permutes& p) {
  const int64_t N = p.lanes, inner = p.inner, row = p.row, n = m.n_out * inner;
  std::vector<I> index, count;
  std::vector<A> weight;
  for (int64_t v = 0; v * N < n; ++v) {
    const int64_t e = std::min(v * N, n - N);
    int64_t lowest = row, highest = 0, last = 0, taps = 1;
    bool ragged = false;
    for (int64_t l = 0; l < N; ++l) {
      const int64_t o = (e + l) / inner, element = m.first(o) * inner + (e + l) % inner;
      lowest = std::min(lowest, element);
      highest = std::max(highest, element);
      last = std::max(last, element + (m.count(o) - 1) * inner);
      taps = std::max(taps, m.count(o));
      ragged = ragged || m.count(o) == 0 || m.count(o) != m.count(e / inner);
    }
    // No load passes the row's end: there, one begins earlier.
    auto starts = [&](int64_t loaded) { return std::min(lowest, row - loaded); };
    int64_t base = starts(N);
    Permutes::Reach reach = Permutes::one;
    if (base < 0 || last - base >= N) base = starts(2 * N), reach = Permutes::two;
    if (reach == Permutes::two && (base < 0 || last - base >= 2 * N)) {
      if (base < 0 || highest - base >= 2 * N) return false;
      reach = Permutes::moving;
    }
    if (p.run.empty() || p.run.back().taps != taps || p.run.back().reach != reach || p.run.back().ragged != ragged)
      p.run.push_back({v, v, int64_t(weight.size()), int32_t(taps), reach, ragged});
    ++p.run.back().hi;
    p.base.push_back(base);
    for (int64_t l = 0; l < N; ++l) {
      const int64_t o = (e + l) / inner;
      index.push_back(I(m.first(o) * inner + (e + l) % inner - base));
      count.push_back(I(m.count(o)));
    }
    for (int64_t k = 0; k < taps; ++k)
      for (int64_t l = 0; l < N; ++l) {
        const int64_t o = (e + l) / inner;
        weight.push_back(k >= m.count(o) ? A(0) : weights ? weights[m.offset[o] + k] : A(1));
      }
  }
  p.index = bytes_of(index), p.count = bytes_of(count), p.weight = bytes_of(weight);
  return true;
}

// Both taps of each output side by side, and how the outputs read those.
template <class I, class A>
bool pick_pairs(const WindowMap& m, const A* weights, Permutes& p) {
  if (m.n_in < 2 || !m.start) return false;
  std::vector<int64_t> start(size_t(m.n_out));
  for (int64_t o = 0; o < m.n_out; ++o) {
    if (m.count(o) > 2) return false;
    const int64_t from = std::min(m.first(o), m.n_in - 2);  // the last pair may begin one earlier
    p.at.push_back(from * p.inner);
    start[size_t(o)] = 2 * o + (m.count(o) ? m.first(o) - from : 0);
  }
  WindowMap pairs = m;
  pairs.n_in = 2 * m.n_out, pairs.start = start.data();
  p.pairs = true, p.row = pairs.n_in * p.inner;
  return make<I, A>(pairs, weights, p);
}

template <class I, class A>
void pick_taps(const WindowMap& m, const A* weights, Permutes& p) {
  const int64_t inner = p.inner, n = m.n_out * inner;
  p.pairs = false, p.pitch = (n + p.lanes - 1) / p.lanes * p.lanes, p.taps = 1, p.ragged = false;
  for (int64_t o = 0; o < m.n_out; ++o) {
    p.taps = std::max(p.taps, int32_t(m.count(o)));
    p.ragged = p.ragged || m.count(o) == 0 || m.count(o) != m.count(0);
  }
  std::vector<I> count(size_t(p.pitch), 0);
  std::vector<A> weight(size_t(p.taps * p.pitch), 0);
  for (int32_t k = 0; k < p.taps; ++k)
    for (int64_t o = 0; o < m.n_out; ++o) {
      // What stands for a tap that an output lacks is another of its own, which the count leaves out.
      const int64_t column =
          std::min(m.first(o) + std::max<int64_t>(0, std::min<int64_t>(k, m.count(o) - 1)), m.n_in - 1);
      p.at.push_back(column * inner);
      for (int64_t q = 0; q < inner; ++q) {
        count[size_t(o * inner + q)] = I(m.count(o));
        if (k < m.count(o)) weight[size_t(k * p.pitch + o * inner + q)] = weights ? weights[m.offset[o] + k] : A(1);
      }
    }
  p.count = bytes_of(count), p.weight = bytes_of(weight);
}

}  // namespace

bool make_permutes(const WindowMap& m, int64_t inner, int lanes, int bytes, Permutes& made) {
  made = {lanes, bytes, inner, m.n_in * inner, {}, {}, {}, {}, {}, {}, false, 0, 0, false};
  if (lanes == 0 || m.n_in == 0 || m.n_out * inner < lanes) return false;
  // Most taps a window may have: beyond, sharing loads over the rows of a tile costs less.
  constexpr int64_t most = 16;
  for (int64_t o = 0; o < m.n_out; ++o)
    if (m.count(o) > most) return false;
  const int64_t all = m.offset ? m.offset[m.n_out] : m.n_out * m.width;
  if (2 * all <= m.n_in) {
    const Permutes empty = made;
    if (bytes == 4 ? pick_pairs<int32_t>(m, m.weight32, made) : pick_pairs<int64_t>(m, m.weight64, made)) return true;
    made = empty;
    if (bytes == 4) pick_taps<int32_t>(m, m.weight32, made);
    else pick_taps<int64_t>(m, m.weight64, made);
    return true;
  }
  return bytes == 4 ? make<int32_t>(m, m.weight32, made) : make<int64_t>(m, m.weight64, made);
}

}  // namespace tenter
