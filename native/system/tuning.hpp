// Thresholds and block sizes, found by measuring (docs/performance.md). None of them changes a bit of a result: what
// does is a rule (Planner::settle, plan/groups.hpp).
// Unroll factors and the widths of stores are in the kernels that use them.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tenter {

// Tests and the fuzzer lower these (tenter._native.tuning), so that small arrays take the paths of large ones. Sizes
// are in bytes where the name says so, else in elements. L1 and L2 are the first and second level of the cache.
struct Tuning {
  int64_t parallel_bytes = 512 << 10;       // calls on fewer bytes use one thread: handing work over costs more
  int64_t task_bytes = 4 << 20;             // the most that one copy task writes: signals are polled between tasks
  int64_t staging_bytes = 8 << 10;          // staging buffer of streaming stores: well inside L1
  int64_t copied_block_bytes = 128 << 10;   // a repeated block up to this size is copied from its first copy, in cache
  int64_t runs_chunk = 1 << 14;             // counts per task
  int64_t shared_counts = 1 << 22;          // prefix sums of fewer counts use one thread: several read the counts twice
  int64_t tile_bytes = 256 << 10;           // size of a transposed tile: half of L2
  int64_t tile_inputs = 1 << 16;            // inputs in one row of such a tile: wider windows are summed without a tile
  int64_t widened_values = 1 << 11;         // converted values in a scratch row: two such rows fit in L1
  int64_t column_step = 4096;               // outputs per task along a single row
  int64_t row_width = 4096;                 // columns per task that sums rows
  int64_t row_block = 16384;                // outputs of such a task, or inputs that are each read once
  int64_t row_chunk_bytes = 192 << 10;      // rows between two axes: they stay in L2
  int64_t plane_bytes = 32 << 10;           // a chunk of rows of one plane, for three axes
  int64_t cached_planes_bytes = 256 << 10;  // planes cached for later outputs, on top of those that a pair reads
  int64_t byte_tile_bytes = 32 << 10;       // size of a transposed tile of 8-bit values
  int64_t byte_chunk_bytes = 16 << 20;      // one task on 8-bit values: signals are polled between tasks
  int64_t stream_bytes = 32 << 20;          // results of at least this size are written with streaming stores
  int64_t long_axis = 1 << 16;      // maps with more positions have no tables: rows are made one chunk at a time
  int64_t signal_axis = 1 << 10;    // signals with more positions have no tables either, if a kernel needs none
  int64_t tap_outputs = 1024;       // outputs in such a chunk at most,
  int64_t tap_block = 1 << 14;      // and taps at most: tables, inputs and outputs stay in L2
  int64_t many_scalars = 1 << 13;   // with more, a table of offsets that is used once is much of the traffic
  int64_t index_outputs = 2048;     // outputs in a chunk of a computed copy: its indices stay in L1
  int64_t small_bytes = 1 << 15;    // below this, asking for the number of threads costs as much as the work
  int64_t large_bytes = 256 << 10;  // smaller results are left to allocators, which recycle such sizes
  int64_t chunk_bytes = 4 << 20;    // temporaries between passes: larger ones leave the caches
  int64_t seldom_calls = 8;         // for fewer calls of a kind, making a cached plan costs more than it saves
  int64_t scratch_bytes = 8 << 20;  // temporaries with wider values than x's: with more, Python resizes in chunks
  int64_t idle_scratch_bytes = 256 << 20;  // scratch kept for later tasks: with more, it is freed after its task
  int64_t planned_bytes = INT64_MAX;     // the largest result that the core plans; the machine's memory is a limit too
  int64_t table_bytes = 256 << 20;       // tables of one map; before it makes more, Python's code checks the memory
  int64_t planned_taps = 1 << 16;        // taps in one row of a map that the core makes for a new call
  int64_t weight_sum_outputs = 1 << 21;  // outputs along an axis whose rows of weights the core adds up
  int64_t taken = 0, left = 0;           // answers that tests force (kernels/choices.hpp), a bit for each question
  int64_t ran = 0;                       // the kernels of plans that ran, a bit each, if `notes_kernels`
  bool notes_kernels = false;
  bool guard_blocks = false;  // results end where an inaccessible page begins, and no memory is recycled
};
extern Tuning tuning;

// ---- copies
constexpr int64_t min_run_part = 8 << 10;    // the least bytes of a long run that one task copies to all its outputs
constexpr int64_t stream_part = 8 << 10;     // bytes of a source streamed to many places at a time: they stay in L1
constexpr int64_t runs_staging_buffers = 8;  // staging buffers in one, for runs: each starts with a binary search
constexpr int64_t max_indexed_run = 64;      // bytes that are moved as one value by a computed index
constexpr int64_t few_scalars = 64;          // up to so many outputs of counts, the gradient is summed without a kernel
constexpr int64_t longest_row = 16 << 10;    // bytes of a run that is copied inline, without a function call
constexpr int64_t max_stored_run = 64;       // outputs of one count that are stored without a branch on the count
// A chunk of counts may have at most small_chunk outputs, or 1 / max_chunk_share of all outputs, whichever is more.
// With larger chunks the work of the threads is not balanced.
constexpr int64_t small_chunk = 1 << 18, max_chunk_share = 8;

// ---- windows
constexpr int64_t wide_inner = 16;  // a column of so many values fills vectors by itself
constexpr int permuted_rows = 2;    // rows that share weights: with more, rows a power of two apart evict each other
constexpr int64_t max_permuted_taps = 16;      // with more taps, sharing loads over the rows of a tile costs less
constexpr int64_t max_permuted_inner = 4;      // wider columns fill vectors without permutations
constexpr int64_t min_permuted_rows = 8;       // for fewer rows, making the tables takes longer than the call
constexpr int64_t min_permuted_sum_rows = 64;  // the same without weights: most of these maps are used once
constexpr int64_t longest_summed_row = 512;    // inputs and outputs of rows that tables sum faster, if rows are many
// Short rows are joined until they have so many outputs, or inputs; at most one in `least_joined` of all rows, as the
// tables of the joined rows have to pay.
constexpr int64_t joined_outputs = 512, joined_inputs = 4096, least_joined = 32;
// Rows are made contiguous first if columns are so many bytes apart, each in a cache line of its own; or to be joined,
// if they have at most so many inputs, as a copy of more takes longer. Not if outputs are fewer than one in `most_left`
// inputs, nor if the copy would be larger than most_packed_bytes.
constexpr int64_t least_far_apart = 64, most_packed = 128, most_left = 16, most_packed_bytes = 64 << 20;
constexpr int uses_before_tables = 16;   // uses of a signal by many rows before it gets tables, which save a fifth
constexpr int64_t least_sum_tasks = 16;  // tasks that sum rows without weights: threads share the columns of few sums,
constexpr int64_t least_summed_columns = 256;  // with at least so many columns, to read more than a cache line of a row
constexpr int64_t min_chunk_rows =
    8;  // rows per task of two or three axes: neighboring tasks read few input rows twice
constexpr int64_t max_chunk_rows = 256;  // rows per task of two axes, so that narrow images still have enough tasks
constexpr int64_t planes_at_once = 2;    // output planes computed together: inputs that both read are loaded once

// Bytes of a row of inputs in the type of sums, and half of the bytes of a row of outputs. Axes with shorter rows are
// summed in separate passes if at least such a share of the inputs is read.
constexpr int64_t narrow_bytes = 384, narrowest_bytes = 96;
constexpr double least_share_read = 0.4, least_narrow_share_read = 0.1;
// How many times as many inputs a pass may sum so that they need not be copied first.
constexpr double most_uncropped = 2;
// Bytes of an image in the type of sums, before and after every axis, if each lane is an image.
constexpr int64_t small_image_bytes = 256;

// ---- memory
constexpr int64_t largest_mask = 1 << 20;      // bytes of a mask that the core allocates by itself
constexpr int64_t huge_page = 2 << 20;         // alignment of large blocks, and the unit of their sizes
constexpr int64_t huge_page_bytes = 16 << 20;  // smaller blocks are not rounded up to huge pages, to waste less
constexpr int64_t small_unit = 64 << 10;       // the unit of the sizes of smaller blocks
// A recycled block of huge pages is at most 1 / max_waste_share larger than needed. A smaller block is at most twice as
// large, as the last used one is in cache.
constexpr int64_t max_waste_share = 4;
constexpr int64_t lazy_free_bytes = 32 << 20;     // MADV_FREE from this size on, as it interrupts all other threads
constexpr size_t cached_scratch_bytes = 4 << 20;  // larger scratch buffers are freed after their task
constexpr int idle_workspaces = 64;  // with more simultaneous tasks than this, some allocate their workspace each time

// ---- threads
constexpr int64_t spin_microseconds = 50;  // waking takes 20 or more; longer spins waste cores
// parallel_bytes are worth at most so many threads. Such multiples are worth waking threads that sleep, which takes 20
// or more microseconds, and worth several threads at any time.
constexpr int64_t threads_worth = 8, worth_waking = 4, worth_waiting = 64;
constexpr int64_t tasks_each = 8;  // tasks for each thread, so that all end at about the same time
// Calls are credited with the time that other threads save (system/threads.cpp). Several quanta of the scheduler at
// most, so that a process which begins to use a core is noticed within a few calls; after a pause what waking a thread
// takes.
constexpr std::chrono::milliseconds most_credit{8}, least_pause{50}, longest_pause{1600};
constexpr std::chrono::microseconds credit_after_pause{500};
constexpr int64_t poll_milliseconds = 50;  // between polls for signals: Ctrl-C seems immediate

}  // namespace tenter
