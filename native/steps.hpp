// A plan's steps, which run from C, without calls through Python.
#pragma once
#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "target.hpp"

namespace tenter {

struct KernelCall {
  // On this thread, with the interpreter's lock, as letting go of it costs as much as small work.
  virtual void run_here(uintptr_t src, uintptr_t dst) const = 0;
  virtual void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const = 0;

 protected:
  ~KernelCall() = default;
};

// A plan's steps, and the shape of its result, which is contiguous in `order`, from the slowest dim.
class ReadySteps {
 public:
  // What a step reads and writes: of the memories of a call (input, output, then temporaries), at so many bytes.
  struct Step {
    nanobind::object kernel;
    const KernelCall* call;
    int source, target;
    int64_t source_at, target_at;
  };
  // temporaries: the bytes of each. order: null where dims are in order. small: with the interpreter's lock.
  ReadySteps(std::vector<Step> steps, const std::vector<int64_t>& temporaries, const nanobind::tuple& shape,
             nanobind::object order, bool small);
  // Null without an error where Python's code shall look closer. target: as Family::run has it.
  PyObject* run(PyObject* x, const ArrayView& from, const Target* target = nullptr) const;

 private:
  void run_steps(const ArrayView& from, char* to, int threads, bool stream) const;  // throws std::bad_alloc

  std::vector<Step> steps_;
  std::vector<int64_t> starts_;  // of temporaries, in scratch
  int64_t scratch_ = 0;
  int64_t shape_[max_read_dims], n_out_ = 1;
  int order_[max_read_dims];
  nanobind::tuple shape_tuple_;
  nanobind::object order_tuple_;  // None where dims are in order
  int ndim_;
  bool small_;
};

}  // namespace tenter
