// Maps and the rules that they are computed by, as Python has them.
#include <nanobind/stl/optional.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "bind_values.hpp"
#include "folded.hpp"
#include "owned_map.hpp"
#include "pillow_rows.hpp"

namespace tenter {

void bind_rules(nb::module_& m);

namespace {

nb::tuple tables(const Rows& rows) {
  return nb::make_tuple(numbers(rows.start), numbers(rows.offset), numbers(rows.weight));
}

// Ascending offsets from 0 to n.
void check_offsets(const Int64s& offset, size_t n) {
  const int64_t* const at = offset.data();
  bool ascend = offset.size() > 0 && at[0] == 0 && at[offset.size() - 1] == int64_t(n);
  for (size_t k = 1; ascend && k < offset.size(); ++k) ascend = at[k - 1] <= at[k];
  if (!ascend) throw std::invalid_argument("rows: expected ascending offsets from 0 to their taps");
}

}  // namespace

void bind_maps(nb::module_& m) {
  m.def("laid_out", [](const Int64s& offset, const Int64s& index) {
    check_offsets(offset, index.size());
    LaidOut made = laid_out(int64_t(offset.size()) - 1, offset.data(), index.data());
    return nb::make_tuple(numbers(std::move(made.order)), numbers(std::move(made.start)));
  });
  nb::class_<Filter>(m, "Filter")
      .def("__init__", [](Filter* f, const char* kind, double p,
                          double q) { new (f) Filter{FilterKind(number_of("filter", filter_words, kind)), p, q}; })
      .def("__call__", [](const Filter& f, const Doubles& distance) {
        std::vector<double> weight(distance.size());
        kernels().weights(f, distance.data(), int64_t(distance.size()), weight.data());
        return numbers(weight);
      });
  nb::class_<Sampling>(m, "Sampling").def_prop_ro("taps_at_ends", [](const Sampling& s) {
    return goes_on(s.edge()) ? taps_at_ends(s) : 0.0;
  });
  bind_rules(m);
  nb::class_<OwnedMap>(m, "WindowMap")
      .def(nb::init<int64_t, int64_t, int64_t, std::optional<Int64s>, std::optional<Int64s>, std::optional<Doubles>>(),
           nb::arg("n_in"), nb::arg("n_out"), nb::arg("width"), nb::arg("start").none(), nb::arg("offset").none(),
           nb::arg("weight").none())
      .def(
          "__init__",
          [](OwnedMap* m, nb::object sampling, bool transposed, bool with_tables) {
            const Sampling& of = nb::cast<const Sampling&>(sampling);
            if (goes_on(of.edge()) && of.n_in() < 1) throw std::invalid_argument("map: expected inputs");
            new (m) OwnedMap(std::move(sampling), of, transposed, with_tables);
          },
          nb::arg("sampling"), nb::arg("transposed"), nb::arg("with_tables"))
      .def(
          "__init__",
          [](OwnedMap* m, nb::object picking, bool transposed) {
            const Picking& of = nb::cast<const Picking&>(picking);
            new (m) OwnedMap(std::move(picking), of, transposed);
          },
          nb::arg("picking"), nb::arg("transposed"))
      .def_prop_ro("is_computed", &OwnedMap::is_computed)
      .def_prop_ro("has_tables", [](const OwnedMap& m) { return m.map.start != nullptr; })
      .def_prop_ro("gathers", &OwnedMap::gathers)
      .def_prop_ro("picks", [](const OwnedMap& m) { return m.gathers() && m.picks(); })
      .def("gathered",
           [](const OwnedMap& m) {  // (order, start, offset, weight)
             if (!m.gathers()) throw std::invalid_argument("expected a map that gathers");
             std::vector<int64_t> order;
             Rows rows = m.gathered(order);
             return nb::make_tuple(numbers(std::move(order)), numbers(std::move(rows.start)),
                                   numbers(std::move(rows.offset)), numbers(std::move(rows.weight)));
           })
      .def_prop_ro("n_taps", &OwnedMap::n_taps)
      .def_prop_ro("is_identity", &OwnedMap::is_identity)
      .def_prop_ro("sampling", [](const OwnedMap& m) { return m.sampling ? m.rule : nb::none(); })
      .def_prop_ro("picking", [](const OwnedMap& m) { return m.picking ? m.rule : nb::none(); })
      .def_ro("transposed", &OwnedMap::transposed)
      .def("tables", [](OwnedMap& m, int64_t lo, int64_t hi) {
        if (lo < 0 || hi < lo || hi > m.map.n_out) throw std::invalid_argument("expected rows of the map");
        if (!m.sampling && !m.picking && (lo != 0 || hi != m.map.n_out))
          throw std::invalid_argument("expected all rows");
        if (m.gathers()) throw std::invalid_argument("expected rows of adjacent inputs");
        m.make_tables();
        if (!m.is_computed() && lo == 0 && hi == m.map.n_out) return tables(m.rows);
        Rows rows;
        m.make_rows(lo, hi, rows);
        return tables(rows);
      });
}

}  // namespace tenter
