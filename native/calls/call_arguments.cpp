#include "calls/call_arguments.hpp"

#include <algorithm>
#include <utility>

namespace tenter {
namespace {

constexpr std::pair<const char*, Argument> names[] = {
    {"size", Argument::size},    {"scale", Argument::scale}, {"scale_factor", Argument::scale_factor},
    {"axes", Argument::axes},    {"box", Argument::box},     {"repeats", Argument::repeats},
    {"dim", Argument::dim},      {"axis", Argument::dim},    {"output_size", Argument::output_size},
    {"*sizes", Argument::sizes}, {"*dims", Argument::dims},  {"*reps", Argument::dims},
};

constexpr int most_calls = 16;
CallArguments registered[most_calls];
int n_registered = 0;

}  // namespace

const CallArguments* CallArguments::of(PyObject* call) {
  for (int k = 0; k < n_registered; ++k)
    if (registered[k].call_ == call || registered[k].equal_.load(std::memory_order_relaxed) == call)
      return registered + k;
  if (!PyUnicode_CheckExact(call)) return nullptr;
  for (int k = 0; k < n_registered; ++k) {
    if (PyUnicode_Compare(registered[k].call_, call) != 0) continue;
    PyObject* const before = registered[k].equal_.exchange(Py_NewRef(call));
    Py_XDECREF(before);
    return registered + k;
  }
  return nullptr;
}

bool CallArguments::learn(PyObject* call, PyObject* argument_names) {
  const Py_ssize_t n_names =
      PyUnicode_CheckExact(call) && PyTuple_Check(argument_names) ? PyTuple_Size(argument_names) : -1;
  if (n_names < 0 || n_names > most) return PyErr_Format(PyExc_TypeError, "calls: expected tuples of names"), false;
  if (n_registered == most_calls) return PyErr_Format(PyExc_ValueError, "calls: expected fewer"), false;
  CallArguments& made = registered[n_registered];
  std::fill_n(made.at_, int(Argument::count), Py_ssize_t(-1));
  for (Py_ssize_t k = 0; k < n_names; ++k)
    for (const auto& [name, argument] : names)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(argument_names, k), name) == 0) made.at_[int(argument)] = k;
  made.call_ = Py_NewRef(call), ++n_registered;
  return true;
}

}  // namespace tenter
