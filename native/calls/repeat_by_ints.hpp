// repeat_interleave, repeat and tile by ints.
#pragma once
#include <Python.h>

#include <cstdint>

#include "arrays/arrays.hpp"
#include "calls/cached_plan.hpp"
#include "calls/call_arguments.hpp"
#include "plan/target.hpp"

namespace tenter {

// What is repeated how often, dim by dim.
//   shape, stride  of x as it is repeated: with dims of length 1 in front, or flattened
//   times          how often each dim is repeated
//   each           whether each position is repeated in a row (repeat_interleave), else the entire dim
struct Repeats {
  int ndim = 0;
  int64_t shape[max_read_dims], stride[max_read_dims], times[max_read_dims], shape_out[max_read_dims];
  int64_t bytes_out;
  bool each;
};

// Whether a function is repeat_interleave, repeat or tile, or NumPy's repeat or tile.
bool is_repeat(const CallArguments& names);
// Runs such a call, and records its gradient if the call wants one.
Outcome repeat_by_ints(const CoreCall& call, const CachedPlan& cached);

}  // namespace tenter
