// Steps of 8-bit values, and Pillow's weights, for Python, which has checked their arguments.
#include "bind_bytes.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bind_values.hpp"
#include "byte_step.hpp"
#include "bytes.hpp"
#include "gil.hpp"
#include "pillow_rows.hpp"
#include "passes.hpp"

namespace tenter {
namespace {

using Int64s = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// length, stride in bytes, map
using ByteAxis = std::tuple<int64_t, int64_t, nb::object>;

// A step of one axis or two, given as they are: (outer..., row, column, inner).
void init_step(ByteStep* to, const nb::list& outer, const ByteAxis& row, const ByteAxis& column,
               std::tuple<int64_t, int64_t> inner, bool rows_first, bool alpha) {
  ByteTask task{};
  set_outer(task, outer);
  nb::object row_map, column_map;
  std::tie(task.n_row, task.row_stride, row_map) = row;
  std::tie(task.n_column, task.column_stride, column_map) = column;
  std::tie(task.inner, task.inner_stride) = inner;
  task.rows_first = rows_first, task.alpha = alpha;
  auto of = [](const nb::object& map) { return map.is_none() ? nullptr : &nb::cast<OwnedByteMap&>(map); };
  new (to) ByteStep(task, of(row_map), of(column_map));
  to->held[0] = std::move(row_map), to->held[1] = std::move(column_map);
}

// The step of maps on one dim or two neighbors from `first` on; None if the input must be made contiguous first.
nb::object byte_step(const nb::list& dims, int first, const nb::list& given, bool rows_first) {
  Dim held[max_axes];
  const nb::tuple maps = items(given);
  const int count = int(maps.size());
  if (count < 1 || count > 2) throw std::invalid_argument("too many maps");
  const Pass pass = pass_of(dims, first, count, held);
  ByteTask task{};
  bool columns;
  if (!byte_pass(pass, rows_first, task, columns)) return nb::none();
  OwnedByteMap* const last = &nb::cast<OwnedByteMap&>(maps[size_t(count) - 1]);
  OwnedByteMap* const row = count == 2 ? &nb::cast<OwnedByteMap&>(maps[0]) : columns ? nullptr : last;
  auto made = std::make_unique<ByteStep>(task, row, columns ? last : nullptr);
  for (int k = 0; k < count; ++k) made->held[k] = maps[size_t(k)];
  const nb::object step = nb::cast(made.get(), nb::rv_policy::take_ownership);
  made.release();
  return step;
}

}  // namespace

void bind_bytes(nb::module_& m) {
  nb::class_<OwnedByteMap>(m, "ByteMap")
      .def(
          "__init__",
          [](OwnedByteMap* to, int64_t n_in, int64_t n_out, const Int64s& start, const Int64s& offset,
             const Doubles& weight) { new (to) OwnedByteMap(n_in, n_out, start.data(), offset.data(), weight.data()); },
          nb::arg("n_in"), nb::arg("n_out"), nb::arg("start"), nb::arg("offset"), nb::arg("weight"));
  nb::class_<ByteStep, KernelCall>(m, "ByteStep")
      .def("__init__", &init_step, nb::arg("outer"), nb::arg("row"), nb::arg("column"), nb::arg("inner"),
           nb::arg("rows_first"), nb::arg("alpha"))
      .def("__call__", &ByteStep::run);
  m.def("byte_step", &byte_step, nb::arg("dims"), nb::arg("first"), nb::arg("maps"), nb::arg("rows_first"));
  m.def("rows_before", &rows_before, nb::arg("n_row"), nb::arg("made_row"), nb::arg("n_column"),
        nb::arg("made_column"));
  m.def("weigh", [](uintptr_t src, uintptr_t dst, int dtype, int64_t n_pixels, int channels, bool divides,
                    double unseen, int threads) {
    const WeighTask t{reinterpret_cast<const void*>(src),
                      reinterpret_cast<void*>(dst),
                      Dtype(dtype),
                      n_pixels,
                      channels,
                      divides,
                      unseen};
    without_gil([&] { kernels().bytes->weigh(t, threads); });
  });
  m.def("is_alpha", [](uintptr_t src, int dtype, int64_t n_pixels, int channels, double alpha, int threads) {
    const WeighTask t{reinterpret_cast<const void*>(src), nullptr, Dtype(dtype), n_pixels, channels, false, alpha};
    bool found = false;
    without_gil([&] { found = kernels().bytes->is_alpha(t, threads); });
    return found;
  });
  m.def("fits_bytes", [](const Int64s& offset, const Doubles& weight) {
    return fits_bytes(int64_t(offset.size()) - 1, offset.data(), weight.data());
  });
}

}  // namespace tenter
