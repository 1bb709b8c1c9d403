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
#include "arrays/views.hpp"
#include "calls/call_arguments.hpp"
#include "calls/call_key.hpp"
#include "calls/lookup.hpp"
#include "calls/recorded_calls.hpp"
#include "calls/repeat_counts.hpp"
#include "calls/specialization.hpp"
#include "plan/inputs.hpp"
#include "python/bind_values.hpp"
#include "ragged/ragged_calls.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

PyObject* to_python(PyObject* result) { return result; }
PyObject* to_python(Outcome&& result) { return std::move(result).to_python(); }

// Runs a function, and turns C++ exceptions into Python errors.
template <class F>
PyObject* without_exceptions(F&& f) {
  try {
    return to_python(f());
  } catch (const std::bad_alloc&) { return PyErr_NoMemory(); } catch (const std::exception& wrong) {  // by verify.hpp
    return PyErr_Format(PyExc_RuntimeError, "%s", wrong.what());
  }
}

// A function f(arguments, how many) as Python calls it. These functions are not bound by nanobind, as reading their
// arguments would take longer than the calls. n: how many arguments f takes; if `more`, it takes others too.
template <auto f, Py_ssize_t n, bool more = false>
PyMethodDef fast(const char* name) {
  PyObject* (*const call)(PyObject*, PyObject* const*, Py_ssize_t) = [](PyObject*, PyObject* const* args,
                                                                        Py_ssize_t given) {
    const bool right = given == n || (more && given > n);
    return right ? without_exceptions([&] { return f(args, given); })
                 : PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", n, given);
  };
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)), METH_FASTCALL, nullptr};
}

PyMethodDef functions[] = {
    fast<register_numpy, 5>("register_numpy"),
    fast<register_torch, 16>("register_torch"),
    fast<register_calls, 12>("register_calls"),
    fast<cached_call, 2, true>("cached_call"),
    fast<cached_call_into, 4, true>("cached_call_into"),
    fast<normalized, 3>("normalized"),
    fast<call_key, 2, true>("call_key"),
    fast<ordinary, 1>("ordinary"),
    fast<expand_view, 2>("expand_view"),
    fast<by_offsets, 3, true>("by_offsets"),
    fast<row_offsets, 3>("row_offsets"),
    fast<last_offset, 1>("last_offset"),
    fast<ragged_offsets, 3>("ragged_offsets"),
    fast<ragged_row_ids, 3>("ragged_row_ids"),
    fast<ragged_ranges, 5>("ragged_ranges"),
    fast<ragged_mask, 4>("ragged_mask"),
    fast<ragged_spans, 4>("ragged_spans"),
    fast<segment, 5>("segment"),
    fast<ragged_pad, 6>("ragged_pad"),
    fast<ragged_unpad, 5>("ragged_unpad"),
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef testing_functions[] = {fast<forget_calls, 0>("forget_calls"), {nullptr, nullptr, 0, nullptr}};

// The autograd Function's forward and backward. PyTorch's engine calls the latter as a method of its ctx.
PyObject* backward(PyObject* ctx, PyObject* const* args, Py_ssize_t n) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "expected a gradient");
  return without_exceptions([&] { return recorded_backward(ctx, args[0]); });
}
PyMethodDef forward_method = fast<recorded_forward, 3>("forward");
PyMethodDef backward_method = {"backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(backward)),
                               METH_FASTCALL, nullptr};
PyMethodDef key_method = fast<specialization_key, 2, true>("key");

nb::object object_of(PyObject* made) {
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

// A method of RecordedCall: (gradient) -> a key; None if there is none.
template <Owned (RecordedCall::*key)(const ArrayView&) const>
nb::object key_of(const RecordedCall& call, nb::handle g) {
  ArrayView from;
  const Reading found = read_array(g.ptr(), from);
  return object_of(to_python(found == Reading::readable ? Outcome::if_any((call.*key)(from)) : Outcome::unread(found)));
}

void require(bool right, const char* expected) {
  if (!right) throw std::invalid_argument(std::string("specialization: expected ") + expected);
}

// Reads how arrays are summed and how outputs in the padding are filled.
void read_sums(const nb::object& of, Specialization& to) {
  const int dtype = field<int>(of, "sums");
  const auto element = field<nb::bytes>(of, "element");
  require(dtype < n_dtypes, "a dtype");
  require(element.size() <= sizeof to.fill.element, "an element of at most 16 bytes");
  to.dtype = Dtype(dtype), to.input = Dtype(field<int>(of, "input"));
  to.acc = dtype < 0 ? Accumulate::f32 : sums_of(to.dtype);
  to.is_complex = field<bool>(of, "is_complex");
  to.rounding = rounding_of(field<const char*>(of, "rounding"));
  to.doubles = field<bool>(of, "doubles"), to.transposed = field<bool>(of, "transposed");
  to.strides_decide = field<bool>(of, "strides_decide");
  to.length_rounding =
      LengthRounding(number_of("length_rounding", length_rounding_words, field<const char*>(of, "length_rounding")));
  to.policy = Policy(number_of("policy", policy_words, field<const char*>(of, "policy")));
  to.fill.kind = FillKind(number_of("fill", fill_words, field<const char*>(of, "fill")));
  to.fill.value = field<double>(of, "value");
  std::memcpy(to.fill.element, element.c_str(), element.size());
}

// Reads the axes, and the order of dims in the result.
void read_axes(const nb::object& of, const nb::tuple& axes, Specialization& to) {
  const auto order = field<nb::object>(of, "order"), at = field<nb::object>(of, "at");
  to.ndim = field<int>(of, "ndim");
  const bool fits = axes.size() >= 1 && axes.size() <= size_t(max_read_dims) && to.ndim >= 1 + to.strides_decide &&
                    to.ndim <= max_read_dims;
  require(fits, "axes of at most 8 dims");
  to.in_order = order.is_none(), to.by_dims = at.is_none();
  for (int d = 0; d < to.ndim; ++d) to.order[d] = to.in_order ? d : nb::cast<int>(order[size_t(d)]);
  for (const nb::handle each : axes) {
    const int k = to.n_axes++;
    Specialization::Axis& axis = to.axes[k];
    axis.dim = field<int>(each, "dim"), axis.follows = field<bool>(each, "follows");
    axis.rule = &nb::cast<const AxisRule&>(each.attr("rule"));
    if (const nb::object rule = each.attr("weight_rule"); !rule.is_none())
      axis.weight_rule = &nb::cast<const AxisRule&>(rule);
    axis.at = to.by_dims ? k : nb::cast<int>(at[size_t(k)]);
    require(axis.dim > (k ? to.axes[k - 1].dim : -1) && axis.dim < to.ndim, "dims in ascending order");
    require(0 <= axis.at && axis.at < int(axes.size()), "places");
  }
}

// Refuses combinations that the core does not plan.
void check(const Specialization& of) {
  const int dtype = int(of.dtype);
  const FillKind fill = of.fill.kind;
  int n_nearest = 0;
  bool leaves_out = false;  // whether a nearest axis may have outputs without an input
  for (int k = 0; k < of.n_axes; ++k) {
    const AxisRule& rule = *of.axes[k].rule;
    n_nearest += rule.is_nearest();
    leaves_out |= rule.is_nearest() && (rule.edge == Edge::constant || rule.edge == Edge::extrapolate);
    require(rule.kind != Kind::gaussian, "rules that the core plans");
  }
  const bool copies = n_nearest == of.n_axes && !of.transposed;
  require(!(copies && leaves_out) || fill == FillKind::filled, "outputs that are filled");
  require(!(of.transposed && by_axis(of.rounding)), "gradients of floats");
  require(dtype >= 0 || copies, "a dtype of sums");
  const bool adds = is_float_number(dtype) && (of.input == of.dtype || (of.dtype == Dtype::f64 && !is_float(of.input)));
  const bool added = fill == FillKind::added;
  require(!added || (adds && !by_axis(of.rounding) && !of.transposed && !copies), "sums to which a value can be added");
}

// of: tenter._plans.specializations.CoreSpecialization
void init_specialization(Specialization* to, const nb::object& of) {
  auto axes = field<nb::tuple>(of, "axes");
  Specialization made;
  read_sums(of, made);
  read_axes(of, axes, made);
  check(made);
  made.planner = Owned(field<nb::object>(of, "planner").release().ptr());
  made.rules = Owned(axes.release().ptr());
  new (to) Specialization(std::move(made));
}

}  // namespace

void bind_calls(nb::module_& m, nb::module_& testing) {
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) nb::raise_python_error();
  if (PyModule_AddFunctions(testing.ptr(), testing_functions) != 0) nb::raise_python_error();
  nb::class_<Specialization> specialization(m, "Specialization");
  specialization.def("__init__", &init_specialization);
  specialization.attr("key") = object_of(PyCFunction_New(&key_method, nullptr));
  nb::class_<RecordedCall> recorded(m, "RecordedCall");
  recorded.def_prop_ro("operands", [](const RecordedCall& call) { return object_of(call.operands()); })
      .def("specialization_key", &key_of<&RecordedCall::specialization_key>)
      .def("plan_key", &key_of<&RecordedCall::plan_key>);
  recorded.attr("forward") = object_of(PyCFunction_New(&forward_method, nullptr));
  recorded.attr("backward") = object_of(PyDescr_NewMethod(&PyBaseObject_Type, &backward_method));
  // Tests write between guards, and change the counts between two steps.
  nb::class_<Runs>(testing, "Runs")
      .def("__init__",
           [](Runs* made, uintptr_t counts, bool int32_counts, int64_t n, int threads) {
             without_gil([&] { new (made) Runs(reinterpret_cast<const void*>(counts), int32_counts, n, threads); });
           })
      .def_prop_ro("total", &Runs::total)
      .def("copy", [](const Runs& r, uintptr_t src, uintptr_t dst, int itemsize, int threads, bool stream) {
        without_gil([&] {
          r.copy(reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst), itemsize, threads, stream);
        });
      });
  nb::class_<Counts>(testing, "Counts")
      .def(nb::init<uintptr_t, int, int64_t, int64_t>())
      .def_ro("total", &Counts::total)
      .def("copy", [](const Counts& c, uintptr_t src, uintptr_t dst, int64_t outer, int64_t inner_bytes) {
        c.copy(reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst), outer, inner_bytes, 1, false);
      });
}

}  // namespace tenter
