// The steps of a small array: they run from C, without calls through Python.
#pragma once
#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "target.hpp"

namespace tenter {

struct SmallStep {
  // On this thread, with the interpreter's lock, as letting go of it costs as much as small work.
  virtual void run_here(uintptr_t src, uintptr_t dst) const = 0;

 protected:
  ~SmallStep() = default;
};

// A plan's steps, and the shape of its result, which is contiguous in the order of its dims.
class ReadySteps {
 public:
  // What a step reads and writes: of the memories of a call (input, output, then temporaries), at so many bytes.
  struct Step {
    nanobind::object kernel;
    const SmallStep* small;
    int source, target;
    int64_t source_at, target_at;
  };
  // temporaries: the bytes of each.
  ReadySteps(std::vector<Step> steps, std::vector<int64_t> temporaries, nanobind::tuple shape)
      : steps_(std::move(steps)), shape_(std::move(shape)), ndim_(int(shape_.size())) {
    for (const int64_t bytes : temporaries) starts_.push_back(scratch_), scratch_ += bytes;
  }
  // Null without an error where Python's code shall look closer. target: as Family::run has it.
  PyObject* run(const ArrayView& from, const Target* target = nullptr) const;

 private:
  void run_steps(uintptr_t source, uintptr_t target) const;  // throws std::bad_alloc

  std::vector<Step> steps_;
  std::vector<int64_t> starts_;  // of temporaries, in scratch
  int64_t scratch_ = 0;
  nanobind::tuple shape_;
  int ndim_;
};

}  // namespace tenter
