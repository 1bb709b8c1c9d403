// Thresholds and block sizes, measured (docs/benchmarks.md); they change no bit of a result. Unroll factors and the
// widths of stores stand in the kernels that they shape.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenter {

// Tests and the fuzzer lower these (tenter._native.tuning), so that small arrays take the paths of large ones.
struct Tuning {
  int64_t parallel_bytes = 1 << 20;        // smaller calls use one thread: handing work over costs more than it saves
  int64_t wake_bytes = 8 << 20;            // smaller calls wake no sleeping thread, which takes tens of microseconds
  int64_t task_bytes = 4 << 20;            // most that one copy task writes: signals are polled between tasks
  int64_t staging_bytes = 8 << 10;         // staging buffer of streaming stores: well inside the first-level cache
  int64_t copied_block_bytes = 128 << 10;  // a repeated block up to this size is copied from its first copy, in cache
  int64_t runs_chunk = 1 << 14;            // counts of one task
  int64_t shared_counts = 1 << 22;         // of fewer one thread takes the prefix sums: several read counts twice
  int64_t tile_bytes = 256 << 10;          // of a transposed tile: half of a second-level cache
  int64_t tile_inputs = 1 << 16;           // of a transposed tile, in one row: a window of more is summed without one
  int64_t widened_values = 1 << 11;        // of a scratch row of converted values: two are in the first-level cache
  int64_t column_step = 4096;              // outputs of one task along a single row
  int64_t row_width = 4096;                // columns of one task that sums rows
  int64_t row_block = 16384;               // outputs of such a task, or inputs that are each read once
  int64_t band_bytes = 192 << 10;          // of rows between two axes: they stay in the second-level cache
  int64_t plane_bytes = 32 << 10;          // of a band of rows of one plane, for three axes
  int64_t planes_kept_bytes = 256 << 10;   // of planes kept for later outputs, beyond those that a pair reads
  int64_t byte_tile_bytes = 32 << 10;      // of a transposed tile of 8-bit values
  int64_t byte_band_bytes = 16 << 20;      // of a task of 8-bit values: signals are polled between tasks
  int64_t stream_bytes = 32 << 20;         // results from this size on are written with streaming stores
  int64_t long_axis = 1 << 16;             // maps of more positions have no tables: rows are made for a band at a time
  int64_t signal_axis = 1 << 10;           // signals of more positions have none either, where a kernel can do without
  int64_t tap_outputs = 1024;              // outputs of such a band, where their rows are short,
  int64_t tap_block = 1 << 14;             // and taps: tables, inputs and outputs stay in the second-level cache
  int64_t many_scalars = 1 << 13;          // with more, a table of offsets by counts that are used once is traffic
  int64_t pick_outputs = 2048;             // of a band of a computed copy: its indices stay in the first-level cache
  int64_t small_bytes = 1 << 15;           // below, asking how many threads there are is a large part of the work
  int64_t large_bytes = 256 << 10;         // results below are left to allocators, which recycle such sizes
  int64_t slice_bytes = 4 << 20;           // of temporaries between passes: larger ones leave the caches
  int64_t seldom_calls = 8;                // of a kind: no plan is kept, as making one costs what it saves in so many
  int64_t apart_bytes = 4 << 20;           // of a result that is made first and copied to an `out` of another layout
  int64_t scratch_bytes = 8 << 20;    // of temporaries of a call with `out`; of more, tiles of the result have less
  int64_t planned_bytes = INT64_MAX;  // of a result that the core plans, which the machine's memory bounds too
  int64_t table_bytes = 256 << 20;    // of a map's tables that the core makes: Python's code checks memory for more
  int64_t planned_taps = 1 << 16;     // of a row of a map that the core makes for a new call
  int64_t weighed_outputs = 1 << 21;  // along an axis of such a call, of which each row's weights are added up
  bool guard_blocks = false;          // results end where an unmapped page begins; no memory is recycled
};
extern Tuning tuning;

// ---- copies
constexpr int64_t min_run_part = 8 << 10;    // least of a long run that one task copies to all its outputs
constexpr int64_t stream_part = 8 << 10;     // of a source streamed to many places: it stays in the first-level cache
constexpr int64_t runs_staging_buffers = 8;  // in one, for runs: each staging buffer starts with a binary search
constexpr int64_t max_picked_run = 64;       // bytes that are moved as one value by a computed index
constexpr int64_t few_scalars = 64;          // outputs of counts whose gradient is summed without a kernel
constexpr int64_t longest_row = 16 << 10;    // bytes of a run that is copied in place, without a call
constexpr int64_t max_stored_run = 64;       // outputs of one count that are stored without a branch on the count
// A chunk of counts may have so many outputs, or such a share of all: beyond, threads are not balanced.
constexpr int64_t small_chunk = 1 << 18, max_chunk_share = 8;  // 1 / 8

// ---- windows
constexpr int64_t wide_inner = 16;             // a column of this many values fills vectors by itself
constexpr int permuted_rows = 2;               // share weights; with more, rows a power of two apart evict each other
constexpr int64_t max_permuted_taps = 16;      // with more, sharing loads over the rows of a tile costs less
constexpr int64_t max_permuted_inner = 4;      // wider columns fill vectors without permutations
constexpr int64_t min_permuted_rows = 8;       // for fewer rows, making the tables takes longer than the call
constexpr int64_t min_permuted_sum_rows = 64;  // the same without weights: such maps are mostly of counts, used once
constexpr int uses_before_tables = 16;         // of many signals, whose kernel with tables takes a fifth less time
constexpr int64_t least_sum_tasks = 16;        // of rows without weights: few long sums are shared by columns,
constexpr int64_t least_summed_columns = 256;  // not so few that a row's parts are read line by line
constexpr int64_t min_band_rows = 8;           // of a task of two or three axes: neighbors read few input rows twice
constexpr int64_t max_band_rows = 256;         // of a task of two axes, so that narrow ones have enough tasks
constexpr int64_t planes_at_once = 2;          // output planes: what both read is loaded once

// ---- memory
constexpr int64_t largest_mask = 1 << 20;       // bytes of a mask that the core makes by itself
constexpr int64_t huge_page = 2 << 20;          // alignment of blocks, and the unit of large ones
constexpr int64_t huge_page_bytes = 16 << 20;   // smaller blocks are not rounded up to huge pages, to waste less
constexpr int64_t small_unit = 64 << 10;        // the unit of smaller ones
constexpr int64_t max_waste_share = 4;          // a recycled block of huge pages is at most 1 / 4 larger than needed,
                                                // a smaller one twice as large: the last used is in cache
constexpr int64_t lazy_free_bytes = 32 << 20;   // MADV_FREE from this size on: it interrupts all other threads
constexpr size_t kept_scratch_bytes = 4 << 20;  // larger scratch buffers are freed after their task
constexpr int idle_workspaces = 64;             // more simultaneous tasks than this allocate theirs each time

// ---- threads
constexpr int64_t spin_microseconds = 50;  // waking takes 20 or more; longer spins waste cores
constexpr int64_t poll_milliseconds = 50;  // between polls for signals: Ctrl-C seems immediate

}  // namespace tenter
