// A resize of an array with gaps, a chunk at a time, so that filled values, ones and shares stay in the caches.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "plan/passes.hpp"

namespace tenter {

class HostPlan;

//   values, mask  arrays of the dims that the plan resizes and of those before them, from slowest to fastest in memory.
//                 mask.at is null for none, and strides are 0 along dims that it does not have
//   shares        of the outputs, as the mask; if at is null, they are the sums of ones
//   made          the lengths of the result's dims
//   result        contiguous; written with streaming stores if `stream`
//   loops         dims of which one position at a time is resized
//   each          so many positions of the next dim, which is not resized, are a chunk. 0 if the plan resizes all dims
//                 after the loops: a chunk is then some rows of the result where one kernel makes it, else all of it
//   bytes         of such rows: of their inputs and outputs, each twice
//   plan, rest    of a contiguous chunk, and of the last one if it is smaller
struct GapsCall {
  struct Array {
    const char* at;
    std::vector<Dim> dims;
  };
  Array values, mask, shares;
  std::vector<int64_t> made;
  char* result;
  Dtype dtype;
  bool skips, stream;
  double above;
  int64_t loops, each, bytes;
  const HostPlan *plan, *rest;

  void run(int threads) const;  // with the interpreter's lock
};

}  // namespace tenter
