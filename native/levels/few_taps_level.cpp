// The kernel of pixels for one instruction set. Compiled once per set, with its name as TENTER_LEVEL.
#include "levels/few-taps-inl.hpp"

#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)

namespace tenter {

void TENTER_JOIN(pixels_, TENTER_LEVEL)(const WindowTask& t, int threads);
void TENTER_JOIN(pixels_, TENTER_LEVEL)(const WindowTask& t, int threads) { pixels(t, threads); }

}  // namespace tenter
