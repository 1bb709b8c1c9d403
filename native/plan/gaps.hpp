// Missing values of arrays that are resized (tenter._execution.missing): whole arrays, by threads.
#pragma once
#include "kernels/gaps.hpp"

namespace tenter {

// The task's mask has `period` elements, which are read again and again.
void fill_gaps(const FillTask& task, int64_t period, int threads);
void divide_by_shares(const DivideTask& task, int threads);

}  // namespace tenter
