// The core as a Python module. Functions that take addresses do not check their arguments: Python has checked them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <exception>
#include <tuple>

#include "kernels/kernels.hpp"
#include "maps/offsets.hpp"
#include "plan/target.hpp"
#include "rules/verify.hpp"
#include "system/gil.hpp"
#include "system/memory.hpp"
#include "system/threads.hpp"
#include "system/tuning.hpp"
#include "system/workspace.hpp"

namespace nb = nanobind;
using namespace tenter;

namespace tenter {
void bind_maps(nb::module_& m);
void bind_calls(nb::module_& m, nb::module_& testing);
void bind_source_index(nb::module_& m);
void bind_ragged(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_words(nb::module_& m);
void bind_bytes(nb::module_& m);
void bind_gaps(nb::module_& m);
void bind_launch(nb::module_& m);
}  // namespace tenter

namespace {

// Whether Ctrl-C, or another signal whose handler raises, has arrived. A Python error is then set. Only the main thread
// asks: Python runs handlers there, and another thread that waits here for the lock could outlive the interpreter.
bool signal_raised() {
  if (defers_signals || !on_main_thread() || finalizing()) return false;
  nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

void bind_counts(nb::module_& m) {
  m.def("offsets", [](uintptr_t counts, int dtype, int64_t stride, int64_t n, uintptr_t offsets, int threads) {
    int64_t total = 0;
    without_gil([&] {
      total = prefix_sum(reinterpret_cast<const char*>(counts), Dtype(dtype), stride, n,
                         reinterpret_cast<int64_t*>(offsets), threads);
    });
    return total;
  });
}

// Gives a block's bytes as a Python buffer. A buffer that is in use keeps the block alive.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  Block* const block = nb::inst_ptr<Block>(self);
  return PyBuffer_FillInfo(view, self, block->p, block->wanted, 0, flags);
}
PyType_Slot block_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

void bind_memory(nb::module_& m) {
  nb::class_<Block>(m, "Block", nb::type_slots(block_slots))
      .def(nb::init<int64_t>())
      .def_prop_ro("address", [](const Block& b) { return reinterpret_cast<uintptr_t>(b.p); })
      .def_ro("used", &Block::used)
      // Of the buffer pool, which all blocks share.
      .def_static("stats",
                  [] {
                    const MemoryStats s = memory_stats();
                    return std::make_tuple(s.limit, s.idle, s.idle_blocks, s.in_use, s.blocks_in_use, s.reused,
                                           s.fresh);
                  })
      .def_static("recycles", &recycles)
      .def_static("limit", &memory_limit)
      .def_static("clear", &memory_clear)
      .def_static("scratch", &workspace_bytes);
}

void bind_levels(nb::module_& m, nb::module_& testing) {
  testing.attr("VERIFIES") = verifies;
  m.def("level", [] { return kernels().name; });
  testing.def("levels", [] {
    nb::list names;
    for (const char* const* n = level_names(); *n; ++n) names.append(*n);
    return names;
  });
  // Plans have chosen kernels for the level that they were made at.
  testing.def("force_level", [](const char* name) {
    const nb::object cache = nb::module_::import_("tenter._plans.cache");
    cache.attr("plans").attr("clear")(), cache.attr("_positions") = 0;
    return force_level(name);
  });
}

void bind_tuning(nb::module_& m, nb::module_& testing) {
  nb::class_<Tuning>(testing, "Tuning")
      .def_rw("parallel_bytes", &Tuning::parallel_bytes)
      .def_rw("task_bytes", &Tuning::task_bytes)
      .def_rw("staging_bytes", &Tuning::staging_bytes)
      .def_rw("copied_block_bytes", &Tuning::copied_block_bytes)
      .def_rw("runs_chunk", &Tuning::runs_chunk)
      .def_rw("shared_counts", &Tuning::shared_counts)
      .def_rw("tile_bytes", &Tuning::tile_bytes)
      .def_rw("tile_inputs", &Tuning::tile_inputs)
      .def_rw("widened_values", &Tuning::widened_values)
      .def_rw("column_step", &Tuning::column_step)
      .def_rw("row_width", &Tuning::row_width)
      .def_rw("row_block", &Tuning::row_block)
      .def_rw("row_chunk_bytes", &Tuning::row_chunk_bytes)
      .def_rw("plane_bytes", &Tuning::plane_bytes)
      .def_rw("cached_planes_bytes", &Tuning::cached_planes_bytes)
      .def_rw("byte_tile_bytes", &Tuning::byte_tile_bytes)
      .def_rw("byte_chunk_bytes", &Tuning::byte_chunk_bytes)
      .def_rw("stream_bytes", &Tuning::stream_bytes)
      .def_rw("long_axis", &Tuning::long_axis)
      .def_rw("signal_axis", &Tuning::signal_axis)
      .def_rw("tap_outputs", &Tuning::tap_outputs)
      .def_rw("tap_block", &Tuning::tap_block)
      .def_rw("many_scalars", &Tuning::many_scalars)
      .def_rw("index_outputs", &Tuning::index_outputs)
      .def_rw("small_bytes", &Tuning::small_bytes)
      .def_rw("large_bytes", &Tuning::large_bytes)
      .def_rw("chunk_bytes", &Tuning::chunk_bytes)
      .def_rw("seldom_calls", &Tuning::seldom_calls)
      .def_rw("scratch_bytes", &Tuning::scratch_bytes)
      .def_rw("idle_scratch_bytes", &Tuning::idle_scratch_bytes)
      .def_rw("planned_bytes", &Tuning::planned_bytes)
      .def_rw("table_bytes", &Tuning::table_bytes)
      .def_rw("planned_taps", &Tuning::planned_taps)
      .def_rw("weight_sum_outputs", &Tuning::weight_sum_outputs)
      .def_rw("taken", &Tuning::taken)
      .def_rw("left", &Tuning::left)
      .def_rw("ran", &Tuning::ran)
      .def_rw("notes_kernels", &Tuning::notes_kernels)
      .def_rw("guard_blocks", &Tuning::guard_blocks)
      .def("reset", [](Tuning& t) { t = Tuning{}; });
  m.attr("tuning") = nb::cast(&tuning, nb::rv_policy::reference);
}

void bind_threads(nb::module_& m) { m.def("forked", &forked); }

void translate_exceptions() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Interrupted&) {  // signal_raised has set the error
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError,
                      "memory: expected enough for a result and its tables, got none from the system");
    }
  });
}

}  // namespace

NB_MODULE(core, m) {
  nb::set_leak_warnings(false);  // maps stay in caches until the interpreter ends
  interrupted = signal_raised;
  translate_exceptions();
  nb::module_ testing = m.def_submodule("testing");  // what only tests use
  bind_source_index(m);
  bind_maps(m);
  bind_plan(m);
  bind_bytes(m);
  bind_gaps(m);
  bind_launch(m);
  bind_counts(m);
  bind_calls(m, testing);
  bind_ragged(m);
  bind_memory(m);
  bind_words(m);
  bind_levels(m, testing);
  bind_tuning(m, testing);
  bind_threads(m);
}

namespace {

// Raises an ImportError in a subinterpreter: all interpreters of the process would share types and idle memory, and the
// end of a subinterpreter would free them.
int refuse_subinterpreter(PyObject*) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return 0;
  PyErr_SetString(PyExc_ImportError, "tenter: expected the main interpreter, got a subinterpreter");
  return -1;
}

// Makes refuse_subinterpreter the first step of the module's initialization, before nanobind's steps, which make types.
// Since Python 3.13, if a subinterpreter shares the lock, the main interpreter calls PyInit__core for it, and only the
// steps run in the subinterpreter.
void refuse_first(PyModuleDef* def) {
  static PyModuleDef_Slot slots[16];
  const PyModuleDef_Slot* from = def->m_slots;
  if (!from || from == slots) return;
  slots[0] = {Py_mod_exec, reinterpret_cast<void*>(refuse_subinterpreter)};
  for (int k = 1; k < 15; ++k) {
    slots[k] = *from;
    if (!from++->slot) {
      def->m_slots = slots;
      return;
    }
  }
}

}  // namespace

// Refuses subinterpreters, before nanobind is initialized in them, and processors for which no kernels were compiled.
extern "C" NB_EXPORT PyObject* PyInit__core() {
  if (refuse_subinterpreter(nullptr) != 0) return nullptr;
  if (!*tenter::level_names()) {
    PyErr_SetString(PyExc_ImportError, "tenter: expected a processor with x86-64-v2, got an older one");
    return nullptr;
  }
  PyObject* const module = PyInit_core();
  if (module && Py_TYPE(module) == &PyModuleDef_Type) refuse_first(reinterpret_cast<PyModuleDef*>(module));
  return module;
}
