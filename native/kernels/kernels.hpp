// The kernels' arguments: plain memory and closed forms, which the callers have checked. Kernels own none of the
// memory. In all tasks `stream` asks for streaming stores, and strides are in bytes.
#pragma once
#include <cstdint>

#include "kernels/choices.hpp"
#include "kernels/dtypes.hpp"
#include "system/words.hpp"

namespace tenter {

// One axis of a copy. Output o is a copy of input i; inputs are `stride` bytes apart.
//   affine  i = o
//   every   i = o / repeat
//   runs    table[i] <= o < table[i + 1]     (n_in + 1 ascending offsets from 0)
//   index   i = table[o / repeat]            (non-decreasing indices)
//   computed  i is computed by a SourceIndex (source_index.hpp): at most one axis, the first that is not affine
#define TENTER_COPY_KINDS(row) row(affine) row(every) row(runs) row(index) row(computed)
TENTER_WORDS(copy_kind, TENTER_COPY_KINDS, TENTER_WORD)
struct CopyAxis {
  enum Kind : int { TENTER_COPY_KINDS(TENTER_NAME) } kind;
  int64_t n_in, n_out, stride, repeat;
  const int64_t* table;
};

// An N-D copy into contiguous memory. Inside of the last axis, `run` bytes are contiguous in input and output.
//   bytes  bytes[k]: output bytes of axes k, k + 1, ... together; bytes[n_axes] == run
constexpr int max_axes = 72;
struct CopyTask {
  const char* src;
  char* dst;
  int64_t run;
  int n_axes;
  CopyAxis axis[max_axes];
  int64_t bytes[max_axes + 1];
  bool stream;
};

// Repeats each of n contiguous values as often as its count says, without a table of all offsets: the outputs of the
// inputs [chunk * c, chunk * (c + 1)) begin at output chunk_offset[c].
struct RunsTask {
  int64_t chunk;
  const char* src;
  char* dst;
  int itemsize;  // 1, 2, 4 or 8
  const void* counts;
  bool int32_counts;  // else int64
  int64_t n;
  const int64_t* chunk_offset;
  bool stream;
};

// A map whose row o reads the adjacent inputs first(o) .. first(o) + count(o) - 1. Without tables, row o reads `width`
// inputs from o * width on. Without weights, all weights are 1.
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
struct FloatRows;
struct SourceIndex;

// Resamples (outer..., row, column, inner) along row, column or both into contiguous memory, or (outer..., plane, row,
// column, inner) along all three. An axis without a map keeps its length. The `inner` values of a column are resampled
// separately.
struct WindowTask {
  const char* src;
  char* dst;
  Dtype in, out;
  Accumulate acc;
  int n_outer;
  int64_t outer_shape[max_axes], outer_stride[max_axes];
  int64_t n_row, row_stride, n_column, column_stride, inner, inner_stride;
  int64_t plane_stride;
  const WindowMap* plane;  // null for an axis without a map
  const WindowMap* row;
  const WindowMap* column;
  const PermuteTables* permutes;  // of the column map; null if there are none
  Kernel kernel;                  // which computes the task (window_kernels.hpp)
  bool rows_first;                // rows before columns; columns must then be contiguous, except for `pixels`
  bool planes_first;              // planes before rows and columns; columns must then be contiguous
  bool clamps;                    // clamp to the range of the integer dtype between two axes
  bool stream;
  // For tasks of one axis: how many values an output row is from the next, and the rows of an outer position from those
  // of the next; 0 if rows are contiguous. They are set for a chunk of a long axis, whose outputs are parts of longer
  // rows.
  int64_t row_pitch, outer_pitch;
  // For tasks of two axes: how many inner values a pixel has if the last one is alpha, else 0. Colors are premultiplied
  // by alpha before they are summed. They are divided by the summed alpha afterwards, or 0 where that is at most
  // `unseen`. Pixels are contiguous.
  int alpha;
  double unseen;
  const FloatRows* floats;  // for tasks of rows and columns: where the result is normalized (normalize.hpp), or null
};

struct ByteKernels;
struct Filter;
struct SignalTask;
struct RangesTask;
struct ExtremesTask;
struct FillTask;
struct DivideTask;

constexpr int shuffle_table_bytes = 9 << 10;

// The kernels of one instruction set, filled in by level.cpp.
struct Kernels {
  const char* name;
  int vector_bytes;
  int float_lanes, double_lanes;  // lanes of vectors that can be permuted; 0 if there are no such instructions
  void (*copy)(const CopyTask&, int threads);
  void (*window)(const WindowTask&, int threads);
  void (*pixels)(const WindowTask&, int threads);
  void (*runs)(const RunsTask&, int threads);
  // Runs of `run` bytes that are all repeated `times` times. The first makes a table for so many bytes of outputs, in
  // shuffle_table_bytes of memory, unless that would take longer than it saves. The second stores the outputs of n
  // bytes.
  bool (*make_shuffles)(void* table, int64_t run, int64_t times, int64_t bytes);
  void (*repeat_by_shuffles)(const void* table, const char* src, int64_t n, char* dst);
  const ByteKernels* bytes;
  void (*signals)(const SignalTask&, int threads);
  // The sums of a few parts of a long row (long_sums.hpp).
  void (*sum_parts)(Dtype in, Accumulate acc, const char* src, int64_t stride, const double* weight,
                    const int64_t* begin, double* sum);
  // A copy whose axis number `axis` has computed source indices (source_index.hpp).
  void (*copy_indexed)(const CopyTask&, int axis, const SourceIndex&, int threads);
  // The transpose of such a copy (can_sum_indexed).
  void (*sum_indexed)(const WindowTask&, const SourceIndex&, int threads);
  // Source indices of outputs from `lo` on, as base + index[k]. Returns for how many, at most n.
  int64_t (*indices)(const SourceIndex&, int64_t lo, int64_t n, int32_t* index, int64_t& base);
  // For ragged arrays (ragged.hpp).
  void (*ranges)(const RangesTask&, int threads);
  void (*extremes)(const ExtremesTask&, int threads);
  // For missing values (gaps.hpp), on the calling thread.
  void (*fill_gaps)(const FillTask&);
  void (*divide_by_shares)(const DivideTask&);
  // A filter's weights at n distances (filters.hpp).
  void (*weights)(const Filter&, const double* distance, int64_t n, double* weight);
  // A filter's weights at the distances (first + k * step) / unit. All three are whole numbers.
  void (*line_weights)(const Filter&, double first, double step, double unit, int64_t n, double* weight);
};

// Throws std::invalid_argument. It is declared here, as the standard header would take much of the compilation time of
// each file of kernels.
[[noreturn]] void no_kernel(const char* what);

const Kernels& kernels();            // the table in use
bool force_level(const char* name);  // "" selects the best one; false if this machine lacks it
const char* const* level_names();    // the levels that this machine has, maybe none: null-terminated, best last

}  // namespace tenter
