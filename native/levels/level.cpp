// The kernels for one instruction set. Compiled once per set, with its name as TENTER_LEVEL, and as TENTER_COPIES the
// namespace of the copies that it takes.
#include "levels/weights-inl.hpp"
#include "levels/window-inl.hpp"

#define TENTER_STRING2(x) #x
#define TENTER_STRING(x) TENTER_STRING2(x)
#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)
#define TENTER_INDICES TENTER_JOIN(indices_, TENTER_LEVEL)

namespace tenter {

extern const ByteKernels TENTER_JOIN(byte_kernels_, TENTER_LEVEL);         // bytes_level.cpp
void TENTER_JOIN(signals_, TENTER_LEVEL)(const SignalTask&, int threads);  // signals_level.cpp
void TENTER_JOIN(sum_parts_, TENTER_LEVEL)(Dtype, Accumulate, const char*, int64_t, const double*, const int64_t*,
                                           double*);
void TENTER_JOIN(pixels_, TENTER_LEVEL)(const WindowTask&, int threads);  // few_taps_level.cpp
namespace TENTER_COPIES {                                                 // level_copies.cpp
void copy(const CopyTask&, int threads);
void runs(const RunsTask&, int threads);
void ranges(const RangesTask&, int threads);
void extremes(const ExtremesTask&, int threads);
void fill_gaps(const FillTask&);
void divide_by_shares(const DivideTask&);
}  // namespace TENTER_COPIES
namespace TENTER_INDICES {  // indices_level.cpp
void copy_indexed(const CopyTask&, int axis, const SourceIndex&, int threads);
void sum_indexed(const WindowTask&, const SourceIndex&, int threads);
int64_t indices(const SourceIndex&, int64_t lo, int64_t n, int32_t* index, int64_t& base);
bool make_shuffles(void* table, int64_t run, int64_t times, int64_t bytes);
void repeat_by_shuffles(const void* table, const char* src, int64_t n, char* dst);
}  // namespace TENTER_INDICES

extern const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL);
const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL){TENTER_STRING(TENTER_LEVEL),
                                                  vector_bytes,
                                                  permutable<float> ? lanes<float> : 0,
                                                  permutable<double> ? lanes<double> : 0,
                                                  TENTER_COPIES::copy,
                                                  window,
                                                  TENTER_JOIN(pixels_, TENTER_LEVEL),
                                                  TENTER_COPIES::runs,
                                                  TENTER_INDICES::make_shuffles,
                                                  TENTER_INDICES::repeat_by_shuffles,
                                                  &TENTER_JOIN(byte_kernels_, TENTER_LEVEL),
                                                  TENTER_JOIN(signals_, TENTER_LEVEL),
                                                  TENTER_JOIN(sum_parts_, TENTER_LEVEL),
                                                  TENTER_INDICES::copy_indexed,
                                                  TENTER_INDICES::sum_indexed,
                                                  TENTER_INDICES::indices,
                                                  TENTER_COPIES::ranges,
                                                  TENTER_COPIES::extremes,
                                                  TENTER_COPIES::fill_gaps,
                                                  TENTER_COPIES::divide_by_shares,
                                                  weights,
                                                  line_weights};

}  // namespace tenter
