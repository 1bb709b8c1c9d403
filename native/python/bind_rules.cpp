// Python's AxisRule, and the maps that the core makes from rules.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "kernels/kernels.hpp"
#include "maps/owned_map.hpp"
#include "python/bind_values.hpp"
#include "rules/axis_rule.hpp"
#include "rules/between.hpp"
#include "rules/folded.hpp"
#include "rules/rounded.hpp"
#include "system/gil.hpp"

namespace tenter {
namespace {

// A function from distances to weights: one of the core's filters, or a Python function of an array of distances.
// Weights of a Python function beyond its support are ignored. (The core's filters are zero there, and box handles
// distances that a rounding error moves across its edge.) Null for None.
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

void init_rule(AxisRule* to, const char* kind, const char* align, const char* tie, const char* arithmetic,
               const char* edge, bool antialias) {
  new (to) AxisRule{.kind = Kind(number_of("kind", kind_words, kind)),
                    .align = Align(number_of("align", align_words, align)),
                    .tie = Tie(number_of("tie", tie_words, tie)),
                    .arithmetic = Arithmetic(number_of("arithmetic", arithmetic_words, arithmetic)),
                    .edge = Edge(number_of("edge", edge_words, edge)),
                    .antialias = antialias};
}

void set_filter(AxisRule& to, const nb::object& filter, double support, bool sums_to_one) {
  to.weights = weights_of(filter, support), to.support = support, to.sums_to_one = sums_to_one;
  if (nb::isinstance<Filter>(filter)) to.filter = nb::cast<Filter>(filter);
}

// The numbers of a call for one axis, and the memory that AxisNumbers points to.
struct OwnedNumbers {
  Scale scale;
  Box box;
  WidePositions positions;
  AxisNumbers by;
  // scale_words: null if there is no scale. ends: the box, or None. wide: tenter._specs.axis_maps.WideNumbers, if
  // Python computed numbers that have more bits than the core supports; else None. Returns false if a number has more
  // bits than that.
  bool read(const char* scale_words, const nb::object& ends, const nb::object& wide) {
    if (scale_words) by.scale = &scale;
    if (!ends.is_none()) by.box = &box;
    if (!wide.is_none()) {
      positions.line = line_of(wide.attr("line"));
      positions.stretch = {field<int64_t>(wide, "numerator"), field<int64_t>(wide, "denominator"),
                           field<double>(wide, "ratio")};
      by.positions = &positions;
      box = {{0, 0, 1}, field<double>(wide, "begin"), field<double>(wide, "end")};
      scale = {1, 1, field<double>(wide, "scale")};
      return true;
    }
    if (by.scale) {
      Fraction f;
      if (!f.read(scale_words) || f.numerator < 1) return false;
      scale = {f.numerator, f.denominator, f.value};
    }
    if (!by.box) return true;
    const auto [begin, end] = nb::cast<std::tuple<const char*, const char*>>(ends);
    Fraction first, last;
    return first.read(begin) && last.read(end) && box_of(first, last, box);
  }
};

// AxisRule::settled -> (arithmetic, whether positions follow the scale). box: its begin and end, or None. of:
// tenter._specs.axis_maps.AxisCall
nb::tuple settled(const AxisRule& rule, int64_t n_in, int64_t n_out, bool scaled, const nb::object& box,
                  const nb::object& of) {
  const AxisCall call{.n_axes = field<int>(of, "n_axes"),
                      .sum_of_sizes = field<double>(of, "sum_of_sizes"),
                      .keeps_lengths = field<bool>(of, "keeps_lengths"),
                      .doubles = field<bool>(of, "doubles"),
                      .on_device = field<bool>(of, "on_device"),
                      .rounding = rounding_of(field<const char*>(of, "rounding")),
                      .bytes = field<bool>(of, "bytes")};
  const Scale any{1, 1, 1};
  Box ends{};
  AxisNumbers by;
  if (scaled) by.scale = &any;
  if (!box.is_none()) {
    std::tie(ends.begin, ends.end) = nb::cast<std::tuple<double, double>>(box);
    by.box = &ends;
  }
  const Arithmetic how = rule.settled(n_in, n_out, call, by);
  return nb::make_tuple(arithmetic_words.word[int(how)], by.scale != nullptr);
}

nb::object window_of(Rows& made) {
  return nb::make_tuple(numbers(std::move(made.start)), nb::none(), numbers(std::move(made.offset)),
                        numbers(std::move(made.weight)));
}
nb::object tables_of(FoldedRows&& made, int64_t n_in) {
  if (made.is_identity(n_in)) return nb::int_(1);
  if (made.adjacent) return window_of(made.rows);
  return nb::make_tuple(nb::none(), numbers(std::move(made.taps.column)), numbers(std::move(made.taps.offset)),
                        numbers(std::move(made.taps.weight)));
}

// Taps convolved with a Gaussian, which removes the frequencies that a shrinking axis cannot represent, as in
// scikit-image. bell: a Python function from sigma to (distances, weights), so that the bits are those of NumPy's
// exponential.
Taps blurred(const Taps& taps, int64_t n_in, Edge edge, double sigma, const nb::callable& bell) {
  const auto [distances, weights] = nb::cast<std::tuple<Int64s, Doubles>>(bell(sigma));
  const size_t n = distances.size();
  if (weights.size() != n) throw std::invalid_argument("bell: expected a weight for each distance");
  Taps made;
  made.offset.reserve(taps.offset.size());
  made.column.reserve(taps.column.size() * n), made.weight.reserve(taps.column.size() * n);
  made.offset.push_back(0);
  for (size_t o = 0; o + 1 < taps.offset.size(); ++o) {
    const size_t from = made.weight.size();
    double total = 0;
    for (int64_t k = taps.offset[o]; k < taps.offset[o + 1]; ++k)
      for (size_t t = 0; t < n; ++t) {
        const int64_t column = taps.column[size_t(k)] + distances.data()[t];
        const bool drops = (edge == Edge::constant || edge == Edge::renormalize) && (column < 0 || column >= n_in);
        made.column.push_back(column);
        made.weight.push_back(drops ? 0.0 : taps.weight[size_t(k)] * weights.data()[t]);
        total += made.weight.back();
      }
    if (edge == Edge::renormalize)
      for (size_t k = from; k < made.weight.size(); ++k)
        made.weight[k] = std::fabs(total) < nothing ? 0.0 : made.weight[k] / total;
    made.offset.push_back(int64_t(made.weight.size()));
  }
  return made;
}

nb::object source_index_of(const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by) {
  if (!n_out) return nb::int_(0);
  if (!n_in) throw std::invalid_argument("axis: expected inputs for outputs");
  std::optional<SourceIndex> found = rule.source_index(n_in, n_out, by, rule.arithmetic);
  return found ? nb::cast(std::move(*found)) : nb::none();
}

nb::object pillow_map(const NamedFilter& filter, int64_t n_in, int64_t n_out, const AxisNumbers& by,
                      const nb::callable& room) {
  if (n_in == n_out && !by.box) return nb::int_(1);
  if (!n_in || !n_out) throw std::invalid_argument("axis: expected pixels");
  const double begin = by.box ? by.box->begin : 0, end = by.box ? by.box->end : double(n_in);
  const double taps = 2 * (filter.support * std::max(1.0, (end - begin) / double(n_out)) + 1);
  room(std::min(double(n_in), taps) * double(n_out), 16);
  PillowRows rows = pillow_rows(filter, n_in, float(begin), float(end), n_out);
  rows.make_weights();
  return nb::make_tuple(numbers(std::move(rows.start)), nb::none(), numbers(std::move(rows.offset)),
                        numbers(std::move(rows.weights)));
}

// The map of rows whose taps are listed, blurred if the rule asks for it, and then mapped from the padding to inputs.
nb::object listed_map(const AxisRule& rule, const Sampling& rows, int64_t n_in, int64_t n_out, const AxisNumbers& by,
                      const nb::callable& bell) {
  Taps taps = taps_of(rows);
  Stretch pitch{1, 1, 1};
  if (rule.kind == Kind::gaussian && !rule.pitch(n_in, n_out, by, pitch)) return nb::none();
  if (pitch.ratio > 1) taps = blurred(taps, n_in, rule.edge, (pitch.ratio - 1) / 2, bell);
  FoldedRows made = fold_rows(n_in, std::move(taps), rule.edge);
  if (rule.arithmetic == Arithmetic::rounded && made.adjacent && !made.is_identity(n_in)) round_weights(made.rows);
  return tables_of(std::move(made), n_in);
}

// The map of an axis, as Python makes it from a rule. Returns one of
//   int                            each input is repeated so often
//   SourceIndex                    source indices
//   Sampling                       rows of weights
//   (start, None, offset, weight)  tables of a window
//   (None, index, offset, weight)  tables of a gather
//   None                           numbers have more bits than the core supports, or source indices descend. Python
//                                  then calls again with `wide`, or computes the indices
// room: a Python function of a number of elements and their bytes, which raises an error if there is no memory. bell:
// tenter.filters.gaussian.
nb::object axis_map(const AxisRule& rule, int64_t n_in, int64_t n_out, std::optional<const char*> scale,
                    const nb::object& box, const nb::callable& room, const nb::callable& bell, const nb::object& wide) {
  if (n_in < 0 || n_out < 0) throw std::invalid_argument("axis: expected lengths of at least 0");
  OwnedNumbers numbers_of_call;
  if (!numbers_of_call.read(scale.value_or(nullptr), box, wide)) return nb::none();
  const AxisNumbers& by = numbers_of_call.by;
  if (rule.is_nearest()) return source_index_of(rule, n_in, n_out, by);
  const NamedFilter* const filter = rule.arithmetic == Arithmetic::pillow ? rule.of_pillow() : nullptr;
  if (filter) return pillow_map(*filter, n_in, n_out, by, room);
  std::optional<Sampling> rows = rule.sampling(n_in, n_out, by);
  if (!rows) return nb::none();
  const auto taps_each = double(rows->taps_each());
  if (rows->has_long_rows()) room(taps_each, 100);
  const bool rounds = rule.arithmetic == Arithmetic::rounded, blurs = rule.kind == Kind::gaussian;
  const bool descends = by.box && rows->line().step.whole < 0;
  if (blurs || descends || (rounds && is_periodic(rule.edge))) {
    room(taps_each * double(n_out), 100);
    return listed_map(rule, *rows, n_in, n_out, by, bell);
  }
  AxisRule::mark(*rows, rule.arithmetic, by);
  if (!rounds) return nb::cast(std::move(*rows));
  room((taps_each + 2) * double(n_out), 16);
  OwnedMap tabled(nb::object(), *rows, false, true);
  if (tabled.is_identity()) return nb::int_(1);
  round_weights(tabled.rows);
  return window_of(tabled.rows);
}

}  // namespace

// The results' addresses have room for them (tenter._rules.between).
template <class Number>
void bind_between(nb::module_& m) {
  typedef nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu> Numbers;
  m.def("place_between", [](const Numbers& at, const Numbers& coordinates, Number rounding, uintptr_t placed,
                            uintptr_t last, uintptr_t ahead, int threads) {
    if (!coordinates.size()) throw std::invalid_argument("expected coordinates");
    const Between<Number> of{coordinates.data(), int64_t(coordinates.size()), at.data(), int64_t(at.size())};
    without_gil([&] {
      of.place(rounding, reinterpret_cast<Number*>(placed), reinterpret_cast<int64_t*>(last),
               reinterpret_cast<int64_t*>(ahead), threads);
    });
  });
  m.def("lines_between", [](const Numbers& at, const Numbers& coordinates, const Int64s& last, bool clips,
                            uintptr_t start, uintptr_t offset, uintptr_t weight, int threads) {
    if (coordinates.size() < 2 || last.size() != at.size()) throw std::invalid_argument("expected two coordinates");
    const Between<Number> of{coordinates.data(), int64_t(coordinates.size()), at.data(), int64_t(at.size())};
    int64_t taps = 0;
    without_gil([&] {
      taps = of.lines(last.data(), clips, reinterpret_cast<int64_t*>(start), reinterpret_cast<int64_t*>(offset),
                      reinterpret_cast<double*>(weight), threads);
    });
    return taps;
  });
}

void bind_rules(nb::module_& m) {
  bind_between<double>(m), bind_between<int64_t>(m);
  nb::class_<AxisRule>(m, "AxisRule")
      .def("__init__", &init_rule, nb::arg("kind"), nb::arg("align"), nb::arg("tie"), nb::arg("arithmetic"),
           nb::arg("edge"), nb::arg("antialias"))
      .def("set_filter", &set_filter, nb::arg("filter").none(), nb::arg("support"), nb::arg("sums_to_one"))
      .def_prop_ro("lined_up_by", [](const AxisRule& r) { return align_words.word[int(r.lined_up_by())]; })
      .def("settled", &settled, nb::arg("n_in"), nb::arg("n_out"), nb::arg("scaled"), nb::arg("box").none(),
           nb::arg("call"))
      .def("map", &axis_map, nb::arg("n_in"), nb::arg("n_out"), nb::arg("scale").none(), nb::arg("box").none(),
           nb::arg("room"), nb::arg("bell"), nb::arg("wide").none());
  m.def("folded", [](const Int64s& column, int64_t n_in, const char* edge) {
    const auto padding = Edge(number_of("edge", edge_words, edge));
    if (n_in < 1) throw std::invalid_argument("expected inputs");
    std::vector<int64_t> made(column.data(), column.data() + column.size());
    for (int64_t& c : made) c = folded(c, n_in, padding);
    return numbers(std::move(made));
  });
}

}  // namespace tenter
