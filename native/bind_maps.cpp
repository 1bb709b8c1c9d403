// Maps and the rules that they are computed by, as Python has them.
#include <nanobind/stl/optional.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "bind_values.hpp"
#include "folded.hpp"
#include "owned_map.hpp"
#include "pillow_rows.hpp"
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

template <class T>
std::vector<T> values(const nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& x) {
  return {x.data(), x.data() + x.size()};
}

// Ascending offsets from 0 to n.
void check_offsets(const Int64s& offset, size_t n) {
  const int64_t* const at = offset.data();
  bool ascend = offset.size() > 0 && at[0] == 0 && at[offset.size() - 1] == int64_t(n);
  for (size_t k = 1; ascend && k < offset.size(); ++k) ascend = at[k - 1] <= at[k];
  if (!ascend) throw std::invalid_argument("rows: expected ascending offsets from 0 to their taps");
}

// (n_in, offset, column, weight, edge) of rows whose taps may lie past the edges, to (start, None, offset, weight) of a
// window, or (None, index, offset, weight) of a gather; None of an axis that stays as it is.
nb::object folded_rows(int64_t n_in, const Int64s& offset, const Int64s& column, const Doubles& weight, int edge) {
  constexpr int64_t farthest = int64_t(1) << 61;
  if (!edge_words.has(edge) || n_in < 0 || n_in > farthest || column.size() != weight.size() ||
      (!n_in && column.size()))
    throw std::invalid_argument("rows: expected inputs, a weight for each tap, and the number of an edge");
  check_offsets(offset, column.size());
  for (size_t k = 0; k < column.size(); ++k)
    if (column.data()[k] > farthest || column.data()[k] < -farthest)
      throw std::invalid_argument("rows: expected inputs up to 2**61");
  FoldedRows made = fold_rows(n_in, {values(offset), values(column), values(weight)}, Edge(edge));
  if (made.is_identity(n_in)) return nb::none();
  if (made.adjacent)
    return nb::make_tuple(numbers(std::move(made.rows.start)), nb::none(), numbers(std::move(made.rows.offset)),
                          numbers(std::move(made.rows.weight)));
  return nb::make_tuple(nb::none(), numbers(std::move(made.taps.column)), numbers(std::move(made.taps.offset)),
                        numbers(std::move(made.taps.weight)));
}

}  // namespace

void bind_maps(nb::module_& m) {
  m.def("folded_rows", &folded_rows, nb::arg("n_in"), nb::arg("offset"), nb::arg("column"), nb::arg("weight"),
        nb::arg("edge"));
  m.def("laid_out", [](const Int64s& offset, const Int64s& index) {
    check_offsets(offset, index.size());
    LaidOut made = laid_out(int64_t(offset.size()) - 1, offset.data(), index.data());
    return nb::make_tuple(numbers(std::move(made.order)), numbers(std::move(made.start)));
  });
  nb::class_<Filter>(m, "Filter")
      .def("__init__", [](Filter* f, const char* kind, double p,
                          double q) { new (f) Filter{FilterKind(number_of("filter", filter_words, kind)), p, q}; })
      .def_prop_ro("of_pillow", [](const Filter& f) { return of_pillow(f) != nullptr; })
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
            if (n_in < 0 || n_out < 0 || rule < 0 || rule > 2 || !edge_words.has(edge))
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
      .def_prop_ro("taps_at_ends", [](const Sampling& s) { return goes_on(s.edge()) ? taps_at_ends(s) : 0.0; })
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
            if (rule < 0 || rule > 2 || !edge_words.has(edge) || !align_words.has(align))
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
