// The kernels that copy for one instruction set: as level.cpp, in a file of its own so that both compile at once.
#include "levels/extremes-inl.hpp"
#include "levels/gaps-inl.hpp"
#include "levels/indexed-sums-inl.hpp"
#include "levels/indexed-copies-inl.hpp"
#include "levels/ranges-inl.hpp"
#include "levels/runs-inl.hpp"

#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)
#define TENTER_COPIES TENTER_JOIN(level_, TENTER_LEVEL)

namespace tenter::TENTER_COPIES {

void copy(const CopyTask& t, int threads) { tenter::copy(t, threads); }
void runs(const RunsTask& t, int threads) { tenter::runs(t, threads); }
void copy_indexed(const CopyTask& t, int axis, const SourceIndex& p, int threads) {
  tenter::copy_indexed(t, axis, p, threads);
}
void sum_indexed(const WindowTask& t, const SourceIndex& p, int threads) { tenter::sum_indexed(t, p, threads); }
int64_t indices(const SourceIndex& p, int64_t lo, int64_t n, int32_t* index, int64_t& base) {
  return indices_of(p, lo, n, index, base);
}

void ranges(const RangesTask& t, int threads) { tenter::ranges(t, threads); }
void extremes(const ExtremesTask& t, int threads) { tenter::extremes(t, threads); }
void fill_gaps(const FillTask& t) { tenter::fill_gaps(t); }
void divide_by_shares(const DivideTask& t) { tenter::divide_by_shares(t); }

}  // namespace tenter::TENTER_COPIES
