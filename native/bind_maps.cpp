// Maps and the rules that they are computed by, as Python has them.
#include <nanobind/stl/optional.h>

#include <stdexcept>

#include "bind_values.hpp"
#include "owned_map.hpp"
#include "whole_axis.hpp"

namespace tenter {
namespace {

nb::tuple tables(const Rows& rows) {
  return nb::make_tuple(numbers(rows.start), numbers(rows.offset), numbers(rows.weight));
}

// Weights by one of the core's filters, or by a function of Python's of an array of distances, which gives as many
// weights; those from its support on do not count. (The core's filters are zero there by themselves, and box knows
// which distances are roundings of its edge.)
Sampling::Weights weights_of(const nb::object& filter, double support) {
  if (filter.is_none()) return nullptr;
  if (nb::isinstance<Filter>(filter))
    return [f = nb::cast<Filter>(filter)](const double* d, int64_t n, double* w) { kernels().weights(f, d, n, w); };
  return [f = nb::cast<nb::callable>(filter), support](const double* distance, int64_t n, double* weight) {
    std::vector<double> given(distance, distance + n);
    const nb::object made = f(numbers(given));
    const auto found = nb::cast<Doubles>(made);
    if (int64_t(found.size()) != n) throw std::invalid_argument("filter: expected a weight for each distance");
    for (int64_t k = 0; k < n; ++k)
      weight[k] = distance[k] > -support && distance[k] <= support ? found.data()[k] : 0.0;
  };
}

std::optional<Filter> core_filter(const nb::object& filter) {
  if (!nb::isinstance<Filter>(filter)) return std::nullopt;
  return nb::cast<Filter>(filter);
}

}  // namespace

void bind_maps(nb::module_& m) {
  nb::class_<Filter>(m, "Filter")
      .def("__init__",
           [](Filter* f, int kind, double p, double q) {
             if (kind < 0 || kind > int(FilterKind::hamming))
               throw std::invalid_argument("filter: expected its number");
             new (f) Filter{FilterKind(kind), p, q};
           })
      .def("__call__", [](const Filter& f, const Doubles& distance) {
        std::vector<double> weight(distance.size());
        kernels().weights(f, distance.data(), int64_t(distance.size()), weight.data());
        return numbers(weight);
      });
  nb::class_<Sampling>(m, "Sampling")
      .def(
          "__init__",
          [](Sampling* s, int64_t n_in, int64_t n_out, int rule, const LineTuple& line, nb::object filter,
             double support, int64_t numerator, int64_t denominator, double stretch, bool normalize, int edge) {
            if (n_in < 0 || n_out < 0 || rule < 0 || rule > 2 || edge < 0 || edge > 4)
              throw std::invalid_argument(
                  "sampling: expected lengths of at least 0, and numbers of a rule and an edge");
            new (s) Sampling(n_in, n_out, Rule(rule), line_of(line), support, weights_of(filter, support), numerator,
                             denominator, stretch, normalize, Edge(edge));
            s->filter = core_filter(filter);
          },
          nb::arg("n_in"), nb::arg("n_out"), nb::arg("rule"), nb::arg("line"), nb::arg("filter").none(),
          nb::arg("support"), nb::arg("numerator"), nb::arg("denominator"), nb::arg("stretch"), nb::arg("normalize"),
          nb::arg("edge"))
      .def_prop_ro("n_out", &Sampling::n_out)
      .def_prop_ro("taps_each", &Sampling::taps_each)
      .def("untrimmed", [](const Sampling& s) {
        Rows rows;
        s.untrimmed(0, s.n_out(), rows);
        return tables(rows);
      });
  nb::class_<WholeAxis>(m, "WholeAxis")
      .def(
          "__init__",
          [](WholeAxis* a, int rule, int align, nb::object filter, double support, bool widens, bool sums_to_one,
             int edge) {
            if (rule < 0 || rule > 2 || edge < 0 || edge > 4 || !known(align))
              throw std::invalid_argument("axis: expected the numbers of a rule, an align and an edge");
            new (a)
                WholeAxis{Rule(rule),  Align(align), weights_of(filter, support), core_filter(filter), support, widens,
                          sums_to_one, Edge(edge)};
          },
          nb::arg("rule"), nb::arg("align"), nb::arg("filter").none(), nb::arg("support"), nb::arg("widens"),
          nb::arg("sums_to_one"), nb::arg("edge"))
      .def("sampling", [](const WholeAxis& a, int64_t n_in, int64_t n_out) {
        if (n_in < 0 || n_out < int64_t(a.rule != Rule::filtered) || n_in > longest_whole_axis ||
            n_out > longest_whole_axis || is_onnx(a.align))
          throw std::invalid_argument("axis: expected lengths of at least 0 that it has positions for");
        return a.sampling(n_in, n_out);
      });
  m.attr("LONGEST_WHOLE_AXIS") = longest_whole_axis;
  nb::class_<OwnedMap>(m, "WindowMap")
      .def(nb::init<int64_t, int64_t, int64_t, std::optional<Int64s>, std::optional<Int64s>, std::optional<Doubles>>(),
           nb::arg("n_in"), nb::arg("n_out"), nb::arg("width"), nb::arg("start").none(), nb::arg("offset").none(),
           nb::arg("weight").none())
      .def(
          "__init__",
          [](OwnedMap* m, nb::object sampling, bool transposed, bool with_tables) {
            const Sampling& of = nb::cast<const Sampling&>(sampling);
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
      .def_prop_ro("n_taps", &OwnedMap::n_taps)
      .def_prop_ro("is_identity", &OwnedMap::is_identity)
      .def_prop_ro("sampling", [](const OwnedMap& m) { return m.sampling ? m.rule : nb::none(); })
      .def_prop_ro("picking", [](const OwnedMap& m) { return m.picking ? m.rule : nb::none(); })
      .def_ro("transposed", &OwnedMap::transposed)
      .def("tables", [](OwnedMap& m, int64_t lo, int64_t hi) {
        if (lo < 0 || hi < lo || hi > m.map.n_out) throw std::invalid_argument("expected rows of the map");
        if (!m.sampling && !m.picking && (lo != 0 || hi != m.map.n_out))
          throw std::invalid_argument("expected all rows");
        m.make_tables();
        if (!m.is_computed() && lo == 0 && hi == m.map.n_out) return tables(m.rows);
        Rows rows;
        m.make_rows(lo, hi, rows);
        return tables(rows);
      });
}

}  // namespace tenter
