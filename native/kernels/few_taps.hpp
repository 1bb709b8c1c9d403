// Tasks of a few taps per row and column, on pixels of a few values: images made smaller without antialias.
#pragma once
#include "kernels/kernels.hpp"

namespace tenter {

constexpr int max_pixel_taps = 4;
constexpr int pixel_lanes = 4;                   // lanes of a vector for the values of a pixel
constexpr int64_t most_pixel_columns = 1 << 14;  // columns of a result: tables take 16 bytes per column and tap

// Whether the kernel of pixels can do a task, whose dims are filled in, and is faster than the others. Its columns may
// have any stride, even if rows are summed first.
bool by_pixels(const WindowTask& t);

// The number of taps in the longest row of a map.
int64_t most_taps(const WindowMap& m);

}  // namespace tenter
