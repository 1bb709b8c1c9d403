// A step that is all there is to do for a small array: it runs from C, without a call through Python.
#pragma once
#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace tenter {

struct SmallStep {
  // On this thread, with the interpreter's lock, as letting go of it costs as much as small work.
  virtual void run_here(uintptr_t src, uintptr_t dst) const = 0;

 protected:
  ~SmallStep() = default;
};

// A step and the shape of its result, contiguous in the order of its dims.
class ReadyStep {
 public:
  ReadyStep(nanobind::object step, const SmallStep* small, nanobind::tuple shape)
      : step_(std::move(step)), small_(small), shape_(std::move(shape)), ndim_(int(shape_.size())) {}
  // Null without an error where Python's code shall look closer.
  PyObject* run(PyObject* x, const ArrayView& from) const;

 private:
  nanobind::object step_;
  const SmallStep* small_;
  nanobind::tuple shape_;
  int ndim_;
};

}  // namespace tenter
