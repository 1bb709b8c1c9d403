// Sums of signals: of a block of adjacent targets the rows are made once, and applied to every signal.
#pragma once
#include <algorithm>
#include <stdexcept>

#include "axis-inl.hpp"
#include "dtypes-inl.hpp"
#include "positions-inl.hpp"

namespace tenter {
namespace {

constexpr int64_t block_targets = 1024, block_taps = 4096, block_sources = 1 << 14;
constexpr int64_t task_targets = 1 << 13;
constexpr int64_t task_rows = 64;

// Sources [lo, hi) of one row, as values of Acc: source i is at[i].
template <class Acc>
struct Sources {
  const Acc* at;
  int64_t lo, hi;
};

template <class Acc>
inline Index<Acc> indices(const Block<Acc>& b, int64_t t) {
  return load_unaligned<Index<Acc>>(b.index + t) - b.index[t];
}

// Of all candidates of a vector of targets, two vectors of sources hold each, or one does.
enum class Reach { one, two, more };
template <class Acc>
Reach reach(const Block<Acc>& b) {
  constexpr int N = lanes<Acc>;
  if constexpr (!permutable<Acc>) return Reach::more;
  int64_t most = 0;
  for (int64_t t = 0; t < b.n; t += N) most = std::max<int64_t>(most, b.index[t + N - 1] - b.index[t]);
  return most + b.count <= N ? Reach::one : most + b.count <= 2 * N ? Reach::two : Reach::more;
}

// Calls f(t, candidates) for every vector of targets whose sources can be loaded as whole vectors: candidates(j) is a
// vector of the j-th candidates. Returns those targets: [begin, end).
template <class Acc, Reach reach, class F>
inline std::pair<int64_t, int64_t> permuted_sources(const Block<Acc>& b, const Sources<Acc>& x, F&& f) {
  constexpr int N = lanes<Acc>;
  int64_t begin = 0, end = b.n / N * N;
  while (begin < end && b.origin + b.index[begin] < x.lo) begin += N;
  while (begin < end && b.origin + b.index[end - N] + 2 * N > x.hi) end -= N;
  for (int64_t t = begin; t < end; t += N) {
    const Acc* const from = x.at + b.origin + b.index[t];
    const Index<Acc> index = indices(b, t);
    const Vec<Acc> low = load_unaligned<Vec<Acc>>(from);
    if constexpr (reach == Reach::one) {
      f(t, [&](int64_t j) { return permute<Acc>(low, index + IndexOf<Acc>(j)); });
    } else {
      const Vec<Acc> high = load_unaligned<Vec<Acc>>(from + N);
      f(t, [&](int64_t j) { return permute<Acc>(low, high, index + IndexOf<Acc>(j)); });
    }
  }
  return {begin, end};
}

// The candidates of targets [lo, hi): of target t the j-th at to[j * room + t]. Those outside of the sources do not
// count: others stand for them.
template <class Acc>
void move_sources(const Block<Acc>& b, const Sources<Acc>& x, int64_t lo, int64_t hi, Acc* to) {
  if (lo >= hi) return;
  const bool inside = b.origin + b.index[lo] >= x.lo && b.origin + b.index[hi - 1] + b.count <= x.hi;
  const Acc* const from = x.at + b.origin;
  auto all = [&](auto&& count) __attribute__((always_inline)) {
    for (int64_t t = lo; t < hi; ++t)
      for (int64_t j = 0; j < count; ++j) to[j * b.room + t] = from[b.index[t] + j];
  };
  if (!inside) {
    for (int64_t t = lo; t < hi; ++t)
      for (int64_t j = 0; j < b.count; ++j)
        to[j * b.room + t] = x.at[std::clamp<int64_t>(b.origin + b.index[t] + j, x.lo, x.hi - 1)];
  } else if (b.count == 2) {
    all(std::integral_constant<int64_t, 2>{});
  } else {
    all(b.count);
  }
}

// The sums of one row. gaps: a target may have no source at all.
template <class Acc, bool gaps, int K>
void sum_block(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, Acc* dst, Lease& lease) {
  constexpr int N = lanes<Acc>;
  // Sums start from -0.0, which leaves the first product unchanged, the sign of a zero included.
  auto sum = [&](int64_t t, auto&& candidate) __attribute__((always_inline)) {
    Vec<Acc> sum = Acc(-0.0) - Vec<Acc>{};
    typename std::remove_cv_t<decltype(sum == sum)> counted{};
    const int64_t count = K ? K : b.count;
    for (int64_t j = 0; j < count; ++j) {
      const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + j * b.room + t);
      const auto counts = w != Vec<Acc>{};
      const Vec<Acc> next = multiply_add<Acc>(candidate(j), w, sum);
      sum = counts ? next : sum;
      if constexpr (gaps) counted |= counts;
    }
    if constexpr (gaps) sum = counted ? sum : Vec<Acc>{};
    return sum;
  };
  std::pair<int64_t, int64_t> done{0, 0};
  auto store_sum = [&](int64_t t, auto&& candidate)
                       __attribute__((always_inline)) { store_bits(dst + t, sum(t, candidate)); };
  if (reach == Reach::one) done = permuted_sources<Acc, Reach::one>(b, x, store_sum);
  else if (reach == Reach::two) done = permuted_sources<Acc, Reach::two>(b, x, store_sum);
  if (done.first == 0 && done.second == b.n) return;
  Acc* const moved = lease->gathered.get<Acc>(b.room * b.count);
  auto rest = [&](int64_t lo, int64_t hi) {
    move_sources(b, x, lo, hi, moved);
    for (int64_t t = lo; t < hi; t += N) {
      const int64_t n = std::min<int64_t>(N, hi - t);
      if (n < N)  // lanes past the end: of any value, but not uninitialized
        for (int64_t j = 0; j < b.count; ++j) std::fill(moved + j * b.room + hi, moved + j * b.room + t + N, Acc{});
      const Vec<Acc> s = sum(t, [&](int64_t j) { return load_unaligned<Vec<Acc>>(moved + j * b.room + t); });
      if (n == N) store_bits(dst + t, s);
      else std::memcpy(dst + t, &s, n * sizeof(Acc));
    }
  };
  rest(0, done.first), rest(done.second, b.n);
}

template <class Acc>
void sum_block_of_any(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, bool gaps, Acc* dst, Lease& lease) {
  if (b.count == 2 && !gaps) sum_block<Acc, false, 2>(b, x, reach, dst, lease);
  else if (b.count == 2) sum_block<Acc, true, 2>(b, x, reach, dst, lease);
  else if (b.count == 4 && !gaps) sum_block<Acc, false, 4>(b, x, reach, dst, lease);
  else sum_block<Acc, true, 0>(b, x, reach, dst, lease);
}

// ---- dtypes other than the accumulator's are converted a block at a time
template <class Acc, class In>
void widen_values(const char* from, int64_t n, Acc* to) {
  constexpr int N = lanes<Acc>;
  int64_t i = 0;
  for (; i + N <= n; i += N) store_bits(to + i, load<Acc, In>(from + i * int64_t(sizeof(In))));
  if (i == n) return;
  const Vec<Acc> last = load_masked<Acc, In>(from + i * int64_t(sizeof(In)), n - i);
  std::memcpy(to + i, &last, (n - i) * sizeof(Acc));
}
template <class Acc, class Out>
void narrow_values(const Acc* from, int64_t n, char* to) {
  constexpr int N = lanes<Acc>;
  int64_t i = 0;
  for (; i + N <= n; i += N) store<Acc, Out>(to + i * int64_t(sizeof(Out)), load_unaligned<Vec<Acc>>(from + i));
  if (i < n) store_masked<Acc, Out>(to + i * int64_t(sizeof(Out)), load_masked<Acc, Acc>(from + i, n - i), n - i);
}
template <class Acc>
struct Conversion {
  int64_t itemsize;
  void (*widen)(const char* from, int64_t n, Acc* to);  // null: none is needed
  void (*narrow)(const Acc* from, int64_t n, char* to);
};
template <class Acc, class... T>
bool conversion_of(Dtype d, Conversion<Acc>& found, Types<T...>) {
  auto is = [&]<class In>(In*) {
    if (d != dtype_of<In>) return false;
    if constexpr (std::is_same_v<Acc, In>) found = {sizeof(In), nullptr, nullptr};
    else found = {sizeof(In), widen_values<Acc, In>, narrow_values<Acc, In>};
    return true;
  };
  return (is(static_cast<T*>(nullptr)) || ...);
}

// ---- a task makes the rows of some targets, a block at a time, and applies them to some signals
template <class Acc>
class SignalRows {
 public:
  SignalRows(const SignalTask& t, Conversion<Acc> in, Conversion<Acc> out) : t_(t), in_(in), out_(out) {
    constexpr int N = lanes<Acc>;
    const double step = double(t.at.step_whole) + double(t.at.step_rest) / double(t.at.unit);
    const int64_t most = std::min(block_taps / t.count, int64_t(double(block_sources) / std::max(step, 1.0)));
    room_ = std::clamp<int64_t>(most, N, block_targets) / N * N;
  }
  template <class Rest, class Make>
  void make(int64_t lo, int64_t hi, int64_t from_row, int64_t to_row, Make&& make) const {
    Lease lease;
    Block<Acc> b;
    b.room = room_, b.count = t_.count;
    b.weight = lease->tile.template get<Acc>(room_ * (t_.count + 1));
    b.index = reinterpret_cast<IndexOf<Acc>*>(b.weight + room_ * t_.count);
    Walk<Rest> walk(t_.at, lo);
    for (; lo < hi; lo += room_) {
      make(walk, std::min(room_, hi - lo), b);
      apply(b, lo, from_row, to_row, lease);
    }
    store_fence(t_.rows.stream);
  }

 private:
  void apply(const Block<Acc>& b, int64_t lo, int64_t from_row, int64_t to_row, Lease& lease) const {
    const WindowTask& rows = t_.rows;
    const Reach reaches = reach(b);
    const int64_t begin = std::max<int64_t>(0, b.origin),
                  end = std::min(t_.n_in, b.origin + b.index[b.n - 1] + b.count);
    for (int64_t r = from_row; r < to_row; ++r) {
      const char* const src = rows.src + outer_offset(rows, r / rows.n_row) + r % rows.n_row * rows.row_stride;
      char* const dst = rows.dst + (r * t_.n_out + lo) * out_.itemsize;
      Sources<Acc> x{reinterpret_cast<const Acc*>(src), 0, t_.n_in};
      if (in_.widen) {  // with room for whole vectors
        Acc* const wide = lease->row.template get<Acc>(end - begin + 2 * lanes<Acc>);
        in_.widen(src + begin * in_.itemsize, end - begin, wide);
        std::fill(wide + (end - begin), wide + (end - begin) + 2 * lanes<Acc>, Acc{});
        x = {wide - begin, begin, end + 2 * lanes<Acc>};
      }
      const bool staged = rows.stream || out_.narrow;
      Acc* const sums = staged ? lease->staging.template get<Acc>(2 * room_) : reinterpret_cast<Acc*>(dst);
      sum_block_of_any(b, x, reaches, t_.at.unit > t_.pixel, sums, lease);
      char* made = reinterpret_cast<char*>(sums);
      if (out_.narrow) {
        made = rows.stream ? reinterpret_cast<char*>(sums + room_) : dst;
        out_.narrow(sums, b.n, made);
      }
      if (rows.stream) stream_store(dst, made, b.n * out_.itemsize);
    }
  }

  const SignalTask& t_;
  Conversion<Acc> in_, out_;
  int64_t room_;
};

template <class Acc>
bool signals_summed_in(const SignalTask& t, Team team) {
  typedef typename SummedIn<Acc>::types types;
  Conversion<Acc> in, out;
  if (!conversion_of(t.rows.in, in, types{}) || !conversion_of(t.rows.out, out, types{})) return false;
  const int64_t n_rows = outer_count(t.rows) * t.rows.n_row, chunks = ceil_div(n_rows, task_rows);
  const SignalRows<Acc> rows(t, in, out);
  const bool doubles = t.exact && t.pixel < exact_quotients && t.at.unit < exact_quotients / (t.count + 1);
  parallel(ceil_div(t.hi - t.lo, task_targets) * chunks, team, [&](int64_t p) {
    const int64_t lo = t.lo + p / chunks * task_targets, hi = std::min(t.hi, lo + task_targets);
    const int64_t from = p % chunks * task_rows, to = std::min(n_rows, from + task_rows);
    auto triangles = [&](auto& walk, int64_t n, Block<Acc>& b) { triangle_block(t, walk, n, b); };
    if (doubles) rows.template make<double>(lo, hi, from, to, triangles);
    else rows.template make<int64_t>(lo, hi, from, to, triangles);
  });
  return true;
}

void signals(const SignalTask& t, int threads) {
  const int64_t n_rows = outer_count(t.rows) * t.rows.n_row;
  const Team team = team_for(n_rows * std::max(t.n_in, t.n_out) * 8, threads);
  const bool found =
      t.rows.acc == Accumulate::f32 ? signals_summed_in<float>(t, team) : signals_summed_in<double>(t, team);
  if (!found) throw std::invalid_argument("no signal kernel for these dtypes");
}

}  // namespace
}  // namespace tenter
