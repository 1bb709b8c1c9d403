// Calls of the copy and the window kernel without their addresses, for Python, which has checked their arguments.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bind_values.hpp"
#include "gil.hpp"
#include "kernels.hpp"
#include "owned_map.hpp"
#include "passes.hpp"
#include "steps.hpp"
#include "tuning.hpp"
#include "verify.hpp"
#include "window_step.hpp"

namespace tenter {
namespace {

// kind, n_in, n_out, stride, repeat, offsets or indices or what computes these
using AxisTuple = std::tuple<const char*, int64_t, int64_t, int64_t, int64_t, nb::object>;

// A call of the copy kernel without its addresses and threads, reused for arrays of one layout.
struct CopyStep final : KernelCall {
  CopyTask task{};
  std::vector<Int64s> tables;  // that the task points into
  nb::object rule;             // of the one axis without a table
  const Picking* picking = nullptr;
  int picked = 0;

  // axes: from slowest to fastest, with those that are copied as they are. Takes nb::list, as nanobind's conversion to
  // std::vector is noexcept: without memory it would end the process.
  CopyStep(int64_t itemsize, const nb::list& list) {
    CopyAxis given[max_axes];
    const nb::tuple axes = items(list);
    if (axes.size() > size_t(max_axes)) throw std::invalid_argument("too many axes");
    for (size_t k = 0; k < axes.size(); ++k) {
      const auto [word, n_in, n_out, stride, repeat, table] = nb::cast<AxisTuple>(axes[k]);
      const auto kind = CopyAxis::Kind(number_of("kind", copy_kind_words, word));
      given[k] = {kind, n_in, n_out, stride, repeat, nullptr};
      if (kind == CopyAxis::computed && !table.is_none()) {
        if (picking) throw std::invalid_argument("two axes without tables");
        rule = table, picking = &nb::cast<const Picking&>(rule);
        continue;
      }
      if (!table.is_none()) {
        tables.push_back(nb::cast<Int64s>(table));
        given[k].table = tables.back().data();
      }
      if constexpr (verifies)
        verify_table(given[k], given[k].table ? int64_t(tables.back().size()) : 0), verify(given[k]);
    }
    copy_pass(itemsize, given, int(axes.size()), task);
    for (int k = 0; k < task.n_axes; ++k)
      if (task.axis[k].kind == CopyAxis::computed) picked = k;
    if constexpr (verifies) {
      int64_t bytes = task.run;
      for (int k = task.n_axes - 1; k >= 0; --k) bytes = product(task.axis[k].n_out, bytes);
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
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const override {
    const CopyTask call = at(src, dst, stream);
    without_gil([&] { run_task(call, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override { run_task(at(src, dst, false), 1); }
};

// The step of window maps on neighboring dims from `first` on; None if the input must be made contiguous first.
// deciding: (length, map) of each, where costs are compared.
nb::object window_step(int in, int out, int sums, const nb::list& dims, int first, const nb::list& given_maps,
                       const nb::list& given_deciding, bool rows_first, bool saturate) {
  Dim held[max_axes];
  const nb::tuple maps = items(given_maps), deciding = items(given_deciding);
  const int count = int(maps.size());
  if (count > most_together || deciding.size() != maps.size()) throw std::invalid_argument("too many maps");
  const Pass pass = pass_of(dims, first, count, held);
  OwnedMap* of[most_together];
  Deciding by[most_together];
  for (int k = 0; k < count; ++k) {
    of[k] = &nb::cast<OwnedMap&>(maps[size_t(k)]);
    const auto [n, map] = nb::cast<std::tuple<int64_t, nb::object>>(deciding[size_t(k)]);
    by[k] = {n, &nb::cast<OwnedMap&>(map)};
  }
  WindowTask task{};
  task.in = Dtype(in), task.out = Dtype(out), task.acc = sums_in(Dtype(sums)), task.saturate = saturate;
  int64_t n_plane;
  if (!window_pass(pass, of, by, rows_first, task, n_plane)) return nb::none();
  auto made = std::make_unique<WindowStep>(task, n_plane, of, count);
  for (int k = 0; k < count; ++k) made->held[k] = maps[size_t(k)];
  const nb::object step = nb::cast(made.get(), nb::rv_policy::take_ownership);
  made.release();
  return step;
}

// The step of maps on the first two of three dims, the last being the values of a pixel, whose colors its alpha weighs;
// None where no kernel does all of that.
nb::object weighed_step(int dtype, const nb::list& dims, const nb::list& given, double unseen) {
  Dim held[max_axes];
  const nb::tuple maps = items(given);
  if (maps.size() != 2 || dims.size() != 3) throw std::invalid_argument("expected maps of two of three dims");
  const Pass pass = pass_of(dims, 0, 2, held);
  OwnedMap* of[2];
  Deciding by[2];
  for (size_t k = 0; k < 2; ++k) of[k] = &nb::cast<OwnedMap&>(maps[k]), by[k] = {held[k].n, of[k]};
  WindowTask task{};
  task.in = task.out = Dtype(dtype), task.acc = task.in == Dtype::f64 ? Accumulate::f64 : Accumulate::f32;
  int64_t n_plane;
  if (!window_pass(pass, of, by, false, task, n_plane)) return nb::none();
  const int64_t pixel = held[2].n * size_of(task.in);
  const bool lies = task.n_column == 1 || task.column_stride == pixel;
  const bool reversed = task.rows_first && task.column_stride == -pixel;
  if (task.inner_stride != size_of(task.in) || !(lies || reversed)) return nb::none();
  task.pixels = false, task.alpha = int(held[2].n), task.unseen = unseen;
  auto made = std::make_unique<WindowStep>(task, n_plane, of, 2);
  for (size_t k = 0; k < 2; ++k) made->held[k] = maps[k];
  const nb::object step = nb::cast(made.get(), nb::rv_policy::take_ownership);
  made.release();
  return step;
}

}  // namespace

void bind_steps(nb::module_& m) {
  nb::class_<KernelCall>(m, "KernelCall");
  nb::class_<CopyStep, KernelCall>(m, "CopyStep")
      .def(nb::init<int64_t, const nb::list&>(), nb::arg("itemsize"), nb::arg("axes"))
      .def("__call__", &CopyStep::run);
  nb::class_<WindowStep, KernelCall>(m, "WindowStep").def("__call__", &WindowStep::run);
  m.def("window_step", &window_step, nb::arg("dtype_in"), nb::arg("dtype_out"), nb::arg("accumulate"), nb::arg("dims"),
        nb::arg("first"), nb::arg("maps"), nb::arg("deciding"), nb::arg("rows_first"), nb::arg("saturate"));
  m.def("weighed_step", &weighed_step, nb::arg("dtype"), nb::arg("dims"), nb::arg("maps"), nb::arg("unseen"));
  m.def(
      "pass_cost",
      [](const nb::list& lengths, const nb::list& made) {  // as CopyStep's
        int64_t from[max_axes], to[max_axes];
        const nb::tuple n = items(lengths), n_out = items(made);
        if (n.size() != n_out.size() || n.size() > size_t(max_axes)) throw std::invalid_argument("lengths");
        for (size_t k = 0; k < n.size(); ++k) from[k] = nb::cast<int64_t>(n[k]), to[k] = nb::cast<int64_t>(n_out[k]);
        return pass_cost(from, to, int(n.size()));
      },
      nb::arg("n"), nb::arg("n_out"));
  m.def("channels_together", &channels_together, nb::arg("n_channels"), nb::arg("n_in"), nb::arg("n_out"));
  m.def("crops", &crops, nb::arg("n_in"), nb::arg("lo"), nb::arg("hi"));
  m.attr("READ_DIMS") = max_read_dims;
  nb::class_<ReadySteps>(m, "ReadySteps")
      .def(
          "__init__",
          [](ReadySteps* self, const nb::list& steps, const nb::list& temporaries, const nb::tuple& shape,
             nb::object order, bool small) {
            if (shape.size() > size_t(max_read_dims)) throw std::invalid_argument("too many dims");
            std::vector<ReadySteps::Step> found;
            std::vector<int64_t> bytes;
            for (const nb::handle each : items(steps)) {
              const auto step = nb::cast<nb::tuple>(each);
              const nb::object kernel = step[0];
              found.push_back({kernel, &nb::cast<const KernelCall&>(kernel), nb::cast<int>(step[1]),
                               nb::cast<int>(step[3]), nb::cast<int64_t>(step[2]), nb::cast<int64_t>(step[4])});
            }
            for (const nb::handle each : items(temporaries)) bytes.push_back(nb::cast<int64_t>(each));
            new (self) ReadySteps(std::move(found), bytes, shape, std::move(order), small);
          },
          nb::arg("steps"), nb::arg("temporaries"), nb::arg("shape"), nb::arg("order").none(), nb::arg("small"));
}

}  // namespace tenter
