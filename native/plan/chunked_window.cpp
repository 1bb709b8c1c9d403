#include "plan/chunked_window.hpp"

#include <algorithm>

#include "kernels/long_sums.hpp"
#include "kernels/window_kernels.hpp"
#include "maps/signals.hpp"
#include "plan/passes.hpp"
#include "rules/long_rows.hpp"
#include "system/memory.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// The tables of outputs [lo, hi). Inputs are counted from `first`, the first input that these outputs read.
struct Tables {
  Rows rows;
  std::vector<float> weight32;
  WindowMap map;
  int64_t first;

  void make(const OwnedMap& of, int64_t lo, int64_t hi, Accumulate acc) {
    of.make_rows(lo, hi, rows);
    const int64_t n = hi - lo;
    first = n ? rows.start[0] : 0;
    for (int64_t& start : rows.start) start -= first;
    if (acc == Accumulate::f32) weight32.assign(rows.weight.begin(), rows.weight.end());
    map = {n ? rows.stop(n - 1) : 0, n, 0, rows.start.data(), rows.offset.data()};
    if (!of.source_index) map.weight32 = weight32.data(), map.weight64 = rows.weight.data();
  }
};

// The parts of long rows (long_sums.hpp).
struct LongParts {
  struct Some {  // neighboring parts of one row: part k has the inputs [begin[k], begin[k + 1])
    const LongRow* row;
    int64_t first, begin[parts_together + 1];
    int n;
  };
  std::vector<Some> tasks;
  std::vector<int64_t> of_row{0};  // row o has the parts [of_row[o], of_row[o + 1])

  void add(const LongRow& row) {
    const int64_t count = row.stop() - row.start(), n = parts_of(count);
    for (int64_t k = 0; k < n; k += parts_together) {
      Some& some = tasks.emplace_back(&row, of_row.back() + k);
      some.n = int(std::min<int64_t>(parts_together, n - k));
      for (int p = 0; p <= parts_together; ++p)
        some.begin[p] = row.start() + part_begin(count, n, k + std::min(p, some.n));
    }
    of_row.push_back(of_row.back() + n);
  }
};

// Computes all outputs, which are few, each of very many inputs. The weights of a few parts are computed at a time,
// and stay in cache.
void sum_long_rows(const WindowTask& t, const OwnedMap& of, int threads) {
  constexpr int64_t round = 1 << 10;  // tasks between polls for signals
  int64_t outer = 1;
  for (int d = 0; d < t.n_outer; ++d) outer *= t.outer_shape[d];
  const Sampling& rule = *of.sampling;
  const int64_t inner = t.inner, n = of.map.n_out;
  std::vector<LongRow> rows;
  std::vector<int64_t> first_part(1, 0);
  for (int64_t o = 0; o < n; ++o) {
    rows.push_back(of.transposed ? LongRow::transposed(rule, o) : LongRow(rule, o));
    first_part.push_back(first_part.back() + rows.back().n_parts());
  }
  const Team team{threads, true};
  parallel(first_part.back(), team, [&](int64_t p) {
    const int64_t row = std::upper_bound(first_part.begin(), first_part.end(), p) - first_part.begin() - 1;
    rows[size_t(row)].sum_part(p - first_part[size_t(row)]);
  });
  LongParts parts;
  for (LongRow& row : rows) row.finish();
  LongRow::trim(rows);
  for (const LongRow& row : rows) parts.add(row);
  const int64_t n_parts = parts.of_row.back(), n_tasks = int64_t(parts.tasks.size());
  std::vector<double> sums(size_t(outer * n_parts * inner));
  for (int64_t done = 0; done < n_tasks; done += round) {
    if (done && interrupted && interrupted()) throw Interrupted();
    parallel(std::min(round, n_tasks - done), team, [&](int64_t k) {
      const LongParts::Some& some = parts.tasks[size_t(done + k)];
      double weight[parts_together * sum_part], sum[parts_together];
      some.row->weights(some.begin[0], some.begin[some.n] - some.begin[0], weight);
      for (int64_t j = 0; j < outer * inner; ++j) {
        const char* src = t.src + j % inner * t.inner_stride;
        int64_t index = j / inner;
        for (int d = t.n_outer - 1; d >= 0; index /= t.outer_shape[d--])
          src += index % t.outer_shape[d] * t.outer_stride[d];
        kernels().sum_parts(t.in, t.acc, src, t.column_stride, weight, some.begin, sum);
        for (int p = 0; p < some.n; ++p)
          sums[size_t((j / inner * n_parts + some.first + p) * inner + j % inner)] = sum[p];
      }
    });
  }
  const bool f64 = t.acc == Accumulate::f64;
  const std::vector<float> floats(sums.begin(), f64 ? sums.begin() : sums.end());
  const WindowMap total{n_parts, n, 0, parts.of_row.data(), parts.of_row.data()};
  WindowTask store = t;
  store.in = f64 ? Dtype::f64 : Dtype::f32, store.column = &total, store.n_column = n_parts;
  store.src = f64 ? reinterpret_cast<const char*>(sums.data()) : reinterpret_cast<const char*>(floats.data());
  store.inner_stride = size_of(store.in), store.column_stride = store.inner_stride * inner;
  int64_t step = store.column_stride * n_parts;
  for (int d = t.n_outer - 1; d >= 0; --d) store.outer_stride[d] = step, step *= t.outer_shape[d];
  choose_and_sum(store, threads);
}

// Computes the n rows at one end of an axis with a periodic edge mode. Copies the few inputs that they read into the
// order in which they read them. t: a task with row_pitch and outer_pitch set. at: the first of these outputs.
void window_at_end(WindowTask t, const Ends::Some& end, int64_t n, int64_t at, int threads) {
  if (!n) return;
  const bool columns = t.column != nullptr;
  const int64_t size_in = size_of(t.in), n_read = int64_t(end.order.size());
  Dim dims[max_axes];
  const std::vector<int64_t>* orders[max_axes] = {};
  int count = 0;
  for (int d = 0; d < t.n_outer; ++d) dims[count++] = {t.outer_shape[d], t.outer_stride[d]};
  orders[count] = &end.order;
  dims[count++] = columns ? Dim{t.n_column, t.column_stride} : Dim{t.n_row, t.row_stride};
  dims[count++] = columns ? Dim{t.inner, t.inner_stride} : Dim{t.n_column, t.column_stride};
  int64_t bytes = size_in;
  for (int d = 0; d < count; ++d) bytes *= orders[d] ? n_read : dims[d].n;
  Room room;
  char* const packed = room.get(std::max<int64_t>(1, bytes));
  pack(dims, count, size_in, t.src, packed, threads, orders);
  dims[t.n_outer].n = n_read;
  set_contiguous(dims, count, size_in);
  for (int d = 0; d < t.n_outer; ++d) t.outer_stride[d] = dims[d].stride;
  std::vector<float> weight32;
  if (t.acc == Accumulate::f32) weight32.assign(end.rows.weight.begin(), end.rows.weight.end());
  const WindowMap map{
      n_read, n, 0, end.rows.start.data(), end.rows.offset.data(), weight32.data(), end.rows.weight.data()};
  if (columns) t.column = &map, t.n_column = n_read, t.column_stride = dims[count - 2].stride;
  else t.row = &map, t.n_row = n_read, t.row_stride = dims[count - 2].stride;
  if (columns) t.inner_stride = size_in;
  else t.column_stride = size_in;
  t.src = packed, t.dst += at * (columns ? t.inner : t.n_column) * size_of(t.out);
  if constexpr (verifies) verify(t, 1);
  choose_and_sum(t, threads);
}

// Computes one window task of one axis, whose map has no tables for all outputs.
class ChunkedWindow {
 public:
  ChunkedWindow(const WindowTask& t, OwnedMap& of, int threads)
      : task_(t),
        of_(of),
        threads_(threads),
        columns_(t.column != nullptr),
        n_out_(of.map.n_out),
        inner_(columns_ ? t.inner : t.n_column * t.inner),
        stride_(columns_ ? t.column_stride : t.row_stride),
        chunk_(std::clamp<int64_t>(tuning.tap_block / std::max<int64_t>(1, of.taps_each()), 1, tuning.tap_outputs)),
        first_(of.gathers() ? of.ends->lo : 0),
        last_(of.gathers() ? of.ends->hi : n_out_),
        chunk_task_(t) {
    chunk_task_.row_pitch = chunk_task_.outer_pitch = n_out_ * inner_;
    for (int d = 0; d < t.n_outer; ++d) outer_ *= t.outer_shape[d];
  }

  // Computing the weights of filters costs more than loading them from tables.
  Kernel kernel() const {
    SignalTask signal;
    const bool is_signal = sums_as_signal(signal_task(task_, of_, signal));
    const bool filtered = of_.sampling && of_.sampling->is_filtered_signal();
    if (is_signal && !filtered) return Kernel::signal;
    if (of_.gathers() && of_.has_tables()) return Kernel::inside;
    if (has_long_lines() && sums_long_lines(n_out_, of_.taps_each(), n_tabled(), outer_ * inner_))
      return Kernel::long_rows;
    if (columns_ && tiles().length) return Kernel::periods;
    if (is_signal) return Kernel::filtered_signal;
    const bool sums_are_long = columns_ && of_.sampling && !of_.transposed && !of_.ends && !task_.clamps &&
                               of_.sampling->has_long_rows() && sums_long_rows(outer_ * inner_);
    return sums_are_long ? Kernel::long_rows : Kernel::chunks;
  }

  // The work beside that of its sums.
  Work work() const {
    const double each = double(of_.taps_each());
    Work w;
    if (task_.kernel == Kernel::long_rows) w.lines = double(n_out_), w.line_taps = w.lines * each;
    if (task_.kernel == Kernel::periods) w.table_taps = double(n_tabled()) * each, w.row_taps = each;
    if (task_.kernel == Kernel::chunks) w.table_taps = double(n_out_) * each, w.row_taps = each;
    return w;
  }

  void run() {
    run_chunks(run_at_once());
    if (!of_.gathers()) return;
    window_at_end(chunk_task_, of_.ends->before, first_, 0, threads_);
    window_at_end(chunk_task_, of_.ends->after, n_out_ - last_, last_, threads_);
  }

 private:
  struct Outputs {
    int64_t lo, hi;
  };
  // Neighboring outputs [lo, hi) as tiles of equal rows, whose inputs are `shift` apart.
  struct Tiles {
    int64_t length, shift, lo, hi;
  };

  // Whether long rows of a transpose need no tables.
  bool has_long_lines() const {
    return columns_ && of_.transposed && of_.sampling && !of_.ends && !task_.clamps && of_.sampling->has_lines();
  }
  // Rows with a table, if some repeat others.
  int64_t n_tabled() const {
    const Tiles t = tiles();
    return t.length ? n_out_ - (t.hi - t.lo) + t.length : n_out_;
  }
  int lanes() const { return task_.acc == Accumulate::f64 ? kernels().double_lanes : kernels().float_lanes; }
  int lane_bytes() const { return task_.acc == Accumulate::f64 ? 8 : 4; }

  // Computes as many outputs as it can without a table for each chunk, and returns these. None of them is at an end
  // that gathers.
  Outputs run_at_once() {
    SignalTask signal;
    switch (task_.kernel) {
      case Kernel::signal:
        signal_task(task_, of_, signal);
        kernels().signals(signal, threads_);
        return {signal.lo, signal.hi};
      case Kernel::filtered_signal:
        signal_task(task_, of_, signal);
        run_filtered_signal(signal);
        return {signal.lo, signal.hi};
      case Kernel::inside: run_inside(); return {first_, last_};
      case Kernel::periods: return run_tiles(tiles());
      case Kernel::long_rows: sum_long_rows(chunk_task_, of_, threads_); return {first_, last_};
      default: return {first_, first_};
    }
  }

  // The rows between those at the ends have tables.
  void run_inside() {
    WindowTask call = chunk_task_;
    call.dst += first_ * inner_ * size_of(task_.out);
    if (columns_) call.column = &of_.inside->map;
    else call.row = &of_.inside->map;
    if (columns_ && takes_permutes(task_, outer_, true))
      call.permutes = of_.inside->permute_tables(task_.inner, lanes(), lane_bytes());
    if constexpr (verifies) verify(call, 1);
    if (first_ < last_) choose_and_sum(call, threads_);
  }

  // On a periodic axis, outputs that are a whole number of periods apart have equal rows. The axis is cut into tiles of
  // so many outputs. The tiles are the rows of one call, with the tables of one tile. Of length 0 if there are too few.
  Tiles tiles() const {
    const int64_t least = least_tiles();
    Tiles t{};
    int64_t period, shift;
    if (!least || !of_.periods(n_out_ / least, period, shift)) return t;
    of_.interior(t.lo, t.hi);
    const int64_t want = std::clamp<int64_t>(std::min(chunk_, (t.hi - t.lo) / least), 1, chunk_);
    const int64_t times = ceil_div(want, period), length = period * times;
    t.shift = shift * times, t.hi = t.lo + (t.hi - t.lo) / length * length;
    if (t.hi - t.lo >= least * length) t.length = length;
    return t;
  }
  Outputs run_tiles(const Tiles& t) {
    Tables tables;
    tables.make(of_, t.lo, t.lo + t.length, task_.acc);
    run_window(tables, t.lo, (t.hi - t.lo) / t.length, t.shift, threads_);
    return {t.lo, t.hi};
  }

  // The kernel leaves out rows that have weights of zero. These are computed with tables.
  void run_filtered_signal(SignalTask& signal) {
    std::vector<uint8_t> left(size_t(ceil_div(signal.hi - signal.lo, left_targets)));
    signal.left = left.data();
    kernels().signals(signal, threads_);
    for (size_t b = 0; b < left.size(); ++b) {
      if (!left[b]) continue;
      const size_t begin = b;
      while (b + 1 < left.size() && left[b + 1] && int64_t(b + 2 - begin) * left_targets <= chunk_) ++b;
      run_chunk(signal.lo + int64_t(begin) * left_targets,
                std::min(signal.hi, signal.lo + int64_t(b + 1) * left_targets), 1);
    }
  }

  // Computes the outputs before and after those that are done, in chunks, each with its tables.
  void run_chunks(const Outputs& done) {
    const int64_t before = ceil_div(done.lo - first_, chunk_), after = ceil_div(last_ - done.hi, chunk_);
    const int64_t values = outer_ * std::max(of_.map.n_in, n_out_) * inner_ * 8;
    const auto run = [&](int64_t c, int threads) {
      const int64_t from = c < before ? first_ + c * chunk_ : done.hi + (c - before) * chunk_;
      run_chunk(from, std::min(c < before ? done.lo : last_, from + chunk_), threads);
    };
    // Few chunks are shared by the threads, if their sums take longer than their tables, which one thread makes.
    const bool few = before + after < threads_ && outer_ * inner_ >= least_shared;
    for (int64_t c = 0; few && c < before + after; ++c) run(c, threads_);
    if (!few) parallel(before + after, team_for(values, threads_), [&](int64_t c) { run(c, 1); });
  }
  void run_chunk(int64_t lo, int64_t hi, int threads) {
    Tables tables;
    tables.make(of_, lo, hi, task_.acc);
    run_window(tables, lo, 1, 0, threads);
  }

  // Computes outputs from `lo` on, of `tiles` tiles whose inputs are `shift` apart. Columns of many rows, and tiles of
  // one row, may use permute tables.
  void run_window(const Tables& tables, int64_t lo, int64_t tiles, int64_t shift, int threads) {
    WindowTask call = chunk_task_;
    call.src += tables.first * stride_, call.dst += lo * inner_ * size_of(task_.out);
    PermuteTables permutes;
    if (columns_) {
      call.column = &tables.map, call.n_column = tables.map.n_in;
      call.n_row = tiles, call.row_stride = shift * stride_;
      if (tiles > 1) call.row_pitch = tables.map.n_out * inner_;
      if (takes_permutes(task_, outer_ * tiles, true) &&
          make_permute_tables(tables.map, task_.inner, lanes(), lane_bytes(), permutes))
        call.permutes = &permutes;
    } else {
      call.row = &tables.map, call.n_row = tables.map.n_in;
    }
    if constexpr (verifies) verify(call, 1);
    choose_and_sum(call, threads);
  }

  const WindowTask& task_;
  OwnedMap& of_;
  const int threads_;
  const bool columns_;  // whether the axis is the task's column, else its row
  const int64_t n_out_, inner_, stride_;
  const int64_t chunk_;         // outputs per chunk
  const int64_t first_, last_;  // outputs [first_, last_) are not at an end that gathers
  WindowTask chunk_task_;       // the task with pitches, as chunks are parts of longer rows
  int64_t outer_ = 1;
};

}  // namespace

Kernel chunked_kernel(const WindowTask& t, OwnedMap& of) { return ChunkedWindow(t, of, 1).kernel(); }

Work chunked_work(const WindowTask& t, OwnedMap& of) { return ChunkedWindow(t, of, 1).work(); }

void window_in_chunks(const WindowTask& t, OwnedMap& of, int threads) { ChunkedWindow(t, of, threads).run(); }

}  // namespace tenter
