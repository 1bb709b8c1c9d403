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
