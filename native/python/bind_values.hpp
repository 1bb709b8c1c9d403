// Conversions between Python's values and the core's, for several bindings.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/rounding.hpp"
#include "plan/passes.hpp"
#include "rules/line.hpp"
#include "system/words.hpp"

namespace tenter {

namespace nb = nanobind;

// A field of one of Python's named tuples. Fields are read by their names, so that their order can change.
template <class T>
T field(nb::handle of, const char* name) {
  return nb::cast<T>(of.attr(name));
}

// An unsigned integer of 128 bits: its upper and lower half.
using Halves = std::tuple<uint64_t, uint64_t>;
inline Wide wide(Halves h) { return Wide(std::get<0>(h)) << 64 | Wide(std::get<1>(h)); }

// A line from tenter._specs.axis_maps.CoreLine, whose rests are in units of `unit`.
inline Line line_of(nb::handle l) {
  const auto rest_of = [&](const char* name) { return wide(field<Halves>(l, name)); };
  const Line line{{field<int64_t>(l, "first"), rest_of("first_rest")},
                  {field<int64_t>(l, "step"), rest_of("step_rest")},
                  rest_of("unit")};
  const bool valid = line.unit > 0 && line.unit >> 90 == 0 && line.first.rest < line.unit && line.step.rest < line.unit;
  if (!valid) throw std::invalid_argument("line: expected rests below a unit below 2**90");
  return line;
}

// The number of a word in an enumeration. name: the name of the argument, for the error.
inline int number_of(const char* name, const Words& words, const char* word) {
  for (int k = 0; k < words.count; ++k)
    if (!std::strcmp(words.word[k], word)) return k;
  throw std::invalid_argument(std::string(name) + ": expected a word of tenter._native.WORDS, got '" + word + "'");
}

inline Rounding rounding_of(const char* word) { return Rounding(number_of("rounding", rounding_words, word)); }

// A copy of a list. Reading an item as a number may run Python code, which may change the list.
inline nb::tuple items(const nb::list& list) {
  nb::object held = nb::steal(PyList_AsTuple(list.ptr()));
  if (!held.is_valid()) nb::raise_python_error();
  return nb::borrow<nb::tuple>(held);
}

// The dims of a pass, from a list of (length, stride in bytes), slowest first. The list is an nb::list, because
// nanobind's conversion to std::vector is noexcept and would end the process if there is no memory. to: memory for the
// dims.
inline Pass pass_of(const nb::list& given, int first, int count, Dim* to) {
  const nb::tuple dims = items(given);
  if (dims.size() > size_t(max_axes) || first < 0 || count < 1 || size_t(first + count) > dims.size())
    throw std::invalid_argument("expected maps of some of at most 72 dims");
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto [n, stride] = nb::cast<std::tuple<int64_t, int64_t>>(dims[d]);
    to[d] = {n, stride};
  }
  return {to, int(dims.size()), first, count};
}

// A NumPy array that takes over the values.
template <class T>
nb::object numbers(std::vector<T> values) {
  auto* held = new std::vector<T>(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(held->data(), {held->size()}, owner));
}

}  // namespace tenter
