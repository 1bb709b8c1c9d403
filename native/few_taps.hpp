// Rows and columns of a few taps each, over pixels of a few values: pictures made smaller without antialias.
#pragma once
#include "kernels.hpp"

namespace tenter {

constexpr int max_pixel_taps = 4;
constexpr int pixel_lanes = 4;                   // of a vector, for a pixel's values
constexpr int64_t most_pixel_columns = 1 << 14;  // of a result: tables take 16 bytes for each and tap

// Whether the kernel of pixels serves a task of rows and columns whose dims are filled in, and is the faster one.
// Columns may then be anywhere in a row, also where rows are summed first.
bool by_pixels(const WindowTask& t);

// The longest row of a map.
int64_t most_taps(const WindowMap& m);

}  // namespace tenter
