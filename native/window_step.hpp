// Calls of the window kernel without their addresses.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <stdexcept>

#include "bands.hpp"
#include "gil.hpp"
#include "kernels.hpp"
#include "owned_map.hpp"
#include "picks.hpp"
#include "signals.hpp"
#include "steps.hpp"
#include "tuning.hpp"
#include "verify.hpp"

namespace tenter {

// A call of the window kernel without its addresses and threads, reused for arrays of one layout.
struct WindowStep final : KernelCall {
  WindowTask task{};
  int64_t n_plane, n_rows;              // n_rows: of outer axes, planes and rows together
  OwnedMap* columns = nullptr;          // the columns' map, which caches permute tables
  OwnedMap* computed = nullptr;         // the map of the one axis, if it has no tables
  bool is_signal = false;               // whether it may do without, although it is short
  bool by_tables = false;               // then whether it takes less time with tables
  mutable int uses = 0;                 // of such a map
  const Picking* picking = nullptr;     // what the sums of the one axis transpose, if there is a kernel for it
  std::unique_ptr<const Picking> runs;  // which may be this, of sums of equally many inputs

  // maps: of the task's axes in turn.
  WindowStep(const WindowTask& t, int64_t n_plane, OwnedMap* const* maps, int n_maps)
      : task(t), n_plane(n_plane), n_rows(n_rows_of(t, n_plane)) {
    if (task.column) columns = maps[n_maps - 1];
    if (columns && columns->transposed) picking = columns->picking;
    const bool equal = columns && !columns->map.start && columns->map.width > 1;
    if (equal && n_rows < min_permuted_sum_rows) runs = runs_of(columns->map), picking = runs.get();
    if (picking && !can_sum_picked(task, *picking)) picking = nullptr;
    for (int k = 0; k < n_maps; ++k) {
      OwnedMap& map = *maps[k];
      const bool alone = n_maps == 1;
      is_signal = alone && !map.is_computed() && signal_axis(task, map);
      if (!is_signal && !picking) map.make_tables();
      if (!map.is_computed() && !is_signal && !map.gathers()) continue;
      if (!alone) throw std::invalid_argument("a computed map beside another");
      computed = &map;
      by_tables = is_signal && (n_rows >= min_permuted_rows || map.sampling->is_filtered_signal());
    }
  }
  static int64_t n_rows_of(const WindowTask& t, int64_t n_plane) {
    int64_t n = t.n_row * n_plane;
    for (int d = 0; d < t.n_outer; ++d) n *= t.outer_shape[d];
    return n;
  }
  // Sums of equally many inputs transpose a plain repeat.
  static std::unique_ptr<const Picking> runs_of(const WindowMap& m) {
    const Line line{{0, 0}, {0, 1}, Wide(m.width)};
    return std::make_unique<const Picking>(m.n_out, m.n_in, Formula::line, 0, 0, line, 0, m.n_in, Edge::replicate);
  }
  const char* name() const override { return "window"; }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const override {
    WindowTask call = at(src, dst, stream);
    const bool bands = in_bands();  // with Python's lock, as tables are made with it
    without_gil([&] { run_task(call, bands, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override {
    WindowTask call = at(src, dst, false);
    run_task(call, in_bands(), 1);
  }
  WindowTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    WindowTask call = task;
    call.src = reinterpret_cast<const char*>(src), call.dst = reinterpret_cast<char*>(dst);
    call.stream = stream;
    if (by_tables && ++uses > uses_before_tables) computed->make_tables();
    if constexpr (verifies)
      if (!in_bands()) verify(call, n_plane);
    return call;
  }
  bool in_bands() const { return computed && !(by_tables && computed->map.start); }  // one that gathers has no start
  void run_task(WindowTask& call, bool bands, int threads) const {
    if (picking) return kernels().sum_picked(call, *picking, threads);
    if (bands) return window_in_bands(call, *computed, threads);
    const Kernels& k = kernels();
    if (task.pixels) return k.pixels(call, threads);
    const int64_t min_rows = task.column && task.column->weight32 ? min_permuted_rows : min_permuted_sum_rows;
    if (columns && task.inner <= max_permuted_inner && task.acc != Accumulate::i64 && n_rows >= min_rows) {
      const bool f64 = task.acc == Accumulate::f64;
      call.permutes = columns->permute_tables(task.inner, f64 ? k.double_lanes : k.float_lanes, f64 ? 8 : 4);
    }
    k.window(call, threads);
  }
};

}  // namespace tenter
