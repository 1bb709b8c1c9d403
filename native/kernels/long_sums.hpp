// Sums of windows of any length.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/kernels.hpp"
#include "system/integers.hpp"

namespace tenter {

// A window of more taps is summed in parts of at most so many neighboring taps, and the sums of its parts are added up
// in order, again in parts if they are many. So the error of a sum of n values grows with n / sum_part, not with n, and
// vectors and threads share one window. The parts of a window are as few and as equally long as possible, longer ones
// first. This decides the last bits of long sums, whichever kernel makes them.
constexpr int64_t sum_part = 1024;
inline int64_t parts_of(int64_t count) { return ceil_div(count, sum_part); }
// The first tap of part k of n, counted from the window's first.
inline int64_t part_begin(int64_t count, int64_t n, int64_t k) { return k * (count / n) + std::min(k, count % n); }
constexpr int parts_together = 4;  // of one call of Kernels::sum_parts

// Whether some window has more taps than a part.
bool has_long_sums(const WindowMap& m);

// Whether a task of one axis is summed in parts. Integers are exact without parts. 8-bit values that are clamped have
// none either: the dtype of the input, which parts do not have, is their range.
bool sums_in_parts(const WindowTask& t);

// Computes a task of one axis. A window that is not long has one part: short and long ones may take turns, and a call
// for each would take longer than adding up short ones too.
void sum_in_parts(const WindowTask& t, int threads);

}  // namespace tenter
