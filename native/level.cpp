// The kernels for one instruction set. This file is compiled once per set, with its name as TENTER_LEVEL.
#include "copy-inl.hpp"
#include "runs-inl.hpp"
#include "window-inl.hpp"

#define TENTER_STRING2(x) #x
#define TENTER_STRING(x) TENTER_STRING2(x)
#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)

namespace tenter {

extern const ByteKernels TENTER_JOIN(byte_kernels_, TENTER_LEVEL);         // bytes_level.cpp
void TENTER_JOIN(signals_, TENTER_LEVEL)(const SignalTask&, int threads);  // signals_level.cpp
extern const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL);
const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL){TENTER_STRING(TENTER_LEVEL),
                                                  permutable<float> ? lanes<float> : 0,
                                                  permutable<double> ? lanes<double> : 0,
                                                  copy,
                                                  window,
                                                  runs,
                                                  &TENTER_JOIN(byte_kernels_, TENTER_LEVEL),
                                                  TENTER_JOIN(signals_, TENTER_LEVEL)};

}  // namespace tenter
