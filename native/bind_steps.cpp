// Calls of the copy and the window kernel without their addresses, for Python, which has checked their arguments.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bands.hpp"
#include "bind_values.hpp"
#include "gil.hpp"
#include "kernels.hpp"
#include "owned_map.hpp"
#include "signals.hpp"
#include "steps.hpp"
#include "tuning.hpp"
#include "verify.hpp"

namespace tenter {
namespace {

// kind, n_in, n_out, stride, repeat, offsets or indices or what computes these
using AxisTuple = std::tuple<int, int64_t, int64_t, int64_t, int64_t, nb::object>;

// A call of the copy kernel without its addresses and threads, reused for arrays of one layout.
struct CopyStep : SmallStep {
  CopyTask task;
  std::vector<Int64s> tables;  // that the task points into
  nb::object rule;             // of the one axis without a table
  const Picking* picking = nullptr;
  int picked = 0;

  // Takes nb::list, as nanobind's conversion to std::vector is noexcept: without memory it would end the process.
  CopyStep(int64_t run, const nb::list& axes) : task{nullptr, nullptr, run, int(axes.size()), {}, {}, false} {
    if (axes.size() > size_t(max_axes)) throw std::invalid_argument("too many axes");
    for (size_t k = 0; k < axes.size(); ++k) {
      const auto [kind, n_in, n_out, stride, repeat, given] = nb::cast<AxisTuple>(axes[k]);
      task.axis[k] = {CopyAxis::Kind(kind), n_in, n_out, stride, repeat, nullptr};
      if (given.is_none()) {
        if constexpr (verifies) verify_table(task.axis[k], 0);
        continue;
      }
      if (kind == CopyAxis::computed) {
        if (picking) throw std::invalid_argument("two axes without tables");
        rule = given, picking = &nb::cast<const Picking&>(rule), picked = int(k);
        continue;
      }
      tables.push_back(nb::cast<Int64s>(given));
      task.axis[k].table = tables.back().data();
      if constexpr (verifies) verify_table(task.axis[k], int64_t(tables.back().size()));
    }
    task.bytes[axes.size()] = run;
    for (int k = task.n_axes - 1; k >= 0; --k) {
      if constexpr (verifies) product(task.axis[k].n_out, task.bytes[k + 1]);
      task.bytes[k] = task.axis[k].n_out * task.bytes[k + 1];
    }
  }
  CopyTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    CopyTask call;  // whose axes are kilobytes
    call.run = task.run, call.n_axes = task.n_axes;
    std::copy_n(task.axis, task.n_axes, call.axis);
    std::copy_n(task.bytes, task.n_axes + 1, call.bytes);
    call.src = reinterpret_cast<const char*>(src), call.dst = reinterpret_cast<char*>(dst);
    call.stream = stream;
    if constexpr (verifies) verify(call);
    return call;
  }
  void run_task(const CopyTask& call, int threads) const {
    if (picking) kernels().picked(call, picked, *picking, threads);
    else kernels().copy(call, threads);
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const {
    const CopyTask call = at(src, dst, stream);
    without_gil([&] { run_task(call, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override { run_task(at(src, dst, false), 1); }
};

// length, stride in bytes, map
using WindowAxis = std::tuple<int64_t, int64_t, nb::object>;

// The same for the window kernel.
struct WindowStep : SmallStep {
  WindowTask task{};
  nb::object plane_map, row_map, column_map;  // that the task points into
  int64_t n_plane, n_rows;                    // n_rows: of outer axes, planes and rows together
  OwnedMap* columns = nullptr;                // column_map, which caches permute tables
  OwnedMap* computed = nullptr;               // the map of the one axis, if it has no tables
  bool is_signal = false;                     // whether it may do without, although it is short
  mutable int uses = 0;                       // of such a map for many signals
  const Picking* picking = nullptr;           // what the sums of the one axis transpose, if there is a kernel for it
  std::unique_ptr<const Picking> runs;        // which may be this, of sums of equally many inputs

  WindowStep(int in, int out, int acc, const nb::list& outer, const std::optional<WindowAxis>& plane, bool planes_first,
             const WindowAxis& row, const WindowAxis& column, std::tuple<int64_t, int64_t> inner, bool rows_first,
             bool saturate) {
    task.in = Dtype(in), task.out = Dtype(out), task.acc = Accumulate(acc);
    set_outer(task, outer);
    std::tie(task.n_row, task.row_stride, row_map) = row;
    std::tie(task.n_column, task.column_stride, column_map) = column;
    std::tie(task.inner, task.inner_stride) = inner;
    if (plane) {
      plane_map = std::get<2>(*plane), task.plane_stride = std::get<1>(*plane);
      task.plane = &nb::cast<const OwnedMap&>(plane_map).map, task.planes_first = planes_first;
    }
    task.row = row_map.is_none() ? nullptr : &nb::cast<const OwnedMap&>(row_map).map;
    if (!column_map.is_none()) columns = &nb::cast<OwnedMap&>(column_map);
    task.column = columns ? &columns->map : nullptr;
    if (columns && columns->transposed) picking = columns->picking;
    const bool equal = columns && !columns->map.start && columns->map.width > 1;
    if (equal && n_rows_of(task, plane ? std::get<0>(*plane) : 1) < min_permuted_sum_rows)
      runs = runs_of(columns->map), picking = runs.get();
    if (picking && !can_sum_picked(task, *picking)) picking = nullptr;
    for (const nb::object* held : {&plane_map, &row_map, &column_map}) {
      if (!held->is_valid() || held->is_none()) continue;
      OwnedMap& map = nb::cast<OwnedMap&>(*held);
      const bool alone = !plane && !(task.row && task.column);
      is_signal = alone && !map.is_computed() && signal_axis(task, map);
      if (!is_signal && !picking) map.make_tables();
      if (!map.is_computed() && !is_signal) continue;
      if (!alone) throw std::invalid_argument("a computed map beside another");
      computed = &map;
    }
    task.rows_first = rows_first, task.saturate = saturate;
    n_plane = plane ? std::get<0>(*plane) : 1;
    n_rows = n_rows_of(task, n_plane);
  }
  static int64_t n_rows_of(const WindowTask& t, int64_t n_plane) {
    int64_t n = t.n_row * n_plane;
    for (int d = 0; d < t.n_outer; ++d) n *= t.outer_shape[d];
    return n;
  }
  // Sums of equally many inputs transpose a plain repeat.
  static std::unique_ptr<const Picking> runs_of(const WindowMap& m) {
    const Line line{{0, 0}, {0, 1}, Wide(m.width)};
    return std::make_unique<const Picking>(m.n_out, m.n_in, Formula::line, 0, 0, line, 0, m.n_in, false, false);
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const {
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
    if (is_signal && n_rows >= min_permuted_rows && ++uses > uses_before_tables) computed->make_tables();
    if constexpr (verifies)
      if (!in_bands() && !picking) verify(call, n_plane);
    return call;
  }
  bool in_bands() const { return computed && (!is_signal || n_rows < min_permuted_rows || !computed->map.start); }
  void run_task(WindowTask& call, bool bands, int threads) const {
    if (picking) return kernels().sum_picked(call, *picking, threads);
    if (bands) return window_in_bands(call, *computed, threads);
    const Kernels& k = kernels();
    const int64_t min_rows = task.column && task.column->weight32 ? min_permuted_rows : min_permuted_sum_rows;
    if (columns && task.inner <= max_permuted_inner && task.acc != Accumulate::i64 && n_rows >= min_rows) {
      const bool f64 = task.acc == Accumulate::f64;
      call.permutes = columns->permute_tables(task.inner, f64 ? k.double_lanes : k.float_lanes, f64 ? 8 : 4);
    }
    k.window(call, threads);
  }
};

}  // namespace

void bind_steps(nb::module_& m) {
  nb::class_<SmallStep>(m, "SmallStep");
  nb::class_<CopyStep, SmallStep>(m, "CopyStep")
      .def(nb::init<int64_t, const nb::list&>(), nb::arg("run"), nb::arg("axes"))
      .def("__call__", &CopyStep::run);
  nb::class_<WindowStep, SmallStep>(m, "WindowStep")
      .def(nb::init<int, int, int, const nb::list&, const std::optional<WindowAxis>&, bool, const WindowAxis&,
                    const WindowAxis&, std::tuple<int64_t, int64_t>, bool, bool>(),
           nb::arg("dtype_in"), nb::arg("dtype_out"), nb::arg("accumulate"), nb::arg("outer"), nb::arg("plane").none(),
           nb::arg("planes_first"), nb::arg("row"), nb::arg("column"), nb::arg("inner"), nb::arg("rows_first"),
           nb::arg("saturate"))
      .def("__call__", &WindowStep::run);
  nb::class_<ReadySteps>(m, "ReadySteps")
      .def("__init__", [](ReadySteps* self, const nb::list& steps, const nb::list& temporaries, nb::tuple shape) {
        std::vector<ReadySteps::Step> found;
        std::vector<int64_t> bytes;
        for (const nb::handle each : steps) {
          const auto step = nb::cast<nb::tuple>(each);
          const nb::object kernel = step[0];
          found.push_back({kernel, &nb::cast<const SmallStep&>(kernel), nb::cast<int>(step[1]), nb::cast<int>(step[3]),
                           nb::cast<int64_t>(step[2]), nb::cast<int64_t>(step[4])});
        }
        for (const nb::handle each : temporaries) bytes.push_back(nb::cast<int64_t>(each));
        new (self) ReadySteps(std::move(found), std::move(bytes), std::move(shape));
      });
}

}  // namespace tenter
