#include "kernels/permute_tables.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/places.hpp"
#include "system/integers.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

template <class T>
std::vector<char> bytes_of(const std::vector<T>& values) {
  const char* p = reinterpret_cast<const char*>(values.data());
  return std::vector<char>(p, p + values.size() * sizeof(T));
}

// The weight of tap k of output o; 0 if the output has fewer taps.
template <class Acc>
Acc weight_of(const WindowMap& m, const Acc* weights, int64_t o, int64_t k) {
  return k >= m.count(o) ? Acc(0) : weights ? weights[m.offset[o] + k] : Acc(1);
}

// Joins short runs with their neighbors, as the code of the longer reach does for both: starting a run takes as long as
// some vectors.
void join_runs(PermuteTables& p) {
  constexpr int64_t few = 4;
  const int64_t both = 2 * p.lanes;
  std::vector<PermuteTables::Run> joined;
  for (const PermuteTables::Run& r : p.run) {
    auto can_reach = [&](const PermuteTables::Run& a, PermuteTables::Reach to) {
      if (a.reach == to) return true;
      return a.hi - a.lo < few && (to == PermuteTables::moving ? 0 : p.base[size_t(a.hi - 1)]) + both <= p.row;
    };
    const PermuteTables::Reach to = joined.empty() ? r.reach : std::max(joined.back().reach, r.reach);
    if (!joined.empty() && joined.back().taps == r.taps && joined.back().ragged == r.ragged &&
        can_reach(joined.back(), to) && can_reach(r, to))
      joined.back().hi = r.hi, joined.back().reach = to;
    else joined.push_back(r);
  }
  p.run = std::move(joined);
}

template <class Index, class Acc>
bool permute_rows(const WindowMap& m, const Acc* weights, PermuteTables& p) {
  const int64_t N = p.lanes, inner = p.inner, row = p.row, n = m.n_out * inner, n_vectors = ceil_div(n, N);
  p.base.resize(size_t(n_vectors));
  p.index.resize(size_t(n_vectors * N) * sizeof(Index)), p.count.resize(p.index.size());
  Index* index = reinterpret_cast<Index*>(p.index.data());
  Index* count = reinterpret_cast<Index*>(p.count.data());
  int64_t n_weights = 0;
  p.weight.reserve(size_t(n_vectors * N * 4) * sizeof(Acc));
  std::vector<int64_t> element(size_t(N), 0);
  for (int64_t v = 0; v < n_vectors; ++v, index += N, count += N) {
    const int64_t from = std::min(v * N, n - N);
    // Calls f(output, its first lane, number of its lanes, number of its inner value in the first lane).
    auto each_output = [&](auto&& f) {
      if (inner == 1) {  // a loop of its own, whose numbers of lanes are constants
        for (int64_t l = 0; l < N; ++l) f(from + l, l, int64_t(1), int64_t(0));
        return;
      }
      int64_t o = from / inner, part = from % inner;
      for (int64_t l = 0; l < N; ++o, part = 0) {
        const int64_t some = std::min(inner - part, N - l);
        f(o, l, some, part);
        l += some;
      }
    };
    int64_t lowest = row, highest = 0, last = 0, taps = 1, least = max_permuted_taps;
    each_output([&](int64_t o, int64_t l, int64_t some, int64_t part) {
      const int64_t n_taps = m.count(o), at = m.first(o) * inner + part, end = at + some - 1;
      for (int64_t k = 0; k < some; ++k) element[size_t(l + k)] = at + k, count[l + k] = Index(n_taps);
      lowest = std::min(lowest, at), highest = std::max(highest, end);
      last = std::max(last, end + (n_taps - 1) * inner);
      taps = std::max(taps, n_taps), least = std::min(least, n_taps);
    });
    const bool ragged = least < taps;
    // A load that would pass the end of the row begins earlier.
    auto first_load = [&](int64_t loaded) { return std::min(lowest, row - loaded); };
    int64_t base = first_load(N);
    PermuteTables::Reach reach = PermuteTables::one;
    if (base < 0 || last - base >= N) base = first_load(2 * N), reach = PermuteTables::two;
    if (reach == PermuteTables::two && (base < 0 || last - base >= 2 * N)) {
      if (base < 0 || highest - base >= 2 * N) return false;
      reach = PermuteTables::moving;
    }
    if (p.run.empty() || p.run.back().taps != taps || p.run.back().reach != reach || p.run.back().ragged != ragged)
      p.run.push_back({v, v, n_weights, int32_t(taps), reach, ragged});
    ++p.run.back().hi;
    p.base[size_t(v)] = base;
    for (size_t l = 0; l < size_t(N); ++l) index[l] = Index(element[l] - base) * place_step<Index> + first_place<Index>;
    const size_t at = p.weight.size();
    p.weight.resize(at + size_t(taps * N) * sizeof(Acc));  // with zeros
    n_weights += taps * N;
    Acc* const to = reinterpret_cast<Acc*>(p.weight.data() + at);
    each_output([&](int64_t o, int64_t l, int64_t some, int64_t) {
      const int64_t n_taps = m.count(o);
      const Acc* const of_output = weights ? weights + m.offset[o] : nullptr;
      for (int64_t k = 0; k < n_taps; ++k) std::fill_n(to + k * N + l, some, of_output ? of_output[k] : Acc(1));
    });
  }
  return true;
}

// Tables that gather both taps of each output next to each other, and then permute these pairs.
template <class Index, class Acc>
bool gather_pairs(const WindowMap& m, const Acc* weights, PermuteTables& p) {
  if (m.n_in < 2 || !m.start) return false;
  std::vector<int64_t> start(size_t(m.n_out));
  for (int64_t o = 0; o < m.n_out; ++o) {
    if (m.count(o) > 2) return false;
    const int64_t from = std::min(m.first(o), m.n_in - 2);  // a pair at the end of the row begins one earlier
    p.gather.push_back(from * p.inner);
    start[size_t(o)] = 2 * o + (m.count(o) ? m.first(o) - from : 0);
  }
  WindowMap pairs = m;
  pairs.n_in = 2 * m.n_out, pairs.start = start.data();
  p.pairs = true, p.row = pairs.n_in * p.inner;
  return permute_rows<Index, Acc>(pairs, weights, p);
}

template <class Index, class Acc>
void gather_taps(const WindowMap& m, const Acc* weights, PermuteTables& p) {
  const int64_t inner = p.inner, n = m.n_out * inner;
  p.pairs = false, p.pitch = round_up(n, p.lanes), p.taps = 1, p.ragged = false;
  for (int64_t o = 0; o < m.n_out; ++o) {
    p.taps = std::max(p.taps, int32_t(m.count(o)));
    p.ragged = p.ragged || m.count(o) == 0 || m.count(o) != m.count(0);
  }
  std::vector<Index> count(size_t(p.pitch), 0);
  std::vector<Acc> weight(size_t(p.taps * p.pitch), 0);
  for (int32_t k = 0; k < p.taps; ++k)
    for (int64_t o = 0; o < m.n_out; ++o) {
      // If an output has fewer taps, another tap of it is gathered instead, which its count masks.
      const int64_t column =
          std::min(m.first(o) + std::max<int64_t>(0, std::min<int64_t>(k, m.count(o) - 1)), m.n_in - 1);
      p.gather.push_back(column * inner);
      for (int64_t q = 0; q < inner; ++q) {
        count[size_t(o * inner + q)] = Index(m.count(o));
        weight[size_t(k * p.pitch + o * inner + q)] = weight_of(m, weights, o, k);
      }
    }
  p.count = bytes_of(count), p.weight = bytes_of(weight);
}

template <class Index, class Acc>
bool make(const WindowMap& m, const Acc* weights, PermuteTables& p) {
  const int64_t n_taps = m.offset ? m.offset[m.n_out] : m.n_out * m.width;
  const bool reads_most = 2 * n_taps > m.n_in;
  const PermuteTables empty = p;
  if (reads_most && permute_rows<Index, Acc>(m, weights, p)) return true;
  p = empty;
  if (gather_pairs<Index, Acc>(m, weights, p)) return true;
  if (reads_most) return false;
  p = empty;
  gather_taps<Index, Acc>(m, weights, p);
  return true;
}

}  // namespace

bool make_permute_tables(const WindowMap& m, int64_t inner, int lanes, int bytes, PermuteTables& made) {
  made = {lanes, bytes, inner, m.n_in * inner, {}, {}, {}, {}, {}, {}, false, 0, 0, false};
  if (lanes == 0 || m.n_in == 0 || m.n_out * inner < lanes) return false;
  for (int64_t o = 0; o < m.n_out; ++o)
    if (m.count(o) > max_permuted_taps) return false;
  const bool usable = bytes == 4 ? make<int32_t>(m, m.weight32, made) : make<int64_t>(m, m.weight64, made);
  join_runs(made);
  return usable;
}

}  // namespace tenter
