// The words of enumerations, and the tables of filters and dtypes, for Python.
#include "calls/specialization.hpp"
#include "kernels/choices.hpp"
#include "kernels/dtypes.hpp"
#include "kernels/rounding.hpp"
#include "python/bind_values.hpp"
#include "rules/filters.hpp"

namespace tenter {
namespace {

nb::tuple tuple_of(const Words& words) {
  nb::list made;
  for (int k = 0; k < words.count; ++k) made.append(words.word[k]);
  return nb::tuple(made);
}

}  // namespace

void bind_words(nb::module_& m) {
  nb::dict all;
  all["align"] = tuple_of(align_words), all["tie"] = tuple_of(tie_words), all["edge"] = tuple_of(edge_words);
  all["filter"] = tuple_of(filter_words), all["copy"] = tuple_of(copy_kind_words);
  all["rounding"] = tuple_of(rounding_words), all["policy"] = tuple_of(policy_words);
  all["length_rounding"] = tuple_of(length_rounding_words);
  all["fill"] = tuple_of(fill_words), all["kind"] = tuple_of(kind_words);
  all["arithmetic"] = tuple_of(arithmetic_words);
  all["kernel"] = tuple_of(kernel_words), all["choice"] = tuple_of(choice_words);
  m.attr("WORDS") = all;
  nb::dict reasons;
  for (int k = 0; k < kernel_words.count; ++k) reasons[kernel_words.word[k]] = kernel_reason_words.word[k];
  m.attr("KERNELS") = reasons;
  nb::list periodic, named, dtypes, filters;
#define TENTER_NAMED(name, word, flag) \
  if (flag) named.append(word);
  TENTER_ARITHMETICS(TENTER_NAMED)
#undef TENTER_NAMED
  all["named arithmetic"] = nb::tuple(named);
  for (int e = 0; e < edge_words.count; ++e)
    if (is_periodic(Edge(e))) periodic.append(edge_words.word[e]);
  all["periodic edge"] = nb::tuple(periodic);
  for (const DtypeRow& d : dtype_rows) {
    const char kind[] = {d.kind, 0};
    const Dtype sums = d.sums == Accumulate::f64 ? Dtype::f64 : Dtype::f32;
    dtypes.append(nb::make_tuple(d.name, kind, d.bytes, dtype_rows[int(sums)].name));
  }
  m.attr("DTYPES") = nb::tuple(dtypes);
  for (const NamedFilter& f : named_filters) filters.append(nb::make_tuple(f.name, f.filter, f.support, f.sums_to_one));
  m.attr("FILTERS") = nb::tuple(filters);
}

}  // namespace tenter
