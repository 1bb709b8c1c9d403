// A plan's step that interpolates 8-bit values in fixed point.
#pragma once
#include <cstdint>

#include "plan/kernel_call.hpp"
#include "rules/bytes.hpp"
#include "rules/verify.hpp"
#include "system/gil.hpp"

namespace tenter {

struct TapsStep final : KernelCall {
  TapsTask task;
  TapsAxis row, column;

  TapsStep(const TapsTask& t, TapsAxis&& row, TapsAxis&& column)
      : task(t), row(std::move(row)), column(std::move(column)) {
    task.row = &this->row, task.column = &this->column;
    if constexpr (verifies) verify(task);
  }
  Kernel kernel() const override { return Kernel::taps; }
  Work work() const override {
    const SummedAxis rows{task.n_row, row.n_out, row.taps * row.n_out};
    const SummedAxis columns{task.n_column, column.n_out, column.taps * column.n_out};
    return work_of(task, columns, rows, {1, 1, 0}, 1, 4);
  }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const override {
    const TapsTask call = at(src, dst, stream);
    without_gil([&] { kernels().bytes->taps(call, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override { kernels().bytes->taps(at(src, dst, false), 1); }
  TapsTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    TapsTask call = task;
    call.src = reinterpret_cast<const uint8_t*>(src), call.dst = reinterpret_cast<uint8_t*>(dst);
    call.stream = stream;
    return call;
  }
};

}  // namespace tenter
