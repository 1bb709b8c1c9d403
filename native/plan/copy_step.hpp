// A plan's step that copies.
#pragma once
#include <algorithm>

#include "kernels/kernels.hpp"
#include "maps/axis_map.hpp"
#include "plan/kernel_call.hpp"
#include "plan/passes.hpp"
#include "rules/verify.hpp"
#include "system/gil.hpp"

namespace tenter {

struct CopyStep final : KernelCall {
  CopyTask task;
  const SourceIndex* source_index =
      nullptr;           // source indices of the axis whose indices are computed, borrowed; null if none is
  int indexed_axis = 0;  // the number of that axis

  CopyStep(int64_t itemsize, const CopyAxis* axes, int n_axes, const SourceIndex* of) : source_index(of) {
    copy_pass(itemsize, axes, n_axes, task);
    for (int k = 0; k < task.n_axes; ++k)
      if (task.axis[k].kind == CopyAxis::computed) indexed_axis = k;
  }
  CopyTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    CopyTask call;  // not zeroed, as its axes are kilobytes: those in use are set
    call.run = task.run, call.n_axes = task.n_axes;
    std::copy_n(task.axis, task.n_axes, call.axis);
    std::copy_n(task.bytes, task.n_axes + 1, call.bytes);
    call.src = reinterpret_cast<const char*>(src), call.dst = reinterpret_cast<char*>(dst);
    call.stream = stream;
    if constexpr (verifies) verify(call);
    return call;
  }
  void run_task(const CopyTask& call, int threads) const {
    if (source_index) kernels().copy_indexed(call, indexed_axis, *source_index, threads);
    else kernels().copy(call, threads);
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const override {
    const CopyTask call = at(src, dst, stream);
    without_gil([&] { run_task(call, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override { run_task(at(src, dst, false), 1); }
  Work work() const override {
    double read = double(task.run);
    for (int k = 0; k < task.n_axes; ++k) read *= double(std::min(task.axis[k].n_in, task.axis[k].n_out));
    return {.bytes = read + double(task.bytes[0])};
  }
  Kernel kernel() const override { return source_index ? Kernel::indexed_copy : Kernel::copy; }
};

}  // namespace tenter
