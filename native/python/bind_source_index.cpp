// Python's SourceIndex: the source indices of nearest modes.
#include <nanobind/stl/optional.h>

#include <optional>

#include "python/bind_values.hpp"
#include "rules/source_index.hpp"
#include "system/tuning.hpp"

namespace tenter {

void bind_source_index(nb::module_& m) {
  nb::class_<SourceIndex>(m, "SourceIndex")
      .def(
          "__init__",
          [](SourceIndex* p, int64_t n_in, int64_t n_out, const char* formula, double first, double step,
             const char* edge) {
            const auto of = Formula(number_of("formula", formula_words, formula));
            if (n_in < (n_out > 0) || n_out < 0 || of == Formula::line)
              throw std::invalid_argument("source_index: expected inputs for outputs, and a formula of numbers");
            const auto padding = Edge(number_of("edge", edge_words, edge));
            new (p) SourceIndex(
                {.n_in = n_in, .n_out = n_out, .formula = of, .first = first, .step = step, .edge = padding});
          },
          nb::arg("n_in"), nb::arg("n_out"), nb::arg("formula"), nb::arg("first"), nb::arg("step"), nb::arg("edge"))
      .def_ro("n_in", &SourceIndex::n_in)
      .def_ro("n_out", &SourceIndex::n_out)
      .def_prop_ro("reads_all", &SourceIndex::reads_all)
      .def_prop_ro("reads_padding", &SourceIndex::reads_padding)
      .def_prop_ro("is_long", [](const SourceIndex& p) { return p.n_in + p.n_out > tuning.long_axis; })
      .def_prop_ro("repeat", &SourceIndex::repeat)
      .def("index",
           [](const SourceIndex& p, int64_t lo, int64_t hi) {
             if (lo < 0 || hi < lo || hi > p.n_out) throw std::invalid_argument("expected outputs of the map");
             std::vector<int64_t> index(static_cast<size_t>(hi - lo));
             p.index(lo, hi, index.data());
             return numbers(std::move(index));
           })
      .def("offsets", [](const SourceIndex& p, int64_t lo, int64_t hi) {
        if (lo < 0 || hi < lo || hi > p.n_in) throw std::invalid_argument("expected inputs of the map");
        std::vector<int64_t> offset(static_cast<size_t>(hi - lo) + 1);
        p.offsets(lo, hi, offset.data());
        return numbers(std::move(offset));
      });
}

}  // namespace tenter
