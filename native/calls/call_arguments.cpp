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
    if (registered[k].call_ == call || registered[k].equal_ == call) return registered + k;
  if (!PyUnicode_CheckExact(call)) return nullptr;
  for (int k = 0; k < n_registered; ++k) {
    if (PyUnicode_Compare(registered[k].call_, call) != 0) continue;
    PyObject* const before = std::exchange(registered[k].equal_, Py_NewRef(call));
    Py_XDECREF(before);
    return registered + k;
  }
  return nullptr;
}

PyObject* name_arguments(PyObject* const* args, Py_ssize_t) {
  if (!PyUnicode_CheckExact(args[0]) || !PyTuple_Check(args[1]))
    return PyErr_Format(PyExc_TypeError, "expected a call and a tuple of names");
  const Py_ssize_t n_names = PyTuple_Size(args[1]);
  if (n_names > CallArguments::most) return PyErr_Format(PyExc_ValueError, "expected fewer arguments");
  CallArguments made;
  std::fill_n(made.at_, int(Argument::count), Py_ssize_t(-1));
  for (Py_ssize_t k = 0; k < n_names; ++k)
    for (const auto& [name, argument] : names)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(args[1], k), name) == 0) made.at_[int(argument)] = k;
  const auto same = [&](const CallArguments& c) { return PyUnicode_Compare(c.call_, args[0]) == 0; };
  CallArguments* const to = std::find_if(registered, registered + n_registered, same);
  if (to == registered + most_calls) return PyErr_Format(PyExc_ValueError, "expected fewer calls");
  made.call_ = Py_NewRef(args[0]);
  if (to == registered + n_registered) ++n_registered;
  *to = made;
  Py_RETURN_NONE;
}

}  // namespace tenter
