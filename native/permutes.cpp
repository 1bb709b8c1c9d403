#include "permutes.hpp"

#include <algorithm>
#include <cstring>

namespace tenter {
namespace {

template <class I, class A>
bool make(const WindowMap& m, const A* weights, Permutes& p) {
  const int64_t N = p.lanes, inner = p.inner, row = p.row, n = m.n_out * inner;
  const int64_t all = m.offset ? m.offset[m.n_out] : m.n_out * m.width;
  const bool sparse = 2 * all <= m.n_in && row < (int64_t(1) << 31);  // most inputs are read by nobody
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
      if (base >= 0 && highest - base < 2 * N) reach = Permutes::moving;
      else if (sparse) base = 0, reach = Permutes::apart;
      else return false;
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
  auto bytes_of = [](const auto& values) {
    const char* p = reinterpret_cast<const char*>(values.data());
    return std::vector<char>(p, p + values.size() * sizeof(values[0]));
  };
  p.index = bytes_of(index), p.count = bytes_of(count), p.weight = bytes_of(weight);
  return true;
}

}  // namespace

bool make_permutes(const WindowMap& m, int64_t inner, int lanes, int bytes, Permutes& made) {
  made = {lanes, bytes, inner, m.n_in * inner, {}, {}, {}, {}, {}};
  if (lanes == 0 || m.n_in == 0 || m.n_out * inner < lanes) return false;
  // Most taps a window may have: beyond, sharing loads over the rows of a tile costs less.
  constexpr int64_t most = 16;
  for (int64_t o = 0; o < m.n_out; ++o)
    if (m.count(o) > most) return false;
  return bytes == 4 ? make<int32_t>(m, m.weight32, made) : make<int64_t>(m, m.weight64, made);
}

}  // namespace tenter
