// Sizes that decide which way work goes. Defaults were measured (docs/benchmarks.md); tests lower them, so that small
// arrays take the paths of large ones. They change no bit of a result.
#pragma once
#include <cstdint>

namespace tenter {

struct Tuning {
  int64_t parallel_bytes = 1 << 20;        // less is moved on one thread: telling another costs more than it saves
  int64_t wake_bytes = 8 << 20;            // less does not wake a sleeping thread, which takes tens of microseconds
  int64_t task_bytes = 4 << 20;            // most that one task copies: an interrupt is answered between tasks
  int64_t staging_bytes = 8 << 10;         // staging buffer of streamed stores: well inside the first-level cache
  int64_t copied_block_bytes = 128 << 10;  // a repeated block up to this size is copied from its first copy, in cache
  int64_t runs_chunk = 1 << 14;            // counts of one task
  int64_t tile_bytes = 256 << 10;          // of a transposed tile: half of a second-level cache
  int64_t tile_inputs = 1 << 16;           // of a transposed tile, in one row: a window of more is summed by itself
  int64_t column_step = 4096;              // outputs of one task along a single row
  int64_t row_width = 4096;                // columns of one task of sums down the rows
  int64_t row_block = 16384;               // outputs of such a task
  int64_t band_bytes = 192 << 10;          // of rows between two axes: they stay in the second-level cache
  int64_t plane_bytes = 32 << 10;          // of a band of rows of one plane, for three axes
  int64_t planes_kept_bytes = 256 << 10;   // of planes kept for later outputs, beyond those that a pair reads
  int64_t stream_bytes = 32 << 20;         // results from this size on go past the caches
  bool guard_blocks = false;               // results end where an unmapped page begins; nothing is kept
};
extern Tuning tuning;

}  // namespace tenter
