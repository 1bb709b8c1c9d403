// The two kernels' arguments: plain spans and closed forms. Python has checked everything that reaches this file.
#pragma once
#include <cstdint>

namespace tenter {

enum class Dtype : int { f32, f64, f16, bf16, u8, i8, u16, i16, u32, i32, u64, i64 };

// What sums are kept in. int64 is for unweighted sums of integers, which are exact modulo 2^64.
enum class Accumulate : int { f32, f64, i64 };

// One axis of a copy: output o reads input i(o), `stride` bytes from input i - 1.
//   affine  i = o
//   every   i = o / repeat
//   runs    offset[i] <= o < offset[i + 1]     (n_in + 1 ascending offsets from 0)
//   index   i = offset[o]                      (n_out non-decreasing indices)
struct CopyAxis {
  enum Kind : int { affine, every, runs, index } kind;
  int64_t n_in, n_out, stride, repeat;
  const int64_t* offset;
};

// An N-D copy into contiguous memory: `run` bytes lie together below the last axis, in input and output alike.
constexpr int max_axes = 72;
struct CopyTask {
  const char* src;
  char* dst;
  int64_t run;
  int n_axes;
  CopyAxis axis[max_axes];
  int64_t bytes[max_axes + 1];  // of output below one index of axis k - 1; bytes[n_axes] == run
  bool stream;                  // past the caches
};

// Values that lie together, each as often as the caller's count says, without a table of where they go: inputs
// chunk * c and after have their outputs from before[c] on.
struct RunsTask {
  int64_t chunk;
  const char* src;
  char* dst;
  int bytes;  // of a value: 1, 2, 4 or 8
  const void* counts;
  bool narrow;  // int32 counts, not int64
  int64_t n;
  const int64_t* before;
  bool stream;  // past the caches
};

// Row o of a window map reads inputs first(o) .. first(o) + count(o) - 1. Without tables every row reads `width` inputs
// of its own; without weights they are ones.
struct WindowMap {
  int64_t n_in = 0, n_out = 0, width = 0;
  const int64_t* start = nullptr;
  const int64_t* offset = nullptr;
  const float* weight32 = nullptr;
  const double* weight64 = nullptr;
  int64_t first(int64_t o) const { return start ? start[o] : o * width; }
  int64_t count(int64_t o) const { return start ? offset[o + 1] - offset[o] : width; }
};

struct Permutes;

// (outer..., row, column, inner) resampled along row, column or both into contiguous memory, or (outer..., plane, row,
// column, inner) along all three. An axis without a map stays as it is; `inner` values travel together and are never
// mixed. Strides are in bytes.
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
  const Permutes* permutes;  // of the column map, where there are some for this level and accumulator
  bool rows_first;           // of two axes, the rows; columns then lie together
  bool planes_first;         // of three, the planes; columns then lie together
  bool saturate;             // between two axes, to the range of the integers that the whole call gives
  bool stream;               // past the caches
};

// One table per instruction set, filled by level.cpp.
struct Kernels {
  const char* name;
  int float_lanes, double_lanes;  // that can be permuted; none: 0
  void (*copy)(const CopyTask&, int threads);
  void (*window)(const WindowTask&, int threads);
  void (*runs)(const RunsTask&, int threads);
};

const Kernels& kernels();            // the table in use
bool force_level(const char* name);  // "" goes back to the best one; false where this machine lacks it
const char* const* level_names();    // null-terminated, best last; only those that this machine has

}  // namespace tenter
