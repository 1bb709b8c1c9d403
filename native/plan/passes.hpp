// From maps on neighboring axes of a layout to a kernel's task: its dims, and the axis that it sums first.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "rules/bytes.hpp"
#include "system/tuning.hpp"

namespace tenter {

struct OwnedMap;

struct Dim {
  int64_t n, stride;
};

// Dims with neighbors merged if one stride goes over both, and without dims of length 1.
struct Merged {
  Dim dims[max_axes];
  int n = 0;
  Merged(const Dim* from, const Dim* to);
};
// Sets the strides of a contiguous array.
void set_contiguous(Dim* dims, int n, int64_t itemsize);
// Copies an array to contiguous memory. orders: for each dim, the positions to take in this order, or null for all; the
// pointer itself is null if no dim has an order.
void pack(const Dim* dims, int n, int64_t itemsize, const char* src, char* dst, int threads,
          const std::vector<int64_t>* const* orders = nullptr);

// The dims of an array from slowest to fastest. The `count` dims from `first` on have maps.
struct Pass {
  const Dim* dims;
  int n_dims, first, count;
};
constexpr int most_together = 3;  // axes per call of a kernel

// The length and map of an axis by which costs are compared. For a chunk of a larger result these are the whole
// result's, so that the order of sums does not depend on chunks. n_read: how many inputs are in some window, at most.
struct Deciding {
  int64_t n = 0, n_out = 0, n_read = 0;
  Deciding() = default;
  Deciding(int64_t n, int64_t n_out, int64_t n_read) : n(n), n_out(n_out), n_read(n_read) {}
  Deciding(int64_t n, OwnedMap& map);  // a map with tables
};

// Whether summing rows before columns costs less, for two axes of one task. An output of the columns costs three times
// as much as one of the rows.
bool rows_cost_less(const Deciding& row, const Deciding& column);
// Whether summing a third axis, the planes, before these two costs less.
bool planes_cost_less(const Deciding& plane);

// Fills in the dims of a task, the order of its axes and, if there are several, its kernel. Returns false if the input
// must be made contiguous first.
//   maps        of the axes, from slowest to fastest; with tables if there are several
//   deciding    of the same axes
//   rows_first  the order of two axes if the task clamps, as results then depend on it; else the cheaper one is used
//   n_plane     set to the length of the first of three axes, else to 1
bool window_pass(const Pass& p, OwnedMap* const* maps, const Deciding* deciding, bool rows_first, WindowTask& task,
                 int64_t& n_plane);
// The same for 8-bit values in integers. The caller fills in the task's maps. columns: set to whether the last axis is
// the task's column; a single axis is then no row.
bool byte_pass(const Pass& p, bool rows_first, ByteTask& task, bool& columns);

// Fills in a copy of axes from slowest to fastest. Axes without a map are merged with their neighbors.
void copy_pass(int64_t itemsize, const CopyAxis* axes, int n_axes, CopyTask& task);

// The cost by which passes are sorted, least first: the growth per axis, then a number that decides between equal ones.
// A pair of axes, whose columns are expensive, runs when there is less data.
std::pair<double, int> pass_cost(const int64_t* n, const int64_t* n_out, int count);

// Whether Pillow 13 resamples rows first. Results depend on the order, as overshoot is clamped after each axis.
inline bool rows_before(int64_t n_row, int64_t made_row, int64_t n_column, int64_t made_column) {
  return n_row > made_row && n_row - made_row > 2 * (n_column - made_column);
}

}  // namespace tenter
