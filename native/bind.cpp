// The Python face of the kernels: pointers and spans in, no checks. `tenter.kernels.cpu` plans what is called here;
// counts are summed up for `tenter.check` and, where they are few, repeated and summed for PyTorch's short way.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "memory.hpp"
#include "offsets.hpp"
#include "permutes.hpp"
#include "released.hpp"
#include "threads.hpp"
#include "tuning.hpp"
#include "verify.hpp"

namespace nb = nanobind;
using namespace tenter;

namespace {

using Int64s = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A WindowMap with the arrays that it points into.
struct HeldMap {
  WindowMap map;
  std::optional<Int64s> start, offset;
  std::optional<Doubles> weight;
  std::vector<float> weight32;
  // By inner, lanes and bytes of a lane; made at the first call that can use them, where there are any. A list that
  // only grows, and no lock: a child that is forked while another thread holds one would wait for ever.
  struct Made {
    Permutes permutes;
    bool any;
    Made* next;
  };
  std::atomic<Made*> made{nullptr};

  HeldMap(int64_t n_in, int64_t n_out, int64_t width, std::optional<Int64s> starts, std::optional<Int64s> offsets,
          std::optional<Doubles> weights)
      : map{n_in, n_out, width}, start(starts), offset(offsets), weight(weights) {
    if (start) map.start = start->data(), map.offset = offset->data();
    if (weight) {
      weight32.assign(weight->data(), weight->data() + weight->size());
      map.weight64 = weight->data();
      map.weight32 = weight32.data();
    }
    if constexpr (verifies)
      verify_tables(map, start ? int64_t(start->size()) : 0, offset ? int64_t(offset->size()) : 0,
                    weight ? int64_t(weight->size()) : 0);
  }
  HeldMap(const HeldMap&) = delete;
  HeldMap& operator=(const HeldMap&) = delete;
  ~HeldMap() {
    for (Made* m = made; m;) delete std::exchange(m, m->next);
  }
  const Permutes* permutes_for(int64_t inner, int lanes, int bytes) {
    for (const Made* m = made; m; m = m->next)
      if (m->permutes.inner == inner && m->permutes.lanes == lanes && m->permutes.bytes == bytes)
        return m->any ? &m->permutes : nullptr;
    auto fresh = std::make_unique<Made>();
    fresh->any = make_permutes(map, inner, lanes, bytes, fresh->permutes);
    fresh->next = made;
    while (!made.compare_exchange_weak(fresh->next, fresh.get())) {}
    const Made* m = fresh.release();  // another thread may have made the same: they are equal
    return m->any ? &m->permutes : nullptr;
  }
};

// kind, n_in, n_out, stride, repeat, offsets or indices
using AxisTuple = std::tuple<int, int64_t, int64_t, int64_t, int64_t, std::optional<Int64s>>;

// A call of the copy kernel, all but its memory and threads: made once for arguments that come again.
struct CopyStep {
  CopyTask task;
  std::vector<std::optional<Int64s>> tables;  // that the task points into

  // Lists as they are: nanobind's conversion to vectors is noexcept, and ends the process where there is no memory.
  CopyStep(int64_t run, const nb::list& axes) : task{nullptr, nullptr, run, int(axes.size()), {}, {}, false} {
    if (axes.size() > size_t(max_axes)) throw std::invalid_argument("too many axes");
    for (size_t k = 0; k < axes.size(); ++k) {
      const auto [kind, n_in, n_out, stride, repeat, table] = nb::cast<AxisTuple>(axes[k]);
      task.axis[k] = {CopyAxis::Kind(kind), n_in, n_out, stride, repeat, table ? table->data() : nullptr};
      if (table) tables.push_back(table);
      if constexpr (verifies) verify_table(task.axis[k], table ? int64_t(table->size()) : 0);
    }
    task.bytes[axes.size()] = run;
    for (int k = task.n_axes - 1; k >= 0; --k) {
      if constexpr (verifies) product(task.axis[k].n_out, task.bytes[k + 1]);
      task.bytes[k] = task.axis[k].n_out * task.bytes[k + 1];
    }
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const {
    CopyTask now = task;
    now.src = reinterpret_cast<const char*>(src), now.dst = reinterpret_cast<char*>(dst);
    now.stream = stream;
    if constexpr (verifies) verify(now);
    without_gil([&] { kernels().copy(now, threads); });
  }
};

// length, stride in bytes, map
using WindowAxis = std::tuple<int64_t, int64_t, nb::object>;

// A call of the window kernel, all but its memory and threads.
struct WindowStep {
  WindowTask task{};
  nb::object plane_map, row_map, column_map;  // that the task points into
  int64_t n_plane, n_rows;                    // n_rows: in all
  HeldMap* columns = nullptr;                 // column_map, whose permutes are used

  WindowStep(int in, int out, int acc, const nb::list& outer, const std::optional<WindowAxis>& plane, bool planes_first,
             const WindowAxis& row, const WindowAxis& column, std::tuple<int64_t, int64_t> inner, bool rows_first,
             bool saturate) {
    if (outer.size() > size_t(max_axes)) throw std::invalid_argument("too many axes");
    task.in = Dtype(in), task.out = Dtype(out), task.acc = Accumulate(acc);
    task.n_outer = int(outer.size());
    for (size_t d = 0; d < outer.size(); ++d)
      std::tie(task.outer_shape[d], task.outer_stride[d]) = nb::cast<std::tuple<int64_t, int64_t>>(outer[d]);
    std::tie(task.n_row, task.row_stride, row_map) = row;
    std::tie(task.n_column, task.column_stride, column_map) = column;
    std::tie(task.inner, task.inner_stride) = inner;
    if (plane) {
      plane_map = std::get<2>(*plane), task.plane_stride = std::get<1>(*plane);
      task.plane = &nb::cast<const HeldMap&>(plane_map).map, task.planes_first = planes_first;
    }
    task.row = row_map.is_none() ? nullptr : &nb::cast<const HeldMap&>(row_map).map;
    if (!column_map.is_none()) columns = &nb::cast<HeldMap&>(column_map);
    task.column = columns ? &columns->map : nullptr;
    task.rows_first = rows_first, task.saturate = saturate;
    n_plane = plane ? std::get<0>(*plane) : 1;
    n_rows = task.n_row * n_plane;
    for (int d = 0; d < task.n_outer; ++d) n_rows *= task.outer_shape[d];
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const {
    WindowTask now = task;
    now.src = reinterpret_cast<const char*>(src), now.dst = reinterpret_cast<char*>(dst);
    now.stream = stream;
    if constexpr (verifies) verify(now, n_plane);
    without_gil([&] {
      const Kernels& k = kernels();
      // Tables for less would take longer than the work; sums without weights are mostly of counts, which change.
      const int64_t few_rows = task.column && task.column->weight32 ? 8 : 64;
      constexpr int64_t narrow = 4;  // what is inside a column; wider ones fill vectors better by themselves
      if (columns && task.inner <= narrow && task.acc != Accumulate::i64 && n_rows >= few_rows) {
        const bool wide = task.acc == Accumulate::f64;
        now.permutes = columns->permutes_for(task.inner, wide ? k.double_lanes : k.float_lanes, wide ? 8 : 4);
      }
      k.window(now, threads);
    });
  }
};

// Counts of repeat_interleave with their running totals, and what is done with them on small contiguous arrays
// (outer, n, inner): as `kernels/cpu.py` would plan it, without the plan, which would cost more than the work.
struct Counts {
  std::vector<int64_t> offset;
  int64_t total;  // or as running_totals says

  Counts(uintptr_t counts, int dtype, int64_t stride, int64_t n)
      : offset(size_t(n) + 1),
        total(running_totals(reinterpret_cast<const char*>(counts), Dtype(dtype), stride, n, offset.data(), 1)) {}
  int64_t n() const { return int64_t(offset.size()) - 1; }
  void copy(uintptr_t src, uintptr_t dst, int64_t outer, int64_t inner_bytes) const {
    CopyTask task{reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst), inner_bytes, 0, {}, {}, false};
    int64_t bytes[3] = {outer * total * inner_bytes, total * inner_bytes, inner_bytes};
    if (outer > 1) task.axis[task.n_axes++] = {CopyAxis::affine, outer, outer, n() * inner_bytes, 1, nullptr};
    task.axis[task.n_axes++] = {CopyAxis::runs, n(), total, inner_bytes, 1, offset.data()};
    for (int k = 0; k <= task.n_axes; ++k) task.bytes[k] = bytes[k + 2 - task.n_axes];
    if constexpr (verifies) verify(task);
    kernels().copy(task, 1);
  }
  // The transpose: segment sums of (outer, total, inner).
  void sum(uintptr_t src, uintptr_t dst, int dtype, int acc, int64_t itemsize, int64_t outer, int64_t inner,
           bool wide) const {
    const WindowMap map{total, n(), 0, offset.data(), offset.data(), nullptr, nullptr};
    WindowTask task{};
    task.src = reinterpret_cast<const char*>(src), task.dst = reinterpret_cast<char*>(dst);
    task.in = task.out = Dtype(dtype), task.acc = Accumulate(acc);
    if (outer > 1) task.n_outer = 1, task.outer_shape[0] = outer, task.outer_stride[0] = total * inner * itemsize;
    if (wide) {
      task.n_row = total, task.row_stride = inner * itemsize, task.row = &map;
      task.n_column = inner, task.column_stride = itemsize, task.inner = 1, task.inner_stride = itemsize;
    } else {
      task.n_row = 1, task.n_column = total, task.column_stride = inner * itemsize, task.column = &map;
      task.inner = inner, task.inner_stride = itemsize;
    }
    if constexpr (verifies) verify(task, 1);
    kernels().window(task, 1);
  }
};

// Counts that are used once, on an array of as many values: where each chunk of outputs begins, and no more.
struct Runs {
  uintptr_t counts;
  bool narrow;
  int64_t n, chunk = tuning.runs_chunk;
  std::vector<int64_t> before;

  Runs(uintptr_t counts, bool narrow, int64_t n, int threads) : counts(counts), narrow(narrow), n(n) {
    without_gil([&] { before = chunk_totals(reinterpret_cast<const void*>(counts), narrow, n, chunk, threads); });
  }
  void copy(uintptr_t src, uintptr_t dst, int bytes, int threads, bool stream) const {
    const RunsTask task{chunk,
                        reinterpret_cast<const char*>(src),
                        reinterpret_cast<char*>(dst),
                        bytes,
                        reinterpret_cast<const void*>(counts),
                        narrow,
                        n,
                        before.data(),
                        stream};
    if constexpr (verifies) verify(task, int64_t(before.size()));
    without_gil([&] { kernels().runs(task, threads); });
  }
};

// A block's bytes as Python's buffers, which keep it for as long as anything looks at them.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  Block* const block = nb::inst_ptr<Block>(self);
  return PyBuffer_FillInfo(view, self, block->p, block->wanted, 0, flags);
}
PyType_Slot block_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

// Has Ctrl-C, or another signal whose handler raises, come? The error is then set. Python's handlers run on the main
// thread, and another one that waited here for the lock could find the interpreter gone.
bool signal_raised() {
  if (!on_main_thread() || finalizing()) return false;
  nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

}  // namespace

NB_MODULE(core, m) {
  nb::set_leak_warnings(false);  // maps live in caches until the interpreter is gone
  interrupted = signal_raised;
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Interrupted&) {  // the error is that which signal_raised has left
    }
  });
  nb::class_<HeldMap>(m, "WindowMap")
      .def(nb::init<int64_t, int64_t, int64_t, std::optional<Int64s>, std::optional<Int64s>, std::optional<Doubles>>(),
           nb::arg("n_in"), nb::arg("n_out"), nb::arg("width"), nb::arg("start").none(), nb::arg("offset").none(),
           nb::arg("weight").none());
  nb::class_<CopyStep>(m, "CopyStep")
      .def(nb::init<int64_t, const nb::list&>(), nb::arg("run"), nb::arg("axes"))
      .def("__call__", &CopyStep::run);
  nb::class_<WindowStep>(m, "WindowStep")
      .def(nb::init<int, int, int, const nb::list&, const std::optional<WindowAxis>&, bool, const WindowAxis&,
                    const WindowAxis&, std::tuple<int64_t, int64_t>, bool, bool>(),
           nb::arg("dtype_in"), nb::arg("dtype_out"), nb::arg("accumulate"), nb::arg("outer"), nb::arg("plane").none(),
           nb::arg("planes_first"), nb::arg("row"), nb::arg("column"), nb::arg("inner"), nb::arg("rows_first"),
           nb::arg("saturate"))
      .def("__call__", &WindowStep::run);
  m.def("offsets", [](uintptr_t counts, int dtype, int64_t stride, int64_t n, uintptr_t offsets, int threads) {
    int64_t total = 0;
    without_gil([&] {
      total = running_totals(reinterpret_cast<const char*>(counts), Dtype(dtype), stride, n,
                             reinterpret_cast<int64_t*>(offsets), threads);
    });
    return total;
  });
  nb::class_<Counts>(m, "Counts")
      .def(nb::init<uintptr_t, int, int64_t, int64_t>())
      .def_ro("total", &Counts::total)
      .def("copy", &Counts::copy)
      .def("sum", &Counts::sum)
      .def("offsets", [](const Counts& c) {
        return nb::ndarray<nb::numpy, const int64_t>(c.offset.data(), {c.offset.size()}, nb::find(c));
      });
  nb::class_<Runs>(m, "Runs")
      .def(nb::init<uintptr_t, bool, int64_t, int>())
      .def_prop_ro("total", [](const Runs& r) { return r.before.empty() ? int64_t(-1) : r.before.back(); })
      .def("copy", &Runs::copy);
  nb::class_<Block>(m, "Block", nb::type_slots(block_slots))
      .def(nb::init<int64_t>())
      .def_prop_ro("address", [](const Block& b) { return reinterpret_cast<uintptr_t>(b.p); })
      .def_ro("used", &Block::used);
  m.attr("LARGE") = large;
  m.attr("VERIFIES") = verifies;
  m.def("memory_stats", [] {
    const MemoryStats s = memory_stats();
    return std::make_tuple(s.limit, s.idle, s.idle_blocks, s.in_use, s.blocks_in_use, s.reused, s.fresh);
  });
  m.def("recycles", &recycles);
  m.def("memory_limit", &memory_limit);
  m.def("memory_clear", &memory_clear);
  m.def("level", [] { return kernels().name; });
  m.def("levels", [] {
    std::vector<std::string> names;
    for (const char* const* n = level_names(); *n; ++n) names.emplace_back(*n);
    return names;
  });
  m.def("force_level", [](const std::string& name) { return force_level(name.c_str()); });
  nb::class_<Tuning>(m, "Tuning")
      .def_rw("parallel_bytes", &Tuning::parallel_bytes)
      .def_rw("wake_bytes", &Tuning::wake_bytes)
      .def_rw("task_bytes", &Tuning::task_bytes)
      .def_rw("staging_bytes", &Tuning::staging_bytes)
      .def_rw("copied_block_bytes", &Tuning::copied_block_bytes)
      .def_rw("runs_chunk", &Tuning::runs_chunk)
      .def_rw("tile_bytes", &Tuning::tile_bytes)
      .def_rw("tile_inputs", &Tuning::tile_inputs)
      .def_rw("column_step", &Tuning::column_step)
      .def_rw("row_width", &Tuning::row_width)
      .def_rw("row_block", &Tuning::row_block)
      .def_rw("band_bytes", &Tuning::band_bytes)
      .def_rw("plane_bytes", &Tuning::plane_bytes)
      .def_rw("planes_kept_bytes", &Tuning::planes_kept_bytes)
      .def_rw("stream_bytes", &Tuning::stream_bytes)
      .def_rw("guard_blocks", &Tuning::guard_blocks)
      .def("reset", [](Tuning& t) { t = Tuning{}; });
  m.attr("tuning") = nb::cast(&tuning, nb::rv_policy::reference);
  m.def("join_openmp", &join_openmp);
  m.def("forked", &forked);
}

// Before nanobind: types and idle memory are shared by the process, and a subinterpreter in which nanobind has begun
// takes them with it when it ends, even if the import was refused.
extern "C" NB_EXPORT PyObject* PyInit__native() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return PyInit_core();
  PyErr_SetString(PyExc_ImportError, "tenter: expected the main interpreter, got a subinterpreter");
  return nullptr;
}
