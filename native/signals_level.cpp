// The kernels of signals for one instruction set. Compiled once per set, with its name as TENTER_LEVEL.
#include "signals-inl.hpp"

#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)

namespace tenter {

void TENTER_JOIN(signals_, TENTER_LEVEL)(const SignalTask& t, int threads);
void TENTER_JOIN(signals_, TENTER_LEVEL)(const SignalTask& t, int threads) { signals(t, threads); }

}  // namespace tenter
