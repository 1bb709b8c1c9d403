// Sums of many signals. The rows of a block of adjacent targets are made once, and applied to every signal.
#pragma once
#include <algorithm>

#include "levels/axis-inl.hpp"
#include "levels/dtypes-inl.hpp"
#include "levels/signal_filters-inl.hpp"
#include "levels/signal_sums-inl.hpp"
#include "levels/spread-inl.hpp"

namespace tenter {
namespace {

constexpr int64_t block_targets = 1024, block_taps = 4096, block_sources = 1 << 14;
constexpr int64_t run_targets = 1 << 12;
constexpr int64_t short_row = 256;
constexpr int64_t task_rows = 64;

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
  void (*widen)(const char* from, int64_t n, Acc* to);  // null if no conversion is needed
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
        filters_(t.kind == SignalTask::filtered || t.kind == SignalTask::filtered_transposed),
        spreads_(t.transposed && t.forward.step_whole >= (filters_ ? t.forward_count : 2)),
        gaps_((t.kind == SignalTask::filtered_transposed && t.count == 2) ||
              (t.kind == SignalTask::triangle && t.at.unit > t.pixel)) {
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
    if (filters_ && spreads_) spread_windows(lo, hi, from, to);
    else if (filters_) make_filtered(lo, hi, from, to);
    else if (spreads_ && doubles) spread<double>(lo, hi, from, to);
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

  void make_filtered(int64_t lo, int64_t hi, int64_t from, int64_t to) const {
    Lease lease;
    Block<Acc> b{};
    b.room = room_, b.count = t_.count;
    b.weight = lease->tile.template get<Acc>(room_ * (t_.count + 1));
    b.index = reinterpret_cast<IndexOf<Acc>*>(b.weight + room_ * t_.count);
    Walk<double> walk(t_.at, lo);
    for (; lo < hi; lo += room_) {
      const int64_t n = std::min(room_, hi - lo);
      if (t_.transposed) filtered_transposed_block(t_, walk, lo, n, b, lease);
      else filtered_block(t_, walk, n, b, lease, [&](int64_t k) { leave(t_, lo + k); });
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
    multiply_sources(b, {weights - b.origin, b.origin, b.origin + read}, reach(b), lease);
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
        write(r, lo, n, lease, [&](Loose<Acc>* sums) {
          const Sources<Acc> x = sources(first, b.n, r, lease);
          if (t_.kind == SignalTask::triangle) write_pairs(b, x.at + first, x.at + x.hi, made, sums, lo, n);
          else write_runs(b, x.at + first, x.at + x.hi, made, sums, lo, n, t_.forward_count);
        });
    }
  }

  void spread_windows(int64_t lo, int64_t hi, int64_t from, int64_t to) const {
    constexpr int N = lanes<Acc>;
    Lease lease;
    Block<Acc> b{};
    b.room = round_up(room_ / t_.forward.step_whole + 5, N), b.count = t_.forward_count;
    b.weight = lease->tile.template get<Acc>((b.count + 1) * b.room);
    b.index = reinterpret_cast<IndexOf<Acc>*>(b.weight + b.count * b.room);
    Acc* const made = lease->gathered.template get<Acc>(b.count * b.room);
    for (; lo < hi; lo += room_) {
      const int64_t n = std::min(hi - lo, room_);
      auto [first, end] = sources_of(t_, lo, lo + n);  // rows extend half a source further
      first = std::max<int64_t>(0, first - 1), end = std::max(first, std::min(t_.n_in, end + 1));
      Walk<double> walk(t_.forward, first);
      filtered_block(t_, walk, end - first, b, lease, [&](int64_t k) {
        const int64_t at = b.origin + b.index[k];
        for (int64_t i = std::max(lo, at); i < std::min(lo + n, at + b.count); ++i) leave(t_, i);
      });
      for (int64_t r = from; r < to; ++r)
        write(r, lo, n, lease, [&](Loose<Acc>* sums) {
          const Sources<Acc> x = sources(first, b.n, r, lease);
          write_windows(b, x.at + first, x.at + x.hi, made, sums, lo, n);
        });
    }
  }

  // Sources [begin, begin + n) of row r, and perhaps more, in place or converted.
  Sources<Acc> sources(int64_t begin, int64_t n, int64_t r, Lease& lease) const {
    constexpr int N = lanes<Acc>;
    const WindowTask& rows = t_.rows;
    const char* const src = rows.src + outer_offset(rows, r / rows.n_row) + r % rows.n_row * rows.row_stride;
    // Whole vectors are read. In a short row most of them would end after the row, so a padded copy is read instead.
    if (!in_.widen && t_.n_in > short_row) return {reinterpret_cast<const Loose<Acc>*>(src), 0, t_.n_in};
    n = std::min(t_.n_in, begin + n), begin = std::max<int64_t>(0, begin), n -= begin;
    Acc* const wide = lease->row.template get<Acc>(n + 4 * N);
    if (in_.widen) in_.widen(src + begin * in_.itemsize, n, wide);
    else std::memcpy(wide, src + begin * in_.itemsize, size_t(n) * sizeof(Acc));
    std::fill(wide + n, wide + n + 4 * N, Acc{});
    return {wide - begin, begin, begin + n + 4 * N};
  }

  // Stores targets [lo, lo + n) of row r, which `make` computes.
  template <class Make>
  void write(int64_t r, int64_t lo, int64_t n, Lease& lease, Make&& make) const {
    char* const dst = t_.rows.dst + (r * t_.n_out + lo) * out_.itemsize;
    const bool stream = t_.rows.stream;
    if (!stream && !out_.narrow) return make(reinterpret_cast<Loose<Acc>*>(dst));
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
    const Sources<Acc> x = sources(b.origin, b.index[b.n - 1] + b.count, r, lease);
    write(r, lo, b.n, lease, [&](Loose<Acc>* sums) {
      if (!segments_) sum_block_of_any(b, x, reach(b), gaps_, sums, lease);
      else sum_segments(b, x, sums);
    });
  }

  const SignalTask& t_;
  Conversion<Acc> in_, out_;
  bool segments_, filters_, spreads_, gaps_;  // gaps_: a target may have no source
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
  // Computing a filter's weight takes as long as moving several values.
  const bool filters = t.kind >= SignalTask::filtered;
  const int64_t each = 8 * (filters ? std::max<int64_t>(1, t.forward_count / 2) : 1);
  const Team team = team_for(n_rows * std::max(t.n_in, t.n_out) * each, threads);
  const bool found =
      t.rows.acc == Accumulate::f32 ? signals_summed_in<float>(t, team) : signals_summed_in<double>(t, team);
  if (!found) no_kernel("no signal kernel for these dtypes");
}

}  // namespace
}  // namespace tenter
