// The kernels' arguments: plain spans and closed forms. Python has checked everything that reaches this file.
#pragma once
#include <cstdint>

#include "dtypes.hpp"
#include "words.hpp"

namespace tenter {

// One axis of a copy: output o reads input i(o); inputs are `stride` bytes apart.
//   affine  i = o
//   every   i = o / repeat
//   runs    table[i] <= o < table[i + 1]     (n_in + 1 ascending offsets from 0)
//   index   i = table[o]                     (n_out non-decreasing indices)
//   computed i is computed (picks.hpp); at most one axis, the first that is not affine
#define TENTER_COPY_KINDS(row) row(affine) row(every) row(runs) row(index) row(computed)
TENTER_WORDS(copy_kind, TENTER_COPY_KINDS, TENTER_WORD)
struct CopyAxis {
  enum Kind : int { TENTER_COPY_KINDS(TENTER_NAME) } kind;
  int64_t n_in, n_out, stride, repeat;
  const int64_t* table;
};

// An N-D copy into contiguous memory. Below the last axis, `run` bytes are contiguous in input and output.
constexpr int max_axes = 72;
struct CopyTask {
  const char* src;
  char* dst;
  int64_t run;
  int n_axes;
  CopyAxis axis[max_axes];
  int64_t bytes[max_axes + 1];  // bytes[k]: output bytes of axes k and after together; bytes[n_axes] == run
  bool stream;                  // with streaming stores
};

// Copies of n contiguous values, each as often as its count says, without a table of offsets: the outputs of inputs
// [chunk * c, chunk * (c + 1)) begin at chunk_offset[c].
struct RunsTask {
  int64_t chunk;
  const char* src;
  char* dst;
  int itemsize;  // 1, 2, 4 or 8
  const void* counts;
  bool int32_counts;  // else int64
  int64_t n;
  const int64_t* chunk_offset;
  bool stream;  // with streaming stores
};

// Row o of a window map reads inputs first(o) .. first(o) + count(o) - 1. Without tables, row o reads the `width`
// inputs from o * width on; without weights, all weights are 1.
struct WindowMap {
  int64_t n_in = 0, n_out = 0, width = 0;
  const int64_t* start = nullptr;
  const int64_t* offset = nullptr;
  const float* weight32 = nullptr;
  const double* weight64 = nullptr;
  int64_t first(int64_t o) const { return start ? start[o] : o * width; }
  int64_t count(int64_t o) const { return start ? offset[o + 1] - offset[o] : width; }
};

struct PermuteTables;
struct Picking;

// (outer..., row, column, inner) resampled along row, column or both into contiguous memory, or (outer..., plane, row,
// column, inner) along all three. An axis without a map keeps its length; the `inner` values of a column are resampled
// separately. Strides are in bytes.
struct WindowTask {
  const char* src;
  char* dst;
  Dtype in, out;
  Accumulate acc;
  int n_outer;
  int64_t outer_shape[max_axes], outer_stride[max_axes];
  int64_t n_row, row_stride, n_column, column_stride, inner, inner_stride;
  int64_t plane_stride;
  const WindowMap* plane;  // or none
  const WindowMap* row;
  const WindowMap* column;
  const PermuteTables* permutes;  // of the column map; null where this level and accumulator have none
  bool rows_first;                // of two axes; columns are then contiguous, but for pixels
  bool planes_first;              // of three axes; columns are then contiguous
  bool pixels;                    // by the kernel of pixels (few_taps.hpp), whose columns need not be contiguous
  bool saturate;                  // between two axes, to the range of the call's integer dtype
  bool stream;                    // with streaming stores
  // Of one axis: values from an output row to the next, and from an outer position's rows to the next one's; 0: rows
  // lie together. Bands of a long axis are calls of their own, whose outputs are parts of longer rows.
  int64_t row_pitch, outer_pitch;
  // Of two axes: the inner values of a pixel, the last of which weighs the others: they are multiplied by it before
  // they are summed, and divided after where it is above `unseen`, else 0. 0: none does. Pixels lie together.
  int alpha;
  double unseen;
};

struct ByteKernels;
struct Filter;
struct SignalTask;
struct RangesTask;
struct ExtremesTask;

// One table per instruction set, filled by level.cpp.
struct Kernels {
  const char* name;
  int float_lanes, double_lanes;  // of vectors that can be permuted; 0: none can
  void (*copy)(const CopyTask&, int threads);
  void (*window)(const WindowTask&, int threads);
  void (*pixels)(const WindowTask&, int threads);  // of tasks that say so
  void (*runs)(const RunsTask&, int threads);
  const ByteKernels* bytes;
  void (*signals)(const SignalTask&, int threads);
  // Adds n values, `stride` bytes apart, times weights to a sum of the accumulator's type: parts of long rows.
  void (*add_taps)(Dtype in, Accumulate acc, const char* src, int64_t stride, const double* weight, int64_t n,
                   double* sum);
  // A copy whose axis of that number has no table, and the inputs of some outputs of such an axis (picks.hpp).
  void (*picked)(const CopyTask&, int axis, const Picking&, int threads);
  // The transpose of such a copy (can_sum_picked).
  void (*sum_picked)(const WindowTask&, const Picking&, int threads);
  int64_t (*indices)(const Picking&, int64_t lo, int64_t n, int32_t* index, int64_t& base);
  // Of ragged arrays (ragged.hpp).
  void (*ranges)(const RangesTask&, int threads);
  void (*extremes)(const ExtremesTask&, int threads);
  // Of a filter's taps (filters.hpp).
  void (*weights)(const Filter&, const double* distance, int64_t n, double* weight);
  // Of taps that are `step` parts of a pixel apart, all of them whole numbers.
  void (*line_weights)(const Filter&, double first, double step, double unit, int64_t n, double* weight);
};

// Throws std::invalid_argument, whose headers would cost each file of kernels a good part of its compilation.
[[noreturn]] void no_kernel(const char* what);

const Kernels& kernels();            // the table in use
bool force_level(const char* name);  // "" selects the best one; false if this machine lacks it
const char* const* level_names();    // null-terminated, best last; those that this machine has, perhaps none

}  // namespace tenter
