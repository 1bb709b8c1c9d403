#include "plan/gaps.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "system/integers.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

constexpr int64_t part = 1 << 14;  // values of a task

}  // namespace

void fill_gaps(const FillTask& task, int64_t period, int threads) {
  const int64_t size = size_of(task.dtype);
  parallel(ceil_div(task.n, part), team_for(task.n * size, threads), [&](int64_t p) {
    FillTask some = task;
    for (int64_t at = p * part, end = std::min(at + part, task.n); at < end; at += some.n) {
      const int64_t in_mask = task.mask ? at % period : 0;
      some.n = task.mask ? std::min(end - at, period - in_mask) : end - at;
      some.mask = task.mask ? task.mask + in_mask : nullptr, some.ones = task.ones ? task.ones + at * size : nullptr;
      some.values = task.values + at * size, some.filled = task.filled + at * size;
      kernels().fill_gaps(some);
    }
  });
}

void divide_by_shares(const DivideTask& task, int threads) {
  const int64_t size = size_of(task.dtype);
  parallel(ceil_div(task.n, part), team_for(2 * task.n * size, threads), [&](int64_t p) {
    DivideTask some = task;
    const int64_t at = p * part;
    some.n = std::min(part, task.n - at);
    some.sums += at * size, some.shares += at * size, some.quotients += at * size;
    kernels().divide_by_shares(some);
  });
}

}  // namespace tenter
