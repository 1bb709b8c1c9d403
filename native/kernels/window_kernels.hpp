// Which kernel computes a window task.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "kernels/kernels.hpp"
#include "system/integers.hpp"
#include "system/tuning.hpp"

namespace tenter {

// ---- pixels: tasks of a few taps per row and column, on pixels of a few values
constexpr int max_pixel_taps = 4;
constexpr int pixel_lanes = 4;  // lanes of a vector for the values of a pixel

// ---- small images

// A plane, row, column or inner axis of a task: its inputs, the bytes between them, and its map, or null. Map:
// WindowMap or ByteMap.
template <class Map>
struct ImageAxis {
  int64_t n, stride;
  const Map* map;
};
// The axes of an image in the order in which they are summed, and how many values it has.
template <class Map>
struct ImageSums {
  struct Axis {
    const Map* map;
    int64_t before, after;  // products of the lengths before and after the axis
  };
  Axis axis[3];
  int n_axes = 0;
  int64_t n_in = 1, n_out = 1, largest = 1;  // largest: the most values, between axes too
};

// axes: plane, row, column and inner. planes_first, rows_first: as in WindowTask. most: the most values of an image.
// Returns false if an image has more, or none.
template <class Map>
TENTER_ALWAYS_INLINE bool image_sums(const ImageAxis<Map> (&axes)[4], bool planes_first, bool rows_first, int64_t most,
                                     ImageSums<Map>& found) {
  int64_t left[4];
  for (int k = 0; k < 4; ++k) {
    if (axes[k].n > most) return false;
    found.n_in *= left[k] = axes[k].n;
  }
  if (found.n_in == 0 || found.n_in > most) return false;
  const int order[] = {planes_first ? 0
                       : rows_first ? 1
                                    : 2,
                       planes_first ? rows_first ? 1 : 2
                       : rows_first ? 2
                                    : 1,
                       planes_first ? rows_first ? 2 : 1 : 0};
  for (const int k : order) {
    if (!axes[k].map) continue;
    int64_t before = 1, after = 1;
    for (int j = 0; j < k; ++j) before *= left[j];
    for (int j = k + 1; j < 4; ++j) after *= left[j];
    found.axis[found.n_axes++] = {axes[k].map, before, after};
    left[k] = axes[k].map->n_out;
    found.n_out = before * left[k] * after;
    found.largest = std::max(found.largest, found.n_out);
  }
  return found.n_out > 0 && found.largest <= most;
}

// The axes of the images of a task. Rows of a task of columns are images.
template <class Map>
struct TaskImages {
  ImageAxis<Map> axes[4];
  int64_t most;  // values of an image
};
TENTER_ALWAYS_INLINE TaskImages<WindowMap> images_of(const WindowTask& t) {
  const bool lone_column = t.column && !t.row;
  return {{{t.plane ? t.plane->n_in : 1, t.plane_stride, t.plane},
           {lone_column ? 1 : t.n_row, t.row_stride, t.row},
           {t.n_column, t.column_stride, t.column},
           {t.inner, t.inner_stride, nullptr}},
          small_image_bytes / (t.acc == Accumulate::f32 ? 4 : 8)};
}

// ---- all window tasks

// The number of taps in the longest row of a map.
int64_t most_taps(const WindowMap& m);

// The kernel of a task whose dims and maps are filled in; maps have tables.
Kernel window_kernel(const WindowTask& t);

// Whether columns of so many rows get permute tables.
bool takes_permutes(const WindowTask& t, int64_t n_rows, bool weighted);

// Computes a task by its kernel.
void sum_windows(const WindowTask& t, int threads);
// The same for a task that is part of a plan's: its kernel is chosen when its tables are there.
inline void choose_and_sum(WindowTask& t, int threads) {
  t.kernel = window_kernel(t);
  sum_windows(t, threads);
}

}  // namespace tenter
