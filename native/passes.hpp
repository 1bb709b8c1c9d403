// Which dims a kernel's call has, and which axis it sums first: of window maps on neighboring axes of a layout.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "kernels.hpp"
#include "tuning.hpp"

namespace tenter {

struct OwnedMap;

struct Dim {
  int64_t n, stride;
};

// Neighbors are joined where one stride walks both; lone positions are left out.
struct Merged {
  Dim dims[max_axes];
  int n = 0;
  Merged(const Dim* from, const Dim* to);
};
// As of an array of its own, in the order of its dims.
void set_contiguous(Dim* dims, int n, int64_t itemsize);
// Copies an array to such memory. orders: for each dim the inputs that are taken of it, in that order; null for all of
// them as they are, and null where all dims have none.
void pack(const Dim* dims, int n, int64_t itemsize, const char* src, char* dst, int threads,
          const std::vector<int64_t>* const* orders = nullptr);

// Dims of an array from slowest to fastest, of which `count` neighbors from `first` on have maps.
struct Pass {
  const Dim* dims;
  int n_dims, first, count;
};
constexpr int most_together = 3;  // axes of one call

// An axis where costs are compared: with bands, that of the whole, as orders of sums must not depend on bands.
struct Deciding {
  int64_t n;
  OwnedMap* map;
};

// Fills in a task's dims and order; false if the input must be made contiguous first. maps: of the axes in turn, with
// tables if there are several. n_plane: length of the first of three axes, else 1. rows_first: of two axes with
// `saturate`, where the order shows in the result; else it is what costs less.
bool window_pass(const Pass& p, OwnedMap* const* maps, const Deciding* deciding, bool rows_first, WindowTask& task,
                 int64_t& n_plane);
// The same for 8-bit values in integers; the task's maps are the caller's to fill in. columns: the last axis is the
// task's column, and where there is one axis there is no row.
bool byte_pass(const Pass& p, bool rows_first, ByteTask& task, bool& columns);

// The copy of axes from slowest to fastest, those that are copied as they are merged with their neighbors.
void copy_pass(int64_t itemsize, const CopyAxis* axes, int n_axes, CopyTask& task);

// What passes are sorted by, the least first: growth per axis, and a number that decides between equal ones. A pair,
// whose columns are dear, goes where there is less data.
std::pair<double, int> pass_cost(const int64_t* n, const int64_t* n_out, int count);

// Whether few channels, which lie together in memory and not in the result, are resampled together first: what is then
// put in order is less than the input.
inline bool channels_together(int64_t n_channels, int64_t n_in, int64_t n_out) {
  return 1 < n_channels && n_channels < wide_inner && n_out < n_in;
}

// Whether so many of an axis's inputs lie before `lo` and from `hi` on, where no window reads any, that kernels are
// given the others alone.
inline bool crops(int64_t n_in, int64_t lo, int64_t hi) { return lo < hi && n_in - (hi - lo) > n_in / 16; }

// Pillow 13's order of axes, where overshoot is cut in between and so the order shows.
inline bool rows_before(int64_t n_row, int64_t made_row, int64_t n_column, int64_t made_column) {
  return n_row > made_row && n_row - made_row > 2 * (n_column - made_column);
}

}  // namespace tenter
