// Sums of signals: of a block of adjacent targets the rows are made once, and applied to every signal.
#pragma once
#include <algorithm>
#include <stdexcept>

#include "axis-inl.hpp"
#include "dtypes-inl.hpp"
#include "positions-inl.hpp"
#include "spread-inl.hpp"

namespace tenter {
namespace {

constexpr int64_t block_targets = 1024, block_taps = 4096, block_sources = 1 << 14;
constexpr int64_t run_targets = 1 << 12;
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

// How many vectors of sources hold all candidates of a vector of targets; 0: more than can be permuted.
typedef int Reach;
template <class Acc>
Reach reach(const Block<Acc>& b) {
  constexpr int N = lanes<Acc>;
  if constexpr (!permutable<Acc>) return 0;
  int64_t most = 0;
  for (int64_t t = 0; t < b.n; t += N) most = std::max<int64_t>(most, b.index[t + N - 1] - b.index[t]);
  most += b.count;
  return most <= N ? 1 : most <= 2 * N ? 2 : most <= 4 * N ? 4 : 0;
}

// Calls f(t, candidates) for every vector of targets whose sources can be loaded as whole vectors: candidates(j) is a
// vector of the j-th candidates. Returns those targets: [begin, end).
template <class Acc, Reach reach, class F>
inline std::pair<int64_t, int64_t> permuted_sources(const Block<Acc>& b, const Sources<Acc>& x, F&& f) {
  constexpr int N = lanes<Acc>;
  int64_t begin = 0, end = b.n / N * N;
  while (begin < end && b.origin + b.index[begin] < x.lo) begin += N;
  while (begin < end && b.origin + b.index[end - N] + reach * N > x.hi) end -= N;
  for (int64_t t = begin; t < end; t += N) {
    const Acc* const from = x.at + b.origin + b.index[t];
    const Index<Acc> index = indices(b, t);
    Vec<Acc> held[reach];
    for (int v = 0; v < reach; ++v) held[v] = load_unaligned<Vec<Acc>>(from + v * N);
    f(t, [&](int64_t j) __attribute__((always_inline)) {
      const Index<Acc> at = index + IndexOf<Acc>(j);
      if constexpr (reach == 1) return permute<Acc>(held[0], at);
      else if constexpr (reach == 2) return permute<Acc>(held[0], held[1], at);
      else return at < 2 * N ? permute<Acc>(held[0], held[1], at) : permute<Acc>(held[2], held[3], at - 2 * N);
    });
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

// Calls f(t, n, candidates) for all vectors of targets, of which n are within the block.
template <class Acc, class F>
inline void each_vector(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, Lease& lease, F&& f) {
  constexpr int N = lanes<Acc>;
  std::pair<int64_t, int64_t> done{0, 0};
  auto whole = [&](int64_t t, auto&& candidates) __attribute__((always_inline)) { f(t, N, candidates); };
  with_constant<1, 2, 4>(reach, [&]<int vectors>() { done = permuted_sources<Acc, vectors>(b, x, whole); });
  if (done.first == 0 && done.second == b.n) return;
  // All are moved before any is summed: loads of vectors wait for the stores of single values in them.
  Acc* const moved = lease->gathered.get<Acc>(b.room * b.count);
  auto rest = [&](int64_t lo, int64_t hi) {
    move_sources(b, x, lo, hi, moved);
    for (int64_t t = lo; t < hi; t += N) {
      if (t + N > hi)  // lanes past the end: of any value, but not uninitialized
        for (int64_t j = 0; j < b.count; ++j) std::fill(moved + j * b.room + hi, moved + j * b.room + t + N, Acc{});
      f(t, int(std::min<int64_t>(N, hi - t)),
        [&](int64_t j) { return load_unaligned<Vec<Acc>>(moved + j * b.room + t); });
    }
  };
  rest(0, done.first), rest(done.second, b.n);
}

// The sums of one row. gaps: a target may have no source at all. K: the number of candidates, or 0.
template <class Acc, bool gaps, int K>
void sum_block(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, Acc* dst, Lease& lease) {
  each_vector(b, x, reach, lease, [&](int64_t t, int n, auto&& candidates) __attribute__((always_inline)) {
    // Sums start from -0.0, which leaves the first product unchanged, the sign of a zero included.
    Vec<Acc> sum = Acc(-0.0) - Vec<Acc>{};
    typename std::remove_cv_t<decltype(sum == sum)> counted{};
    const int64_t count = K ? K : b.count;
    for (int64_t j = 0; j < count; ++j) {
      const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + j * b.room + t);
      const auto counts = w != Vec<Acc>{};
      const Vec<Acc> next = multiply_add<Acc>(candidates(j), w, sum);
      sum = counts ? next : sum;
      if constexpr (gaps) counted |= counts;
    }
    if constexpr (gaps) sum = counted ? sum : Vec<Acc>{};
    if (n == lanes<Acc>) store_bits(dst + t, sum);
    else std::memcpy(dst + t, &sum, n * sizeof(Acc));
  });
}

template <class Acc>
void sum_block_of_any(const Block<Acc>& b, const Sources<Acc>& x, Reach reach, bool gaps, Acc* dst, Lease& lease) {
  if (b.count == 2 && !gaps) sum_block<Acc, false, 2>(b, x, reach, dst, lease);
  else if (b.count == 2) sum_block<Acc, true, 2>(b, x, reach, dst, lease);
  else if (b.count == 3 && !gaps) sum_block<Acc, false, 3>(b, x, reach, dst, lease);
  else if (b.count == 4 && !gaps) sum_block<Acc, false, 4>(b, x, reach, dst, lease);
  else sum_block<Acc, true, 0>(b, x, reach, dst, lease);
}

// Weights that are ones where they count become those of the sources, which all rows have in common.
template <class Acc>
void weigh_sources(const Block<Acc>& b, const Sources<Acc>& weights, Reach reach, Lease& lease) {
  each_vector(b, weights, reach, lease, [&](int64_t t, int, auto&& candidates) __attribute__((always_inline)) {
    for (int64_t j = 0; j < b.count; ++j) {
      Acc* const w = b.weight + j * b.room + t;
      store_bits(w, load_unaligned<Vec<Acc>>(w) * candidates(j));
    }
  });
}

// The vectors part(0), part(1)... one after the other.
template <class Acc, int H, int n, class F>
inline VecN<Acc, H * n> joined(F&& part) {
  if constexpr (n == 1) {
    return part(0);
  } else {
    const auto low = joined<Acc, H, n / 2>(part);
    const auto high = joined<Acc, H, n / 2>([&](int i) __attribute__((always_inline)) { return part(i + n / 2); });
    return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
      return (VecN<Acc, H * n>)__builtin_shufflevector(low, high, i...);
    }(std::make_integer_sequence<int, H * n>{});
  }
}

// Means of many sources each: all but the last are weighed by b.weight[t], the last by b.weight[room + t], unless that
// is 0. Of every target, 16 bytes of adjacent sources are loaded at a time. They are parts of vectors that are
// transposed within each 16 bytes, into vectors of targets.
template <class Acc>
void sum_segments(const Block<Acc>& b, const Sources<Acc>& x, Acc* dst) {
  constexpr int N = lanes<Acc>, H = 16 / int(sizeof(Acc));
  typedef VecN<Acc, H> Part;
  const int64_t last = b.count - 1;
  const Acc* const end = x.at + x.hi;
  for (int64_t t = 0; t < b.n; t += N) {
    const Acc* from[N];
    for (int l = 0; l < N; ++l) from[l] = x.at + b.origin + b.index[std::min<int64_t>(t + l, b.n - 1)];
    const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + t), w_last = load_unaligned<Vec<Acc>>(b.weight + b.room + t);
    Vec<Acc> sum = Acc(-0.0) - Vec<Acc>{};
    // Sources [k, k + H) of every target.
    auto load_square = [&](int64_t k, Vec<Acc>* square, auto&& part) __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int l = 0; l < H; ++l)
        square[l] =
            joined<Acc, H, N / H>([&](int i) __attribute__((always_inline)) { return part(from[l + i * H] + k); });
      transpose<Acc, H>(square);
    };
    auto add_last = [&](int64_t k, const Vec<Acc>* square) __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int j = 0; j < H; ++j) {
        if (k + j < last) sum = multiply_add<Acc>(square[j], w, sum);
        else if (k + j == last) sum = w_last != Vec<Acc>{} ? multiply_add<Acc>(square[j], w_last, sum) : sum;
      }
    };
    int64_t k = 0;
    auto whole = [](const Acc* p) __attribute__((always_inline)) { return load_unaligned<Part>(p); };
    for (; k + H <= last; k += H) {
      Vec<Acc> square[H];
      load_square(k, square, whole);
#pragma GCC unroll 16
      for (int j = 0; j < H; ++j) sum = multiply_add<Acc>(square[j], w, sum);
    }
    for (; k <= last; k += H) {
      Vec<Acc> square[H];
      if (from[N - 1] + k + H <= end) load_square(k, square, whole);
      else
        load_square(k, square, [&](const Acc* p) {
          Part values{};
          std::memcpy(&values, p, std::clamp<int64_t>(end - p, 0, H) * sizeof(Acc));
          return values;
        });
      add_last(k, square);
    }
    if (t + N <= b.n) store_bits(dst + t, sum);
    else std::memcpy(dst + t, &sum, (b.n - t) * sizeof(Acc));
  }
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
  SignalRows(const SignalTask& t, Conversion<Acc> in, Conversion<Acc> out)
      : t_(t),
        in_(in),
        out_(out),
        segments_(t.kind == SignalTask::touched && t.count > 3),
        spreads_(t.transposed && t.forward.step_whole >= 2),
        gaps_(t.kind == SignalTask::triangle && t.at.unit > t.pixel) {
    constexpr int64_t N = lanes<Acc>;
    const double step = double(t.at.step_whole) + double(t.at.step_rest) / double(t.at.unit);
    const int64_t most = std::min(segments_ ? block_targets : block_taps / t.count,
                                  int64_t(double(block_sources) / std::max(step, 1.0)));
    if (spreads_) room_ = run_targets;
    else room_ = std::clamp<int64_t>(most, N, block_targets) / N * N;
  }

  // Targets [lo, hi) of rows [from, to).
  void make(int64_t lo, int64_t hi, int64_t from, int64_t to) const {
    const bool doubles = t_.exact && t_.pixel < exact_quotients && t_.at.unit < exact_quotients / (t_.count + 1);
    if (spreads_ && doubles) spread<double>(lo, hi, from, to);
    else if (spreads_) spread<int64_t>(lo, hi, from, to);
    else if (doubles) make_by<double>(lo, hi, from, to);
    else make_by<int64_t>(lo, hi, from, to);
    store_fence(t_.rows.stream);
  }

 private:
  template <class Rest>
  void make_by(int64_t lo, int64_t hi, int64_t from, int64_t to) const {
    Lease lease;
    const int64_t weights = segments_ ? 2 : t_.count;
    Block<Acc> b{};
    b.room = room_, b.count = t_.count;
    b.weight = lease->tile.template get<Acc>(room_ * (weights + 1));
    b.index = reinterpret_cast<IndexOf<Acc>*>(b.weight + room_ * weights);
    Walk<Rest> walk(t_.at, lo);
    for (; lo < hi; lo += room_) {
      fill(walk, std::min(room_, hi - lo), b, lease);
      for (int64_t r = from; r < to; ++r) apply(b, lo, r, lease);
    }
  }

  void fill(Walk<int64_t>& walk, int64_t n, Block<Acc>& b, Lease&) const { triangle_block(t_, walk, n, b); }
  void fill(Walk<double>& walk, int64_t n, Block<Acc>& b, Lease& lease) const {
    if (t_.kind == SignalTask::triangle) return triangle_block(t_, walk, n, b);
    if (t_.kind == SignalTask::touched) return touched_block(t_, walk, n, b, segments_);
    touched_transposed_block(t_, walk, n, b);
    constexpr int N = lanes<Acc>;
    const int64_t read = b.index[b.n - 1] + b.count + 4 * N;
    Acc* const weights = lease->plane.template get<Acc>(read + N);
    forward_weights(t_, b.origin, read, weights);
    weigh_sources(b, {weights - b.origin, b.origin, b.origin + read}, reach(b), lease);
  }

  template <class Rest>
  void spread(int64_t lo, int64_t hi, int64_t from, int64_t to) const {
    constexpr int N = lanes<Acc>;
    Lease lease;
    SignalTask forward = t_;
    forward.at = t_.forward, forward.first = 0, forward.count = 2, forward.transposed = false;
    Block<Acc> b{};
    b.room = round_up(room_ / t_.forward.step_whole + 3, N), b.count = 2;
    b.weight = lease->tile.template get<Acc>(3 * b.room);
    b.index = reinterpret_cast<IndexOf<Acc>*>(b.weight + 2 * b.room);
    Acc* const made = lease->gathered.template get<Acc>(2 * (b.room + N));
    for (; lo < hi; lo += room_) {
      const int64_t n = std::min(hi - lo, room_);
      const auto [first, end] = sources_of(t_, lo, lo + n);
      if (t_.kind == SignalTask::triangle) {
        Walk<Rest> walk(t_.forward, first);
        triangle_block(forward, walk, end - first, b);
      } else {
        fill_runs(forward, first, end - first, b);
      }
      for (int64_t r = from; r < to; ++r)
        write(r, lo, n, lease, [&](Acc* sums) {
          const Sources<Acc> x = sources(first, b.n, r, lease);
          if (t_.kind == SignalTask::triangle) write_pairs(b, x.at + first, x.at + x.hi, made, sums, lo, n);
          else write_runs(b, x.at + first, x.at + x.hi, made, sums, lo, n, t_.forward_count);
        });
    }
  }

  // Sources [begin, begin + n) of row r and others, as they are or converted.
  Sources<Acc> sources(int64_t begin, int64_t n, int64_t r, Lease& lease) const {
    constexpr int N = lanes<Acc>;
    const WindowTask& rows = t_.rows;
    const char* const src = rows.src + outer_offset(rows, r / rows.n_row) + r % rows.n_row * rows.row_stride;
    if (!in_.widen) return {reinterpret_cast<const Acc*>(src), 0, t_.n_in};
    n = std::min(t_.n_in, begin + n), begin = std::max<int64_t>(0, begin), n -= begin;
    Acc* const wide = lease->row.template get<Acc>(n + 4 * N);  // with room for whole vectors
    in_.widen(src + begin * in_.itemsize, n, wide);
    std::fill(wide + n, wide + n + 4 * N, Acc{});
    return {wide - begin, begin, begin + n + 4 * N};
  }

  // Targets [lo, lo + n) of row r, which `make` writes.
  template <class Make>
  void write(int64_t r, int64_t lo, int64_t n, Lease& lease, Make&& make) const {
    char* const dst = t_.rows.dst + (r * t_.n_out + lo) * out_.itemsize;
    const bool stream = t_.rows.stream;
    if (!stream && !out_.narrow) return make(reinterpret_cast<Acc*>(dst));
    Acc* const sums = lease->staging.template get<Acc>(2 * room_);
    make(sums);
    char* made = reinterpret_cast<char*>(sums);
    if (out_.narrow) {
      if (stream) made = reinterpret_cast<char*>(sums + room_);
      else made = dst;
      out_.narrow(sums, n, made);
    }
    if (stream) stream_store(dst, made, n * out_.itemsize);
  }

  void apply(const Block<Acc>& b, int64_t lo, int64_t r, Lease& lease) const {
    constexpr int N = lanes<Acc>;
    const Sources<Acc> x = sources(b.origin, b.index[b.n - 1] + b.count, r, lease);
    write(r, lo, b.n, lease, [&](Acc* sums) {
      if (!segments_) sum_block_of_any(b, x, reach(b), gaps_, sums, lease);
      else sum_segments(b, x, sums);
    });
  }

  const SignalTask& t_;
  Conversion<Acc> in_, out_;
  bool segments_, spreads_, gaps_;  // gaps_: a target may have no source
  int64_t room_;
};

template <class Acc>
bool signals_summed_in(const SignalTask& t, Team team) {
  typedef typename SummedIn<Acc>::types types;
  Conversion<Acc> in, out;
  if (!conversion_of(t.rows.in, in, types{}) || !conversion_of(t.rows.out, out, types{})) return false;
  const int64_t n_rows = outer_count(t.rows) * t.rows.n_row, chunks = ceil_div(n_rows, task_rows);
  const SignalRows<Acc> rows(t, in, out);
  const int64_t step = 2 * tuning.column_step;
  parallel(ceil_div(t.hi - t.lo, step) * chunks, team, [&](int64_t p) {
    const int64_t lo = t.lo + p / chunks * step, from = p % chunks * task_rows;
    rows.make(lo, std::min(t.hi, lo + step), from, std::min(n_rows, from + task_rows));
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
