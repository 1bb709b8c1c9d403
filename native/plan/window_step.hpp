// A plan's step that sums by window maps.
#pragma once
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>

#include "kernels/long_sums.hpp"
#include "kernels/normalize.hpp"
#include "kernels/window_kernels.hpp"
#include "maps/owned_map.hpp"
#include "maps/signals.hpp"
#include "plan/chunked_window.hpp"
#include "plan/joined_rows.hpp"
#include "plan/kernel_call.hpp"
#include "rules/source_index.hpp"
#include "rules/verify.hpp"
#include "system/gil.hpp"
#include "system/tuning.hpp"

namespace tenter {

struct WindowStep final : KernelCall {
  WindowTask task{};
  int64_t n_plane, n_rows;                    // length of the plane axis; product of all outer axes, planes and rows
  OwnedMap* columns = nullptr;                // the map of the columns, borrowed, which caches permute tables
  OwnedMap* computed = nullptr;               // the map of a single axis, if it has no tables
  bool is_signal = false;                     // whether this map needs no tables although the axis is short
  bool by_tables = false;                     // whether it is faster with tables, which are made after some uses
  mutable std::atomic<int> uses{0};           // how often it was used; two uses at once may count as one
  const SourceIndex* source_index = nullptr;  // source indices that the sums transpose, if there is a kernel for that
  WindowMap repeated;                         // the map of columns, if they transpose an ordinary repeat
  std::unique_ptr<JoinedRows> short_rows;     // rows that are summed several at a time, or null

  // maps: of the task's axes, from slowest to fastest.
  WindowStep(const WindowTask& t, int64_t n_plane, OwnedMap* const* maps, int n_maps)
      : task(t), n_plane(n_plane), n_rows(n_rows_of(t, n_plane)) {
    if (task.column) columns = maps[n_maps - 1];
    if (columns) find_source_index();
    for (int k = 0; k < n_maps && !repeated.width; ++k) prepare(*maps[k], n_maps == 1);
    if (!source_index && !computed) short_rows = join_rows(task, n_rows);
    if (source_index) task.kernel = Kernel::indexed_sums;
    else if (computed) task.kernel = chunked_kernel(task, *computed);
    else if (short_rows) task.kernel = Kernel::joined_rows;
    else if (n_maps == 1) task.kernel = window_kernel(task);
  }
  // Finds the source indices whose transpose the columns are, if a kernel can sum by them. Many short rows are summed
  // by tables, several at a time.
  void find_source_index() {
    const SourceIndex* const of = columns->transposed ? columns->source_index : nullptr;
    if (!of || !can_sum_indexed(task, *of) || of->longest_run() > sum_part) return;
    const bool are_short = std::max(of->n_in, of->n_out) <= longest_summed_row;
    if (!decide(Choice::indexed_sums, !(are_short && n_rows >= min_permuted_sum_rows))) return;
    const int64_t width = equal_runs(*of);
    if (!width) return void(source_index = of);
    repeated = {of->n_out, of->n_in, width};
    task.column = &repeated, columns = nullptr;
  }
  // Makes the tables of a map, unless its rows are computed. alone: whether it is the only map.
  void prepare(OwnedMap& map, bool alone) {
    is_signal = alone && !map.is_computed() && signal_axis(task, map) && decide(Choice::signal, true);
    if (!is_signal && !source_index) map.make_tables();
    if (!map.is_computed() && !is_signal && !map.gathers()) return;
    if (!alone) throw std::invalid_argument("a computed map together with another");
    computed = &map;
    by_tables = is_signal && (n_rows >= min_permuted_rows || map.sampling->is_filtered_signal());
  }
  static int64_t n_rows_of(const WindowTask& t, int64_t n_plane) {
    int64_t n = t.n_row * n_plane;
    for (int d = 0; d < t.n_outer; ++d) n *= t.outer_shape[d];
    return n;
  }
  Kernel kernel() const override { return in_chunks() || !computed ? task.kernel : window_kernel(task); }
  int64_t positions() const override { return short_rows ? short_rows->map.map.n_in + short_rows->map.map.n_out : 0; }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const override {
    WindowTask call = at(src, dst, stream);
    const bool chunks = in_chunks();  // decided once: another thread may make the tables meanwhile
    without_gil([&] { run_task(call, chunks, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override {
    WindowTask call = at(src, dst, false);
    run_task(call, in_chunks(), 1);
  }
  bool any_thread() const override { return !by_tables; }
  // Whether any rows of the result can be made without the others, from the inputs that they read.
  bool makes_rows() const {
    const bool alone = !task.plane && !task.n_outer && !computed && !source_index && !short_rows;
    const bool kernels =
        task.kernel == Kernel::rows_and_columns || task.kernel == Kernel::rows || task.kernel == Kernel::pixels;
    return task.row && alone && kernels && !task.alpha;
  }
  // Makes rows [lo, hi) on this thread, which need not have the interpreter's lock. src: input row `first`.
  void run_rows(const char* src, int64_t first, char* dst, int64_t lo, int64_t hi) const {
    const WindowMap& m = *task.row;
    const WindowMap some{m.n_in - lo * m.width,
                         hi - lo,
                         m.width,
                         m.start ? m.start + lo : nullptr,
                         m.start ? m.offset + lo : nullptr,
                         m.weight32,
                         m.weight64};
    WindowTask call = task;
    call.row = &some;
    call.src = src - (first - (m.start ? 0 : lo * m.width)) * task.row_stride, call.dst = dst;
    run_task(call, false, 1);
  }
  // The kernels of rows and columns together normalize floats.
  bool run_to_floats(uintptr_t src, const FloatRows& to, int threads) const override {
    const bool both = task.row && task.column && !task.plane && !task.alpha && !source_index;
    if (!both || task.in != task.out || task.in != Dtype::f32) return false;
    if (task.column->n_out * task.inner != to.width()) return false;
    WindowTask call = at(src, reinterpret_cast<uintptr_t>(to.dst), false);
    call.floats = &to;
    if (task.kernel != Kernel::pixels) call.kernel = Kernel::rows_and_columns;
    without_gil([&] { run_task(call, false, threads); });
    return true;
  }
  WindowTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    WindowTask call = task;
    call.src = reinterpret_cast<const char*>(src), call.dst = reinterpret_cast<char*>(dst);
    call.stream = stream;
    if (by_tables) {
      const int n = uses.load(std::memory_order_relaxed);
      if (n < uses_before_tables) uses.store(n + 1, std::memory_order_relaxed);
      else computed->make_tables();
    }
    if constexpr (verifies)
      if (!in_chunks()) verify(call, n_plane);
    return call;
  }
  // Whether rows are computed one chunk at a time. A map that gathers has no start.
  bool in_chunks() const { return computed && !(by_tables && !computed->gathers() && computed->has_tables()); }
  void run_task(WindowTask& call, bool chunks, int threads) const {
    switch (call.kernel) {
      case Kernel::indexed_sums: return kernels().sum_indexed(call, *source_index, threads);
      case Kernel::joined_rows: return run_joined(call, threads);
      default: break;
    }
    if (chunks) return window_in_chunks(call, *computed, threads);
    call.permutes = permutes_of(columns, n_rows);
    if (computed) return choose_and_sum(call, threads);  // it has tables by now
    sum_windows(call, threads);
  }
  void run_joined(const WindowTask& call, int threads) const {
    WindowTask joined = short_rows->joined, rest = short_rows->rest;
    joined.permutes = permutes_of(&short_rows->map, n_rows);
    if constexpr (verifies) verify(joined, 1), verify(rest, 1);
    joined.src = call.src, joined.dst = call.dst, joined.stream = call.stream;
    sum_windows(joined, threads);
    if (!rest.n_row) return;
    rest.src = call.src + short_rows->source, rest.dst = call.dst + short_rows->target;
    rest.permutes = permutes_of(columns, n_rows_of(rest, 1));
    sum_windows(rest, threads);
  }
  // The permute tables of columns for so many rows. Null if they would not pay, or this instruction set has none.
  const PermuteTables* permutes_of(OwnedMap* of, int64_t rows) const {
    if (!of || !takes_permutes(task, rows, of->map.weight32)) return nullptr;
    const bool f64 = task.acc == Accumulate::f64;
    return of->permute_tables(task.inner, f64 ? kernels().double_lanes : kernels().float_lanes, f64 ? 8 : 4);
  }
};

}  // namespace tenter
