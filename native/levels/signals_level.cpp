// The kernels of signals for one instruction set. Compiled once per set, with its name as TENTER_LEVEL.
#include "levels/long-rows-inl.hpp"

#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)

namespace tenter {

void TENTER_JOIN(signals_, TENTER_LEVEL)(const SignalTask& t, int threads);
void TENTER_JOIN(signals_, TENTER_LEVEL)(const SignalTask& t, int threads) { signals(t, threads); }

void TENTER_JOIN(sum_parts_, TENTER_LEVEL)(Dtype, Accumulate, const char*, int64_t, const double*, const int64_t*,
                                           double*);
void TENTER_JOIN(sum_parts_, TENTER_LEVEL)(Dtype in, Accumulate acc, const char* src, int64_t stride,
                                           const double* weight, const int64_t* begin, double* sum) {
  sum_parts(in, acc, src, stride, weight, begin, sum);
}

}  // namespace tenter
