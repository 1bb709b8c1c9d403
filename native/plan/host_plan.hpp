// A plan for arrays of one layout, as calls of the host's kernels.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <vector>

#include "arrays/arrays.hpp"
#include "plan/kernel_call.hpp"
#include "plan/fill_value.hpp"
#include "plan/planner.hpp"
#include "plan/target.hpp"

namespace tenter {

// Immutable once it is filled.
class HostPlan {
 public:
  // One call of a kernel. source, target: numbers of memories (Buffer); source_at, target_at: bytes from their begin.
  // pass: what it does, or a part of that; null if it is in no pass.
  struct Step {
    std::unique_ptr<KernelCall> call;
    int source, target;
    int64_t source_at, target_at;
    const PlannedPass* pass;
  };

  HostPlan() = default;
  HostPlan(HostPlan&&) = default;
  HostPlan(const HostPlan&) = delete;

  // ---- filling a plan, in the order in which its steps run

  void add(std::unique_ptr<KernelCall> call, const Buffer& source, const Buffer& target,
           const PlannedPass* pass = nullptr);
  // They keep the passes, as steps refer to these.
  void add(Passes&& passes);
  void add_before(Passes&& passes);     // passes that are not cut into chunks, before those of `add`
  void use(int memory, int64_t bytes);  // reserves bytes of a temporary, as Passes::use
  // Describes the result.
  //   order       its dims from slowest to fastest in memory; null if it is contiguous
  //   itemsize    bytes of an element of the result
  //   values      how many values the input or the result has, whichever is more
  //   bytes_each  bytes of a value while it is summed
  void set_result(const int64_t* shape, int ndim, const int* order, int64_t itemsize, int64_t values,
                  int64_t bytes_each);
  // Keeps the maps of the steps, and Python objects that own what they refer to, as long as the plan.
  void keep(nanobind::object held, const AxisMap* map) {
    held_.push_back(std::move(held));
    if (map) maps_.push_back(map);
  }
  void keep(std::unique_ptr<AxisMap> map) { own_maps_[n_own_maps_++] = std::move(map); }
  // Whether a step reads the result again after another has written it.
  bool reads_result = false;
  // Whether the work takes long for its bytes: filtered signals, and 8-bit values in integers.
  bool is_long = false;

  // ---- running a plan

  // The result for x. target: where it goes; null for fresh memory. recorded: as in result_of. Declined if the result
  // has more dims than the core reads.
  Outcome run(PyObject* x, const ArrayView& from, const Target* target = nullptr, bool recorded = false) const;
  // The same by addresses. stream: whether to write the result with streaming stores. Throws std::bad_alloc.
  void run(const char* from, char* to, int threads, bool stream) const;

  // The same on this thread, which need not have the interpreter's lock if the plan runs on any thread.
  void run_here(const char* from, char* to) const;
  bool any_thread() const;
  // The step that makes the result, if it is the only one and makes any rows of it alone; else null.
  const struct WindowStep* only_rows() const;

  int threads() const;        // how many threads to use; 0 with an error
  int64_t scratch() const;    // bytes of temporaries between the steps
  int64_t positions() const;  // positions in tables of the maps, which bound the cache of plans
  bool small() const;         // whether to run without releasing the interpreter's lock
  const Passes& before() const { return before_; }
  const Passes& passes() const { return passes_; }
  // The steps before all chunks, those of a chunk, then those on the whole array.
  std::vector<const Step*> steps() const;

 private:
  struct Range {
    size_t begin = 0, end = 0;
  };
  Outcome run_normalized(PyObject* x, const ArrayView& from, Target target, int threads) const;
  // threads: 0 for this thread alone
  void run_steps(const char* from, char* to, int threads, bool stream) const;
  void run_range(const Range& range, const uintptr_t* memories, int threads, bool stream) const;
  void add_pass(const PlannedPass& pass, const Passes& of);
  bool add_sums(const PlannedPass& pass, const Passes& of, const Buffer& source, const Dim* dims, bool may_pack);

  std::vector<Step> steps_;
  Range main_, last_;  // the steps of one chunk, and of the last chunk if it is smaller
  Passes before_, passes_;
  std::vector<int64_t> temporaries_;
  std::vector<nanobind::object> held_;
  std::vector<const AxisMap*> maps_;
  std::unique_ptr<AxisMap> own_maps_[max_read_dims];
  int n_own_maps_ = 0;
  int64_t shape_[max_read_dims];
  int order_[max_read_dims], ndim_ = -1;  // set if the core reads arrays of so many dims
  bool in_order_ = true;
  int64_t bytes_ = 0, values_ = 0, bytes_each_ = 0;
};

}  // namespace tenter
