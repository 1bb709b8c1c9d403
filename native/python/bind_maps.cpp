// Python's WindowMap, Sampling and Filter, and the transposes of tables.
#include <nanobind/stl/optional.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "maps/owned_map.hpp"
#include "python/bind_values.hpp"
#include "rules/folded.hpp"
#include "rules/pillow_rows.hpp"

namespace tenter {

void bind_rules(nb::module_& m);

namespace {

nb::tuple tables(const Rows& rows) {
  return nb::make_tuple(numbers(rows.start), numbers(rows.offset), numbers(rows.weight));
}

// Raises an error unless offsets ascend from 0 to n.
void check_offsets(const Int64s& offset, size_t n) {
  const int64_t* const at = offset.data();
  bool ascend = offset.size() > 0 && at[0] == 0 && at[offset.size() - 1] == int64_t(n);
  for (size_t k = 1; ascend && k < offset.size(); ++k) ascend = at[k - 1] <= at[k];
  if (!ascend) throw std::invalid_argument("rows: expected ascending offsets from 0 to their taps");
}

template <class T>
std::vector<T> values(const nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& x) {
  return {x.data(), x.data() + x.size()};
}

// The transpose of a window: (start, offset, weight). weight: None if all weights are 1.
nb::tuple transposed_window(int64_t n_in, const Int64s& start, const Int64s& offset,
                            const std::optional<Doubles>& weight) {
  const size_t n = start.size();
  if (n_in < 0 || offset.size() != n + 1)
    throw std::invalid_argument("rows: expected inputs, and a start for each row");
  check_offsets(offset, weight ? weight->size() : size_t(offset.data()[n]));
  Rows rows{values(start), values(offset), weight ? values(*weight) : std::vector<double>()}, made;
  for (size_t o = 0; o < n; ++o) {
    const bool descends = o && (rows.start[o] < rows.start[o - 1] || rows.stop(int64_t(o)) < rows.stop(int64_t(o) - 1));
    if (descends || rows.start[o] < 0 || rows.start[o] > n_in - (rows.offset[o + 1] - rows.offset[o]))
      throw std::invalid_argument("rows: expected windows on the axis that do not descend");
  }
  transpose(rows, 0, 0, n_in, made);
  nb::object weights = nb::none();
  if (weight) weights = numbers(std::move(made.weight));
  return nb::make_tuple(numbers(std::move(made.start)), numbers(std::move(made.offset)), weights);
}

// The transpose of a gather: (offset, index, weight).
nb::tuple transposed_gather(int64_t n_in, const Int64s& offset, const Int64s& index, const Doubles& weight) {
  check_offsets(offset, index.size());
  if (n_in < 0 || weight.size() != index.size()) throw std::invalid_argument("rows: expected a weight for each tap");
  for (size_t k = 0; k < index.size(); ++k)
    if (index.data()[k] < 0 || index.data()[k] >= n_in)
      throw std::invalid_argument("rows: expected inputs of the axis");
  Taps made = transposed({values(offset), values(index), values(weight)}, n_in);
  return nb::make_tuple(numbers(std::move(made.offset)), numbers(std::move(made.column)),
                        numbers(std::move(made.weight)));
}

// All rows of a map that gathers: (order, start, offset, weight).
nb::tuple gathered(const OwnedMap& m) {
  if (!m.gathers()) throw std::invalid_argument("expected a map that gathers");
  std::vector<int64_t> order;
  Rows rows = m.gathered(order);
  return nb::make_tuple(numbers(std::move(order)), numbers(std::move(rows.start)), numbers(std::move(rows.offset)),
                        numbers(std::move(rows.weight)));
}

// Rows [lo, hi) of a map: (start, offset, weight). A map with tables from Python gives all rows only.
nb::tuple some_tables(OwnedMap& m, int64_t lo, int64_t hi) {
  if (lo < 0 || hi < lo || hi > m.map.n_out) throw std::invalid_argument("expected rows of the map");
  if (!m.sampling && !m.source_index && (lo != 0 || hi != m.map.n_out))
    throw std::invalid_argument("expected all rows");
  if (m.gathers()) throw std::invalid_argument("expected rows of adjacent inputs");
  m.make_tables();
  if (!m.is_computed() && lo == 0 && hi == m.map.n_out) return tables(m.rows);
  Rows rows;
  m.make_rows(lo, hi, rows);
  return tables(rows);
}

// Rows [lo, hi) of a map with Arithmetic::steps, of inputs [first, first + n), as a Sampling; None for other maps.
nb::object stepped_part(const OwnedMap& m, int64_t lo, int64_t hi, int64_t first, int64_t n) {
  if (!m.sampling || !m.sampling->linear_steps || m.transposed) return nb::none();
  if (lo < 0 || hi < lo || hi > m.map.n_out) throw std::invalid_argument("expected rows of the map");
  return nb::cast(m.sampling->part(lo, hi, first, n));
}

void bind_transposes(nb::module_& m) {
  m.def("transposed_window", &transposed_window, nb::arg("n_in"), nb::arg("start"), nb::arg("offset"),
        nb::arg("weight").none());
  m.def("transposed_gather", &transposed_gather, nb::arg("n_in"), nb::arg("offset"), nb::arg("index"),
        nb::arg("weight"));
  m.def("laid_out", [](const Int64s& offset, const Int64s& index) {
    check_offsets(offset, index.size());
    LaidOut made = laid_out(int64_t(offset.size()) - 1, offset.data(), index.data());
    return nb::make_tuple(numbers(std::move(made.order)), numbers(std::move(made.start)));
  });
}

void bind_filters(nb::module_& m) {
  nb::class_<Filter>(m, "Filter")
      .def("__init__", [](Filter* f, const char* kind, double p,
                          double q) { new (f) Filter{FilterKind(number_of("filter", filter_words, kind)), p, q}; })
      .def("__call__", [](const Filter& f, const Doubles& distance) {
        std::vector<double> weight(distance.size());
        kernels().weights(f, distance.data(), int64_t(distance.size()), weight.data());
        return numbers(weight);
      });
  nb::class_<Sampling>(m, "Sampling").def_prop_ro("taps_at_ends", [](const Sampling& s) {
    return is_periodic(s.edge()) ? taps_at_ends(s) : 0.0;
  });
}

void bind_window_maps(nb::module_& m) {
  nb::class_<OwnedMap>(m, "WindowMap")
      .def(nb::init<int64_t, int64_t, int64_t, std::optional<Int64s>, std::optional<Int64s>, std::optional<Doubles>>(),
           nb::arg("n_in"), nb::arg("n_out"), nb::arg("width"), nb::arg("start").none(), nb::arg("offset").none(),
           nb::arg("weight").none())
      .def(
          "__init__",
          [](OwnedMap* m, nb::object sampling, bool transposed, bool with_tables) {
            const Sampling& of = nb::cast<const Sampling&>(sampling);
            if (is_periodic(of.edge()) && of.n_in() < 1) throw std::invalid_argument("map: expected inputs");
            new (m) OwnedMap(std::move(sampling), of, transposed, with_tables);
          },
          nb::arg("sampling"), nb::arg("transposed"), nb::arg("with_tables"))
      .def(
          "__init__",
          [](OwnedMap* m, nb::object source_index, bool transposed) {
            const SourceIndex& of = nb::cast<const SourceIndex&>(source_index);
            new (m) OwnedMap(std::move(source_index), of, transposed);
          },
          nb::arg("source_index"), nb::arg("transposed"))
      .def_prop_ro("is_computed", &OwnedMap::is_computed)
      .def_prop_ro("has_tables", [](const OwnedMap& m) { return m.has_tables() && !m.gathers(); })
      .def_prop_ro("gathers", &OwnedMap::gathers)
      .def_prop_ro("only_copies", [](const OwnedMap& m) { return m.gathers() && m.only_copies(); })
      .def("gathered", &gathered)
      .def_prop_ro("n_taps", &OwnedMap::n_taps)
      .def_prop_ro("is_identity", &OwnedMap::is_identity)
      .def_prop_ro("sampling", [](const OwnedMap& m) { return m.sampling ? m.rule : nb::none(); })
      .def_prop_ro("source_index", [](const OwnedMap& m) { return m.source_index ? m.rule : nb::none(); })
      .def_ro("transposed", &OwnedMap::transposed)
      .def("stepped_part", &stepped_part)
      .def("tables", &some_tables);
}

}  // namespace

void bind_maps(nb::module_& m) {
  bind_transposes(m);
  bind_filters(m);
  bind_rules(m);
  bind_window_maps(m);
}

}  // namespace tenter
