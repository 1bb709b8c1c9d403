// Tables of ragged arrays, rows of unlike lengths that lie one after the other, and moves to and from padded arrays.
//
// offset: n + 1 ascending offsets from 0; row i holds positions offset[i] .. offset[i + 1] - 1.
#pragma once
#include <cstdint>

#include "kernels.hpp"

namespace tenter {

// Position k of row i gets start[i] + k * step[i]; what has no table is the same for all rows, and `ids` makes i of the
// start. The results fit the integers that are stored (ranges_fit).
struct RangesTask {
  const int64_t* offset;
  int64_t n;
  const int64_t* start;
  const int64_t* step;
  int64_t start_of_all, step_of_all;
  bool ids;
  char* dst;
  bool int32;   // else int64
  bool stream;  // with streaming stores
};

// The first row with a number that does not fit int64, or int32; -1 if all fit.
int64_t ranges_fit(const RangesTask& t, int threads);

// The largest value of each row in each column, or the smallest: (outer, offset[n], inner) to (outer, n, inner),
// contiguous. NaN is larger, and smaller, than all else. `at`: the first position of the value, -1 in an empty row;
// null if it is not wanted. An empty row's value is the one that no other exceeds.
struct ExtremesTask {
  const char* src;
  char* dst;
  int64_t* at;
  Dtype dtype;
  const int64_t* offset;
  int64_t n, outer, inner;
  bool largest;
};

// Rows summed as a window map of ones sums them: (outer, offset[n], inner) to (outer, n, inner), contiguous. mean_rows:
// of float32 and float64, divided by the lengths; an empty row's mean is 0.
struct RowsTask {
  const char* src;
  char* dst;
  Dtype dtype;
  const int64_t* offset;
  int64_t n, outer, inner;
  bool stream;  // with streaming stores
};
void sum_rows(const RowsTask& t, int threads);
void mean_rows(const RowsTask& t, int threads);
// For softmax, of float32 and float64, both shaped like the input. less_extremes: each value less the largest of its
// row. share_rows: each over the sum of its row.
void less_extremes(const RowsTask& t, int threads);
void share_rows(const RowsTask& t, int threads);

// Which of n positions lie in any of k spans, for each row: pairs of a begin and an end, 0 <= begin <= end <= n, which
// are put in another order. dst: bool[rows, n].
struct SpansTask {
  int64_t* spans;
  char* dst;
  int64_t rows, k, n;
};
void mark_spans(const SpansTask& t, int threads);

// Each row of a batch repeated by counts of its own, and filled up to `room` positions of `bytes` each with `value`.
// offset: those of all counts together, rows * width + 1. No row has more than room.
struct RepeatPaddedTask {
  const char* src;
  char* dst;
  const int64_t* offset;
  int64_t rows, width, room, bytes;
  const char* value;
  int64_t value_bytes;
  bool stream;  // with streaming stores
};
void repeat_padded(const RepeatPaddedTask& t, int threads);

// (n, length) positions of `bytes` each. pad: rows from their offsets on, and `value`, of `value_bytes`, behind them;
// without a value ones and zeros, a mask. unpad: the reverse. No row is longer than length.
struct PadTask {
  const char* src;
  char* dst;
  const int64_t* offset;
  int64_t n, length, bytes;
  const char* value;
  int64_t value_bytes;
};
void pad(const PadTask& t, int threads);
void unpad(const PadTask& t, int threads);

}  // namespace tenter
