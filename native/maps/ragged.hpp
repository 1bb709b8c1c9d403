// Operations on ragged arrays: rows of different lengths, stored one after the other.
//
// In all tasks `offset` has n + 1 ascending offsets from 0: row i has the positions offset[i] .. offset[i + 1] - 1.
// `stream` asks for streaming stores. Arrays are contiguous, and the caller owns all memory.
#pragma once
#include <cstdint>

#include "kernels/kernels.hpp"

namespace tenter {

// Position k of row i gets start[i] + k * step[i].
//   start, step               tables; null if all rows share start_of_all or step_of_all
//   ids                       whether row i starts at i instead
//   int32                     whether results are int32, else int64; they fit (ranges_fit)
struct RangesTask {
  const int64_t* offset;
  int64_t n;
  const int64_t* start;
  const int64_t* step;
  int64_t start_of_all, step_of_all;
  bool ids;
  char* dst;
  bool int32;
  bool stream;
};

// The first row with a number that does not fit the integers to store; -1 if all fit.
int64_t ranges_fit(const RangesTask& t, int threads);

// The largest or smallest value of each row and column: from (outer, offset[n], inner) to (outer, n, inner). A row with
// a NaN gives NaN. An empty row gives the neutral value, for example -inf for the largest.
//   at       gets the first position of each value, -1 for an empty row; null if it is not wanted
//   largest  whether to find the largest, else the smallest
struct ExtremesTask {
  const char* src;
  char* dst;
  int64_t* at;
  Dtype dtype;
  const int64_t* offset;
  int64_t n, outer, inner;
  bool largest;
};

// Sums of rows: from (outer, offset[n], inner) to (outer, n, inner). mean_rows divides them by the lengths of the rows,
// for float32 and float64; the mean of an empty row is 0.
struct RowsTask {
  const char* src;
  char* dst;
  Dtype dtype;
  const int64_t* offset;
  int64_t n, outer, inner;
  bool stream;
};
void sum_rows(const RowsTask& t, int threads);
void mean_rows(const RowsTask& t, int threads);
// The two steps of softmax, for float32 and float64. Results have the shape of the input. less_extremes subtracts the
// largest value of its row from each value; share_rows divides each value by the sum of its row.
void less_extremes(const RowsTask& t, int threads);
void share_rows(const RowsTask& t, int threads);

// For each row, which of n positions are in any of k spans.
//   spans  int64[rows, k, 2]: begins and ends, 0 <= begin <= end <= n; they may be reordered
//   dst    bool[rows, n]
struct SpansTask {
  int64_t* spans;
  char* dst;
  int64_t rows, k, n;
};
void mark_spans(const SpansTask& t, int threads);

// Each row of a batch is repeated by its own counts, then padded with `value` to `room` positions, which no row
// exceeds.
//   offset  rows * width + 1 offsets of all counts together
//   bytes   of a position
struct RepeatPaddedTask {
  const char* src;
  char* dst;
  const int64_t* offset;
  int64_t rows, width, room, bytes;
  const char* value;
  int64_t value_bytes;
  bool stream;
};
void repeat_padded(const RepeatPaddedTask& t, int threads);

// pad: copies ragged rows to a padded array of (n, length) positions, and fills the rest of each row with `value`.
// Without a value it writes a mask instead: 1 for positions of rows, 0 for padding. unpad: copies padded rows back to
// ragged rows. No row is longer than length.
//   left         whether the padding comes before a row, else after it
//   bytes        of a position
//   value        null for a mask
//   value_bytes  bytes of the value; a position has a multiple of them
struct PadTask {
  const char* src;
  char* dst;
  const int64_t* offset;
  bool left;
  int64_t n, length, bytes;
  const char* value;
  int64_t value_bytes;

  int64_t held(int64_t row) const { return offset[row + 1] - offset[row]; }
  // The first place of a padded row that holds a position.
  int64_t start(int64_t row) const { return left ? length - held(row) : 0; }
};
void pad(const PadTask& t, int threads);
void unpad(const PadTask& t, int threads);

}  // namespace tenter
