// Passes as calls of the host's kernels: how an operation is done to arrays of one layout.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "outside.hpp"
#include "planner.hpp"
#include "steps.hpp"
#include "target.hpp"

namespace tenter {

class HostPlan {
 public:
  struct Step {
    std::unique_ptr<KernelCall> call;
    int source, target;  // of the memories of a call (Buffer)
    int64_t source_at, target_at;
  };

  HostPlan() = default;
  HostPlan(HostPlan&&) = default;
  HostPlan(const HostPlan&) = delete;

  // ---- how a plan is filled, in the order in which its steps run

  void add(std::unique_ptr<KernelCall> call, const Buffer& source, const Buffer& target);
  void add(Passes&& passes);
  void use(int memory, int64_t bytes);  // as Passes::use
  // The result. order: its dims from slowest to fastest in memory; null where they are in order. values: of
  // the input or the result, whichever are more, which take so many bytes each while they are summed.
  void set_result(const int64_t* shape, int ndim, const int* order, int64_t itemsize, int64_t values,
                  int64_t bytes_each);
  // The maps of its steps, and what they are made of.
  void keep(nanobind::object held, const AxisMap* map) {
    held_.push_back(std::move(held));
    if (map) maps_.push_back(map);
  }
  void keep(std::unique_ptr<AxisMap> map) { own_maps_[n_own_maps_++] = std::move(map); }
  // Whether the result is read again after it is written.
  bool reads_result = false;
  // Where sums of a filter are a signal's, or of bytes: work that takes long for its bytes.
  bool is_long = false;

  // ---- how it is run

  // The result of x; null with an error, or without where Python's code shall look closer. target: where the result
  // goes; null for fresh memory.
  PyObject* run(PyObject* x, const ArrayView& from, const Target* target = nullptr) const;
  // The same of addresses. threads: 0 asks how many there are.
  void run(const char* from, char* to, int threads, bool stream) const;  // throws std::bad_alloc

  int threads() const;        // 0 with an error
  int64_t scratch() const;    // bytes between the steps
  int64_t positions() const;  // in tables of the maps
  bool small() const;         // whether it is run with the interpreter's lock
  const std::vector<Step>& steps() const { return steps_; }

 private:
  struct Range {
    size_t begin = 0, end = 0;
  };
  void run_range(const Range& range, const uintptr_t* memories, int threads, bool stream) const;
  void add_pass(const PlannedPass& pass, const Passes& of);
  bool add_sums(const PlannedPass& pass, const Passes& of, const Buffer& source, const Dim* dims);

  std::vector<Step> steps_;
  Range main_, last_;  // the steps of a slice
  Slices slices_;
  std::vector<int64_t> temporaries_;
  std::vector<nanobind::object> held_;
  std::vector<const AxisMap*> maps_;
  std::unique_ptr<AxisMap> own_maps_[max_read_dims];
  int n_own_maps_ = 0;
  int64_t shape_[max_read_dims];
  int order_[max_read_dims], ndim_ = 0;  // of arrays that the core reads
  bool in_order_ = true;
  int64_t bytes_ = 0, values_ = 0, bytes_each_ = 0;
};

}  // namespace tenter
