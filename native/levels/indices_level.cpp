// The kernels of computed source indices and of shuffled repeats for one instruction set. Compiled once per set, with
// its name as TENTER_LEVEL.
#include "levels/indexed-copies-inl.hpp"
#include "levels/indexed-sums-inl.hpp"
#include "levels/repeats-inl.hpp"

#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)
#define TENTER_INDICES TENTER_JOIN(indices_, TENTER_LEVEL)

namespace tenter::TENTER_INDICES {

void copy_indexed(const CopyTask& t, int axis, const SourceIndex& p, int threads) {
  tenter::copy_indexed(t, axis, p, threads);
}
void sum_indexed(const WindowTask& t, const SourceIndex& p, int threads) { tenter::sum_indexed(t, p, threads); }
int64_t indices(const SourceIndex& p, int64_t lo, int64_t n, int32_t* index, int64_t& base) {
  return indices_of(p, lo, n, index, base);
}
bool make_shuffles(void* table, int64_t run, int64_t times, int64_t bytes) {
  return tenter::make_shuffles(table, run, times, bytes);
}
void repeat_by_shuffles(const void* table, const char* src, int64_t n, char* dst) {
  tenter::repeat_by_shuffles(table, src, n, dst);
}

}  // namespace tenter::TENTER_INDICES
