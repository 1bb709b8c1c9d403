// The kernels that copy, for one instruction set, and what they share memory accesses with. In a file of its own so
// that it compiles beside level.cpp; levels that gain little from wider vectors here share it (CMakeLists.txt).
#include "levels/copy-inl.hpp"
#include "levels/extremes-inl.hpp"
#include "levels/gaps-inl.hpp"
#include "levels/ranges-inl.hpp"
#include "levels/runs-inl.hpp"

namespace tenter::TENTER_COPIES {

void copy(const CopyTask& t, int threads) { tenter::copy(t, threads); }
void runs(const RunsTask& t, int threads) { tenter::runs(t, threads); }
void ranges(const RangesTask& t, int threads) { tenter::ranges(t, threads); }
void extremes(const ExtremesTask& t, int threads) { tenter::extremes(t, threads); }
void fill_gaps(const FillTask& t) { tenter::fill_gaps(t); }
void divide_by_shares(const DivideTask& t) { tenter::divide_by_shares(t); }

}  // namespace tenter::TENTER_COPIES
