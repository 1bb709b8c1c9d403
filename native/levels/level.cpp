// The kernels for one instruction set. This file and level_copies.cpp are compiled once per set, with its name as
// TENTER_LEVEL.
#include "levels/weights-inl.hpp"
#include "levels/window-inl.hpp"

#define TENTER_STRING2(x) #x
#define TENTER_STRING(x) TENTER_STRING2(x)
#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)
#define TENTER_COPIES TENTER_JOIN(level_, TENTER_LEVEL)

namespace tenter {

extern const ByteKernels TENTER_JOIN(byte_kernels_, TENTER_LEVEL);         // bytes_level.cpp
void TENTER_JOIN(signals_, TENTER_LEVEL)(const SignalTask&, int threads);  // signals_level.cpp
void TENTER_JOIN(sum_parts_, TENTER_LEVEL)(Dtype, Accumulate, const char*, int64_t, const double*, const int64_t*,
                                           double*);
void TENTER_JOIN(pixels_, TENTER_LEVEL)(const WindowTask&, int threads);  // few_taps_level.cpp
namespace TENTER_COPIES {                                                 // level_copies.cpp
void copy(const CopyTask&, int threads);
void runs(const RunsTask&, int threads);
void copy_indexed(const CopyTask&, int axis, const SourceIndex&, int threads);
void sum_indexed(const WindowTask&, const SourceIndex&, int threads);
int64_t indices(const SourceIndex&, int64_t lo, int64_t n, int32_t* index, int64_t& base);
void ranges(const RangesTask&, int threads);
void extremes(const ExtremesTask&, int threads);
void fill_gaps(const FillTask&);
void divide_by_shares(const DivideTask&);
}  // namespace TENTER_COPIES

extern const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL);
const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL){TENTER_STRING(TENTER_LEVEL),
                                                  vector_bytes,
                                                  permutable<float> ? lanes<float> : 0,
                                                  permutable<double> ? lanes<double> : 0,
                                                  TENTER_COPIES::copy,
                                                  window,
                                                  TENTER_JOIN(pixels_, TENTER_LEVEL),
                                                  TENTER_COPIES::runs,
                                                  &TENTER_JOIN(byte_kernels_, TENTER_LEVEL),
                                                  TENTER_JOIN(signals_, TENTER_LEVEL),
                                                  TENTER_JOIN(sum_parts_, TENTER_LEVEL),
                                                  TENTER_COPIES::copy_indexed,
                                                  TENTER_COPIES::sum_indexed,
                                                  TENTER_COPIES::indices,
                                                  TENTER_COPIES::ranges,
                                                  TENTER_COPIES::extremes,
                                                  TENTER_COPIES::fill_gaps,
                                                  TENTER_COPIES::divide_by_shares,
                                                  weights,
                                                  line_weights};

}  // namespace tenter
