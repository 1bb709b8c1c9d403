// A plan's step that resamples 8-bit values in integers.
#pragma once
#include "maps/owned_byte_map.hpp"
#include "plan/kernel_call.hpp"
#include "rules/verify.hpp"
#include "system/gil.hpp"

namespace tenter {

struct ByteStep final : KernelCall {
  ByteTask task;
  OwnedByteMap *rows, *columns;  // maps of the task's axes, borrowed; null for an axis without a map

  ByteStep(const ByteTask& t, OwnedByteMap* rows, OwnedByteMap* columns) : task(t), rows(rows), columns(columns) {
    task.row = rows ? &rows->map : nullptr, task.column = columns ? &columns->map : nullptr;
    task.kernel = byte_kernel(task);
    if constexpr (verifies) verify(task);
  }
  Kernel kernel() const override { return task.kernel; }
  Work work() const override {
    const auto axis = [](const ByteMap* m, int64_t n) {
      return m ? SummedAxis{n, m->n_out, m->offset.back()} : SummedAxis{n, n, 0};
    };
    const SummedAxis row = axis(task.row, task.n_row), column = axis(task.column, task.n_column);
    return work_of(task, task.rows_first ? row : column, task.rows_first ? column : row, {1, 1, 0}, 1, 4);
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const override {
    const ByteTask call = at(src, dst, stream);
    without_gil([&] { kernels().bytes->run(call, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override { kernels().bytes->run(at(src, dst, false), 1); }
  bool run_to_floats(uintptr_t src, const FloatRows& to, int threads) const override {
    const int64_t n_column = task.column ? task.column->n_out : task.n_column;
    if (task.alpha || n_column * task.inner != to.width()) return false;
    ByteTask call = at(src, 0, false);
    call.floats = &to, call.kernel = Kernel::bytes;
    without_gil([&] { kernels().bytes->run(call, threads); });
    return true;
  }
  ByteTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    ByteTask call = task;
    call.src = reinterpret_cast<const uint8_t*>(src), call.dst = reinterpret_cast<uint8_t*>(dst);
    call.stream = stream;
    const ByteKernels& by = *kernels().bytes;
    if (rows) call.row_groups = rows->groups(by, false);
    if (columns) call.column_groups = columns->groups(by, task.inner <= max_byte_inner);
    return call;
  }
};

}  // namespace tenter
