// The functions of Python's C interface that small calls use, and the classes Specialization, RecordedCall and Counts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <tuple>

#include "arrays/arrays.hpp"
#include "calls/call_arguments.hpp"
#include "calls/call_key.hpp"
#include "calls/lookup.hpp"
#include "calls/recorded_calls.hpp"
#include "calls/repeat_counts.hpp"
#include "calls/specialization.hpp"
#include "plan/inputs.hpp"
#include "python/bind_values.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

// Turns C++ exceptions of a function into Python errors. These functions are not bound by nanobind, as reading their
// arguments would take longer than the calls.
template <PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)>
PyObject* without_exceptions(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  try {
    return f(self, args, n);
  } catch (const std::bad_alloc&) { return PyErr_NoMemory(); } catch (const std::exception& wrong) {  // by verify.hpp
    return PyErr_Format(PyExc_RuntimeError, "%s", wrong.what());
  }
}

template <PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)>
PyMethodDef fast(const char* name) {
  auto* const function = reinterpret_cast<void (*)()>(without_exceptions<f>);
  return {name, reinterpret_cast<PyCFunction>(function), METH_FASTCALL, nullptr};
}

PyMethodDef functions[] = {
    fast<read_numpy>("read_numpy"),
    fast<read_torch>("read_torch"),
    fast<register_calls>("register_calls"),
    fast<cached_call>("cached_call"),
    fast<cached_call_into>("cached_call_into"),
    fast<name_arguments>("name_arguments"),
    fast<know_constants>("know_constants"),
    fast<call_key>("call_key"),
    fast<forget_calls>("forget_calls"),
    fast<specialization_key>("specialization_key"),
    fast<ordinary>("ordinary"),
    fast<expand_view>("expand_view"),
    fast<register_gradients>("register_gradients"),
    fast<recorded_forward>("recorded_forward"),
    fast<gradients_specialization_key>("gradients_specialization_key"),
    fast<adjoint_plan_key>("adjoint_plan_key"),
    fast<by_offsets>("by_offsets"),
    fast<row_offsets>("row_offsets"),
    fast<last_offset>("last_offset"),
    fast<ragged_offsets>("ragged_offsets"),
    fast<ragged_row_ids>("ragged_row_ids"),
    fast<ragged_positions>("ragged_positions"),
    fast<ragged_ranges>("ragged_ranges"),
    fast<ragged_mask>("ragged_mask"),
    fast<ragged_spans>("ragged_spans"),
    fast<segment_sum>("segment_sum"),
    fast<segment_mean>("segment_mean"),
    fast<segment_max>("segment_max"),
    fast<segment_min>("segment_min"),
    fast<ragged_pad>("ragged_pad"),
    fast<ragged_unpad>("ragged_unpad"),
    fast<segment_less_max>("segment_less_max"),
    fast<segment_share>("segment_share"),
    {nullptr, nullptr, 0, nullptr},
};

// Functions that are bound as methods: PyTorch's engine calls a Function's backward as a method of its ctx.
PyMethodDef methods[] = {fast<recorded_backward>("recorded_backward")};

// Makes a Specialization; its members say what the values mean.
//   rules    (dim, rule, follows, weight_rule) of each axis, in ascending order of dims
//   sums     (dtype, in_parts, in_bytes, doubles)
//   at       `at` of each axis; None if sequences are in the order of the axes
//   order    the dims of the result from slowest to fastest in memory; None if it is contiguous
//   fill     (kind, value, element, input)
//   planner  tenter._plans.specializations.Specialization
void init_specialization(Specialization* to, nb::tuple rules, std::tuple<int, bool, bool, bool> sums, nb::object at,
                         int ndim, nb::object order, const char* rounding, const char* policy, bool strides_decide,
                         bool transposed, std::tuple<const char*, double, nb::bytes, int> fill, nb::object planner) {
  const auto [dtype, in_parts, in_bytes, doubles] = sums;
  const size_t n = rules.size();
  const bool fits = n >= 1 && n <= size_t(max_read_dims) && ndim >= 1 + strides_decide &&
                    ndim + in_parts <= max_read_dims && !(transposed && in_bytes) && dtype < n_dtypes;
  if (!fits) throw std::invalid_argument("specialization: expected axes of at most 8 dims");
  Specialization made;
  made.dtype = Dtype(dtype), made.in_parts = in_parts, made.in_bytes = in_bytes, made.doubles = doubles,
  made.rounding = Rounding(number_of("rounding", rounding_words, rounding));
  made.policy = Policy(number_of("policy", policy_words, policy));
  const auto& [word, value, element, input] = fill;
  const auto kind = FillKind(number_of("fill", fill_words, word));
  if (element.size() > sizeof made.fill.element)
    throw std::invalid_argument("specialization: expected an element of at most 16 bytes");
  made.fill.kind = kind, made.fill.value = value, made.input = Dtype(input);
  std::memcpy(made.fill.element, element.c_str(), element.size());
  made.acc = dtype < 0 ? Accumulate::f32 : sums_of(made.dtype), made.ndim = ndim;
  made.strides_decide = strides_decide, made.transposed = transposed;
  made.planner = Owned(planner.release().ptr());
  for (int d = 0; d < ndim; ++d) made.order[d] = order.is_none() ? d : nb::cast<int>(order[size_t(d)]);
  size_t n_nearest = 0;
  for (const nb::handle each : rules) {
    const auto [dim, rule, follows, weight_rule] = nb::cast<std::tuple<int, nb::object, bool, nb::object>>(each);
    Specialization::Axis& axis = made.axes[made.n_axes++];
    axis.dim = dim, axis.rule = &nb::cast<const AxisRule&>(rule), axis.follows = follows;
    if (!weight_rule.is_none()) axis.weight_rule = &nb::cast<const AxisRule&>(weight_rule);
    n_nearest += axis.rule->is_nearest();
    const bool outside = axis.rule->edge == Edge::constant || axis.rule->edge == Edge::extrapolate;
    if (axis.rule->kind == Kind::gaussian)
      throw std::invalid_argument("specialization: expected rules that the core plans");
    if (axis.rule->is_nearest() && outside && !transposed && kind != FillKind::filled)
      throw std::invalid_argument("specialization: expected outputs that are filled");
  }
  if (dtype < 0 && n_nearest < n) throw std::invalid_argument("specialization: expected a dtype of sums");
  const bool adds =
      is_float_number(dtype) && (made.input == made.dtype || (made.dtype == Dtype::f64 && !is_float(made.input)));
  if (kind == FillKind::added && (!adds || in_bytes || transposed || n_nearest))
    throw std::invalid_argument("specialization: expected sums to which a value can be added");
  if (kind == FillKind::filled && n_nearest && n_nearest < n)
    throw std::invalid_argument("specialization: expected axes that are filled alike");
  std::sort(made.axes, made.axes + made.n_axes, [](const auto& a, const auto& b) { return a.dim < b.dim; });
  for (int k = 0; k < made.n_axes; ++k)
    if (made.axes[k].dim < 0 || made.axes[k].dim >= ndim || (k && made.axes[k].dim <= made.axes[k - 1].dim))
      throw std::invalid_argument("specialization: expected dims in ascending order");
  for (int k = 0; k < made.n_axes; ++k) {
    made.axes[k].at = at.is_none() ? k : nb::cast<int>(at[size_t(k)]);
    if (made.axes[k].at < 0 || made.axes[k].at >= made.n_axes)
      throw std::invalid_argument("specialization: expected places");
  }
  made.by_dims = at.is_none();
  made.in_order = order.is_none();
  made.rules = Owned(rules.release().ptr());
  new (to) Specialization(std::move(made));
}

}  // namespace

void bind_calls(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) nb::raise_python_error();
  for (PyMethodDef& method : methods) {
    const nb::object made = nb::steal(PyDescr_NewMethod(&PyBaseObject_Type, &method));
    if (!made) nb::raise_python_error();
    m.attr(method.ml_name) = made;
  }
  nb::class_<Specialization>(m, "Specialization")
      .def("__init__", &init_specialization, nb::arg("rules"), nb::arg("sums"), nb::arg("at").none(), nb::arg("ndim"),
           nb::arg("order").none(), nb::arg("rounding"), nb::arg("policy"), nb::arg("strides_decide"),
           nb::arg("transposed"), nb::arg("fill"), nb::arg("planner"));
  nb::class_<RecordedCall>(m, "RecordedCall").def_prop_ro("operands", [](const RecordedCall& call) {
    return nb::steal(call.operands());
  });
  nb::class_<Counts>(m, "Counts")
      .def(nb::init<uintptr_t, int, int64_t, int64_t>())
      .def_ro("total", &Counts::total)
      .def("copy", [](const Counts& c, uintptr_t src, uintptr_t dst, int64_t outer, int64_t inner_bytes) {
        c.copy(reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst), outer, inner_bytes, 1, false);
      });
}

}  // namespace tenter
