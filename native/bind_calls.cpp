// What calls of small arrays use, as parts of the Python module.
#include <nanobind/nanobind.h>

#include <new>

#include "arrays.hpp"
#include "lookup.hpp"
#include "repeat_counts.hpp"

namespace nb = nanobind;

namespace tenter {
namespace {

// nanobind's functions take longer to find out what they are given than these calls have.
template <PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)>
PyObject* without_exceptions(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  try {
    return f(self, args, n);
  } catch (const std::bad_alloc&) { return PyErr_NoMemory(); }
}

template <PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)>
PyMethodDef fast(const char* name) {
  auto* const function = reinterpret_cast<void (*)()>(without_exceptions<f>);
  return {name, reinterpret_cast<PyCFunction>(function), METH_FASTCALL, nullptr};
}

PyMethodDef functions[] = {
    fast<read_numpy>("read_numpy"),
    fast<read_torch>("read_torch"),
    fast<set_up_calls>("set_up_calls"),
    fast<known_call>("known_call"),
    fast<call_key>("call_key"),
    fast<set_up_counts>("set_up_counts"),
    fast<repeated>("repeated"),
    fast<repeated_adjoint>("repeated_adjoint"),
    fast<plain>("plain"),
    fast<expand_view>("expand_view"),
    fast<run_ready>("run_ready"),
    fast<known_adjoint>("known_adjoint"),
    fast<adjoint_key>("adjoint_key"),
    fast<repeat_counts>("repeat_counts"),
    fast<by_offsets>("by_offsets"),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_calls(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) nb::raise_python_error();
  nb::class_<Counts>(m, "Counts")
      .def(nb::init<uintptr_t, int, int64_t, int64_t>())
      .def_ro("total", &Counts::total)
      .def("copy", [](const Counts& c, uintptr_t src, uintptr_t dst, int64_t outer, int64_t inner_bytes) {
        c.copy(reinterpret_cast<const char*>(src), reinterpret_cast<char*>(dst), outer, inner_bytes, 1, false);
      });
  nb::class_<Repeated>(m, "Repeated");
}

}  // namespace tenter
