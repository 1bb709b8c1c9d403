// Steps of 8-bit values, and Pillow's weights, for Python, which has checked their arguments.
#include "bind_bytes.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bind_values.hpp"
#include "bytes.hpp"
#include "gil.hpp"
#include "pillow_rows.hpp"
#include "steps.hpp"
#include "verify.hpp"

namespace tenter {
namespace {

using Int64s = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A ByteMap with the forms of its weights, each made at its first use. A list that only grows, without a lock: a
// process forked while another thread holds a lock would deadlock.
struct OwnedByteMap {
  ByteMap map;
  struct Made {
    QuadTable table;
    Made* next;
  };
  std::atomic<Made*> made{nullptr};

  OwnedByteMap(int64_t n_in, int64_t n_out, const Int64s& start, const Int64s& offset, const Doubles& weight)
      : map(n_in, n_out, start.data(), offset.data(), weight.data()) {}
  OwnedByteMap(const OwnedByteMap&) = delete;
  OwnedByteMap& operator=(const OwnedByteMap&) = delete;
  ~OwnedByteMap() {
    for (Made* m = made; m;) delete std::exchange(m, m->next);
  }
  const QuadTable* quads(WeightForm form, bool aligned) {
    for (const Made* m = made; m; m = m->next)
      if (m->table.form == form && m->table.aligned == aligned) return &m->table;
    auto fresh = std::make_unique<Made>(make_quads(map, form, aligned), made.load());
    while (!made.compare_exchange_weak(fresh->next, fresh.get())) {}
    return &fresh.release()->table;  // another thread may have added an equal one: harmless
  }
};

// length, stride in bytes, map
using ByteAxis = std::tuple<int64_t, int64_t, nb::object>;

// A call of the kernel of 8-bit values without its addresses and threads, reused for arrays of one layout.
struct ByteStep : SmallStep {
  ByteTask task{};
  nb::object row_map, column_map;  // that the task points into
  OwnedByteMap *rows = nullptr, *columns = nullptr;

  ByteStep(const nb::list& outer, const ByteAxis& row, const ByteAxis& column, std::tuple<int64_t, int64_t> inner,
           bool rows_first, bool alpha) {
    set_outer(task, outer);
    std::tie(task.n_row, task.row_stride, row_map) = row;
    std::tie(task.n_column, task.column_stride, column_map) = column;
    std::tie(task.inner, task.inner_stride) = inner;
    if (!row_map.is_none()) rows = &nb::cast<OwnedByteMap&>(row_map), task.row = &rows->map;
    if (!column_map.is_none()) columns = &nb::cast<OwnedByteMap&>(column_map), task.column = &columns->map;
    task.rows_first = rows_first, task.alpha = alpha;
    if constexpr (verifies) verify(task);
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const {
    const ByteTask call = at(src, dst, stream);
    without_gil([&] { kernels().bytes->run(call, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override { kernels().bytes->run(at(src, dst, false), 1); }
  ByteTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    ByteTask call = task;
    call.src = reinterpret_cast<const uint8_t*>(src), call.dst = reinterpret_cast<uint8_t*>(dst);
    call.stream = stream;
    const WeightForm form = kernels().bytes->form;
    if (rows) call.row_quads = rows->quads(form, false);
    if (columns) call.column_quads = columns->quads(form, task.inner <= max_byte_inner);
    return call;
  }
};

// A vector as a NumPy array that owns it.
template <class T>
nb::ndarray<nb::numpy, const T> array_of(std::vector<T>&& values) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  const T* const data = held->data();
  const size_t n = held->size();
  nb::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, const T>(data, {n}, owner);
}

}  // namespace

void bind_bytes(nb::module_& m) {
  nb::class_<OwnedByteMap>(m, "ByteMap")
      .def(nb::init<int64_t, int64_t, const Int64s&, const Int64s&, const Doubles&>(), nb::arg("n_in"),
           nb::arg("n_out"), nb::arg("start"), nb::arg("offset"), nb::arg("weight"));
  nb::class_<ByteStep, SmallStep>(m, "ByteStep")
      .def(nb::init<const nb::list&, const ByteAxis&, const ByteAxis&, std::tuple<int64_t, int64_t>, bool, bool>(),
           nb::arg("outer"), nb::arg("row"), nb::arg("column"), nb::arg("inner"), nb::arg("rows_first"),
           nb::arg("alpha"))
      .def("__call__", &ByteStep::run);
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
  m.def("pillow_rows", [](int filter, int64_t n_in, float begin, float end, int64_t n_out) {
    PillowRows r = pillow_rows(PillowFilter(filter), n_in, begin, end, n_out);
    return std::make_tuple(array_of(std::move(r.start)), array_of(std::move(r.offset)), array_of(std::move(r.weight)));
  });
}

}  // namespace tenter
