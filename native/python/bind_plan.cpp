// Python's AxisMap and HostPlan. Python gives the maps, its own or those that the core computes, and the core plans.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays/results.hpp"
#include "kernels/long_sums.hpp"
#include "plan/byte_step.hpp"
#include "plan/host_plan.hpp"
#include "plan/planner.hpp"
#include "plan/window_step.hpp"
#include "python/bind_values.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// An array and the maps on its axes, read from tenter._plans.core.CoreLayout and MappedAxis.
struct MappedArray {
  struct Axis {
    nb::object map = nb::none(), whole = nb::none();
    int64_t block = 1;
  };
  std::optional<PlannedArray> before;  // the array as given, with the maps that are applied before those of x
  PlannedArray x;
  int64_t itemsize;
  std::vector<int64_t> shape_out;
  std::vector<AxisMap*> maps;
  std::vector<nb::object> owners;  // the Python objects of the maps
  std::vector<nb::object> wholes;
  int64_t n_in = 1, n_out = 1;

  MappedArray(const nb::object& layout, const nb::list& mapped, const nb::object& order, Rounding rounding) {
    const auto shape = field<nb::tuple>(layout, "shape"), strides = field<nb::tuple>(layout, "strides");
    const int ndim = int(shape.size()), dtype = field<int>(layout, "number");
    if (strides.size() != shape.size() || dtype >= n_dtypes) throw std::invalid_argument("plan: expected a layout");
    itemsize = field<int64_t>(layout, "itemsize");
    x = {{}, dtype, itemsize, field<bool>(layout, "is_complex"), rounding};
    std::vector<Axis> axes(size_t{unsigned(ndim)}), first(size_t{unsigned(ndim)});
    for (const nb::handle each : items(mapped)) {
      const bool is_before = field<bool>(each, "before");
      if (is_before && !before) before = x.before();
      (is_before ? first : axes).at(field<size_t>(each, "axis")) = {
          field<nb::object>(each, "map"), field<nb::object>(each, "whole"), field<int64_t>(each, "block")};
    }
    shape_out.resize(size_t(ndim));
    for (int k = 0; k < ndim; ++k) {
      const int d = order.is_none() ? k : nb::cast<int>(order[size_t(k)]);
      int64_t n = nb::cast<int64_t>(shape[size_t(d)]);
      const int64_t stride =
          n > 1 ? nb::cast<int64_t>(strides[size_t(d)]) : 0;  // a single position may have any stride
      n_in *= n;
      if (before) n = add(first[size_t(d)], n, stride, before->dims);
      shape_out[size_t(d)] = add(axes[size_t(d)], n, before ? 0 : stride, x.dims);
      n_out *= shape_out[size_t(d)];
    }
    if (x.dims.size() > size_t(max_axes - 1)) throw std::invalid_argument("plan: expected at most 72 dims");
    if (!before) return;
    if (dtype < 0) throw std::invalid_argument("plan: expected a dtype of sums");
    x.has_sums = true;
    int64_t step = x.as_sums(0).itemsize;
    for (size_t k = x.dims.size(); k-- > 0; step *= x.dims[k].n) x.dims[k].stride = x.dims[k].n > 1 ? step : 0;
  }

  // Adds a dim, or two for a map of blocks. Returns the length after the map.
  int64_t add(const Axis& axis, int64_t n, int64_t stride, std::vector<MappedDim>& to) {
    const auto& [map, whole, block] = axis;
    if (map.is_none()) return to.push_back({n, stride}), n;
    AxisMap* const by = &nb::cast<AxisMap&>(map);
    if (block < 1 || by->n_in * block != n) throw std::invalid_argument("plan: expected a map of the axis");
    to.push_back(
        {n / block, stride * block, by, whole.is_none() ? nullptr : &nb::cast<AxisMap&>(whole), int(maps.size())});
    if (block > 1) to.push_back({block, stride});
    maps.push_back(by), owners.push_back(map), wholes.push_back(whole);
    if (!by->copies() && x.dtype < 0) throw std::invalid_argument("plan: expected a dtype of sums");
    return by->n_out * block;
  }
};

constexpr Device unchunked = [] {
  Device made = host;
  made.chunks = false;
  return made;
}();

// Makes the plan of maps for arrays of one layout.
//   maps   a MappedAxis for each axis that changes
//   order  the dims of the input and the result from slowest to fastest; None if they are in order
//   room   a Python function of a number of bytes, which raises an error if there is no memory for them
void init_plan(HostPlan* to, const nb::object& layout, const nb::list& maps, const nb::object& order,
               const char* rounding, const nb::object& room) {
  MappedArray mapped(layout, maps, order, rounding_of(rounding));
  new (to) HostPlan();
  try {
    const AskRoom ask = [&](double bytes) { room(bytes); };
    if (mapped.n_out > 0 && mapped.before) {
      int64_t bytes = mapped.x.as_sums(0).itemsize;
      for (const MappedDim& d : mapped.x.dims) bytes *= d.n;
      to->use(Buffer::filtered, bytes);
      to->add_before(plan_passes(std::move(*mapped.before), unchunked, Buffer::input, Buffer::filtered, ask));
    }
    if (mapped.n_out > 0)
      to->add(plan_passes(std::move(mapped.x), host, mapped.before ? Buffer::filtered : Buffer::input, Buffer::output,
                          ask));
    for (size_t k = 0; k < mapped.maps.size(); ++k) to->keep(std::move(mapped.owners[k]), mapped.maps[k]);
    for (nb::object& whole : mapped.wholes) to->keep(std::move(whole), nullptr);
    std::vector<int> dims;
    for (size_t k = 0; !order.is_none() && k < mapped.shape_out.size(); ++k) dims.push_back(nb::cast<int>(order[k]));
    to->set_result(mapped.shape_out.data(), int(mapped.shape_out.size()), dims.empty() ? nullptr : dims.data(),
                   mapped.itemsize, std::max(mapped.n_in, mapped.n_out), mapped.itemsize);
  } catch (...) {
    to->~HostPlan();
    throw;
  }
}

// Names and values, from which Python makes the named tuple of the same fields.
template <class... T>
nb::dict fields(const std::array<const char*, sizeof...(T)>& names, T&&... values) {
  nb::dict made;
  auto name = names.begin();
  ((void)(made[*name++] = std::forward<T>(values)), ...);
  return made;
}

nb::dict buffer_of(const Buffer& b) {
  return fields({"memory", "at", "number", "itemsize"}, b.memory, b.at, b.dtype, b.itemsize);
}

// Passes as data: the fields of tenter._plans.passes.Passes. before: those that run before the others.
nb::dict data_of(const Passes& before, const Passes& made, bool on_device) {
  const auto part = [](const AxisMap* m) {
    for (; m; m = m->of)
      if (m->part != AxisMap::Part::whole) return m->part == AxisMap::Part::order ? "order" : "sums";
    return "whole";
  };
  const auto listed = [&](const std::vector<PlannedPass>& passes) {
    nb::list all;
    for (const PlannedPass& p : passes) {
      nb::list dims, forms;
      const bool alone = std::count_if(p.dims.begin(), p.dims.end(), [](const MappedDim& d) { return d.map; }) == 1;
      for (const MappedDim& d : p.dims) {
        dims.append(fields({"n", "stride", "map", "part"}, d.n, d.stride, d.map ? d.number : -1, part(d.map)));
        if (p.copies && !on_device && d.map) forms.append(copy_kind_words.word[d.map->copy_axis(d.stride, alone).kind]);
      }
      all.append(fields({"copies", "source", "target", "dims", "first", "n_axes", "spare", "forms"}, p.copies,
                        buffer_of(p.source), buffer_of(p.target), dims, p.first, p.count, p.spare, nb::tuple(forms)));
    }
    return all;
  };
  nb::list temporaries;
  for (const int64_t bytes : made.temporaries) temporaries.append(bytes);
  const bool chunked = !made.chunks.loops.empty() || made.chunks.each < made.chunks.n;
  const char* const wide = made.acc == Accumulate::i64 ? "int64" : made.acc == Accumulate::f64 ? "float64" : "float32";
  const char* const sums = made.rounding == Rounding::integers ? "int32" : wide;
  nb::list first = listed(before.passes);
  first.extend(listed(before.after));
  return fields({"before", "passes", "after", "chunked", "temporaries", "sums"}, first, listed(made.passes),
                listed(made.after), chunked, nb::tuple(temporaries), sums);
}

// The passes that a device would run.
nb::dict passes_on_device(const nb::object& layout, const nb::list& maps, const nb::object& order, const char* rounding,
                          const nb::object& room) {
  MappedArray mapped(layout, maps, order, rounding_of(rounding));
  Passes before, made;
  const AskRoom ask = [&](double bytes) { room(bytes); };
  if (mapped.n_out > 0 && mapped.before)
    before = plan_passes(std::move(*mapped.before), unchunked, Buffer::input, Buffer::filtered, ask);
  if (mapped.n_out > 0)
    made =
        plan_passes(std::move(mapped.x), triton, mapped.before ? Buffer::filtered : Buffer::input, Buffer::output, ask);
  return data_of(before, made, true);
}

// The steps of a plan: the name of a kernel, its cost in nanoseconds, and the number of the pass among those before all
// chunks, those of a chunk and those on the whole array, or -1.
nb::tuple steps_of(const HostPlan& plan) {
  const Passes &before = plan.before(), &all = plan.passes();
  nb::list found;
  for (const HostPlan::Step* step : plan.steps()) {
    int number = -1, k = 0;
    for (const auto* some : {&before.passes, &before.after, &all.passes, &all.after})
      for (const PlannedPass& pass : *some) {
        if (&pass == step->pass) number = k;
        ++k;
      }
    found.append(nb::make_tuple(kernel_words.word[int(step->call->kernel())], step->call->nanoseconds(), number));
  }
  return nb::tuple(found);
}

// A plan of one step that resamples (H, W, values of a pixel) with colors premultiplied by alpha, the last value. at:
// bytes from the begin of the input to the first pixel that is read.
HostPlan* premultiplied(HostPlan&& made, std::unique_ptr<KernelCall> step, int64_t at, const std::vector<Dim>& dims,
                        const nb::object& row, const nb::object& column, int64_t itemsize) {
  made.add(std::move(step), {Buffer::input, at, -1, itemsize}, {Buffer::output, 0, -1, itemsize});
  made.keep(row, nullptr), made.keep(column, nullptr), made.is_long = true;
  int64_t n = 1;
  for (const Dim& d : dims) n *= d.n;
  made.set_result(nullptr, 0, nullptr, itemsize, n, itemsize);
  return new HostPlan(std::move(made));
}

AxisMap* map_of(const nb::object& map) { return map.is_none() ? nullptr : &nb::cast<AxisMap&>(map); }

std::vector<Dim> three_dims(const nb::list& dims_of) {
  Dim to[max_axes];
  const Pass pass = pass_of(dims_of, 0, 1, to);
  if (pass.n_dims != 3) throw std::invalid_argument("expected three dims");
  return {to, to + 3};
}

// The plan for 8-bit values in integers. row, column: maps of the first two dims, or None.
HostPlan* premultiplied_bytes(const nb::list& dims_of, const nb::object& row, const nb::object& column,
                              bool rows_first) {
  const std::vector<Dim> dims = three_dims(dims_of);
  ByteTask task{};
  task.n_row = dims[0].n, task.row_stride = dims[0].stride;
  task.n_column = dims[1].n, task.column_stride = dims[1].stride;
  task.inner = dims[2].n, task.inner_stride = dims[2].stride, task.rows_first = rows_first, task.alpha = true;
  AxisMap *const rows = map_of(row), *const columns = map_of(column);
  auto step = std::make_unique<ByteStep>(task, rows ? &rows->bytes() : nullptr, columns ? &columns->bytes() : nullptr);
  return premultiplied(HostPlan(), std::move(step), 0, dims, row, column, 1);
}

// The plan for floats; None if no kernel can do it in one step.
std::optional<HostPlan*> premultiplied_sums(int dtype, const nb::list& dims_of, const nb::object& row,
                                            const nb::object& column, double unseen) {
  std::vector<Dim> dims = three_dims(dims_of);
  AxisMap* maps[2] = {map_of(row), map_of(column)};
  OwnedMap* of[2];
  Deciding by[2];
  int64_t at = 0;
  for (size_t k = 0; k < 2; ++k) {
    if (!maps[k]) throw std::invalid_argument("expected two maps");
    const auto [first, map] = maps[k]->cropped(true);
    at += first * dims[k].stride, dims[k].n = map->n_in;
    of[k] = &map->sums(true), by[k] = Deciding(dims[k].n, *of[k]);
    if (has_long_sums(of[k]->map)) return std::nullopt;
  }
  WindowTask task{};
  task.in = task.out = Dtype(dtype), task.acc = task.in == Dtype::f64 ? Accumulate::f64 : Accumulate::f32;
  task.alpha = int(dims[2].n), task.unseen = unseen;
  int64_t n_plane;
  if (!window_pass({dims.data(), 3, 0, 2}, of, by, false, task, n_plane)) return std::nullopt;
  const int64_t pixel = dims[2].n * size_of(task.in);
  const bool contiguous = task.n_column == 1 || task.column_stride == pixel;
  const bool flipped = task.rows_first && task.column_stride == -pixel;
  if (task.inner_stride != size_of(task.in) || !(contiguous || flipped)) return std::nullopt;
  auto step = std::make_unique<WindowStep>(task, n_plane, of, 2);
  return premultiplied(HostPlan(), std::move(step), at, dims, row, column, size_of(task.in));
}

}  // namespace

void bind_plan(nb::module_& m) {
  nb::class_<AxisMap>(m, "AxisMap")
      .def(nb::init<>())
      .def("set_repeat", &AxisMap::set_repeat)
      .def("set_runs",
           [](AxisMap& to, int64_t n_in, int64_t n_out, const Int64s& offsets) {
             if (int64_t(offsets.size()) != n_in + 1) throw std::invalid_argument("map: expected n_in + 1 offsets");
             to.set_runs(n_in, n_out, offsets);
           })
      .def("set_index", [](AxisMap& to, int64_t n_in, const Int64s& index) { to.set_index(n_in, index); })
      .def("set_source_index",
           [](AxisMap& to, const nb::object& of) { to.set_source_index(of, nb::cast<const SourceIndex&>(of)); })
      .def("set_map", [](AxisMap& to, const nb::object& of) { to.set_map(of, nb::cast<OwnedMap&>(of)); })
      .def(
          "set_gather",
          [](AxisMap& to, int64_t n_in, const Int64s& offset, const Int64s& index, std::optional<Doubles> weight) {
            to.set_gather(n_in, offset, index, std::move(weight));
          },
          nb::arg("n_in"), nb::arg("offset"), nb::arg("index"), nb::arg("weight").none())
      .def("set_counts", &AxisMap::set_counts)
      .def_prop_ro("has_bytes", &AxisMap::has_bytes);
  nb::class_<HostPlan>(m, "HostPlan")
      .def("__init__", &init_plan, nb::arg("layout"), nb::arg("maps"), nb::arg("order").none(), nb::arg("rounding"),
           nb::arg("room").none())
      .def("run",
           [](const HostPlan& plan, uintptr_t src, uintptr_t dst, bool stream) {
             const int threads = plan.threads();
             if (!threads) nb::raise_python_error();
             plan.run(reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst), threads, stream);
           })
      // Writes to a caller's memory: signals are handled when the result is complete.
      .def("run_whole",
           [](const HostPlan& plan, uintptr_t src, uintptr_t dst, bool stream) {
             const int threads = plan.threads();
             if (!threads) nb::raise_python_error();
             const DeferredSignals deferred;
             plan.run(reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst), threads, stream);
           })
      .def_static("premultiplied_bytes", &premultiplied_bytes, nb::arg("dims"), nb::arg("row").none(),
                  nb::arg("column").none(), nb::arg("rows_first"))
      .def_static("premultiplied_sums", &premultiplied_sums, nb::arg("dtype"), nb::arg("dims"), nb::arg("row"),
                  nb::arg("column"), nb::arg("unseen"))
      .def_prop_ro("scratch", &HostPlan::scratch)
      .def_prop_ro("small", &HostPlan::small)
      .def_prop_ro("positions", &HostPlan::positions)
      .def_prop_ro("passes", [](const HostPlan& plan) { return data_of(plan.before(), plan.passes(), false); })
      .def_prop_ro("steps", &steps_of);
  m.def("passes_on_device", &passes_on_device, nb::arg("layout"), nb::arg("maps"), nb::arg("order").none(),
        nb::arg("rounding"), nb::arg("room"));
  m.def("rows_before", &rows_before, nb::arg("n_row"), nb::arg("made_row"), nb::arg("n_column"),
        nb::arg("made_column"));
}

}  // namespace tenter
