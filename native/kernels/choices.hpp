// The kernels of a plan's steps, and the questions that speed alone decides. Every answer to one of these gives the
// same bits (tests/kernels/test_choices.py forces each).
#pragma once
#include "system/integers.hpp"
#include "system/tuning.hpp"
#include "system/words.hpp"

namespace tenter {

// row(name, why a step takes this kernel)
// clang-format off
#define TENTER_KERNELS(row) \
  row(copy, "every output is one input") \
  row(indexed_copy, "a formula gives the input of an output") \
  row(bytes, "8-bit values are antialiased in integers") \
  row(taps, "8-bit values are interpolated in fixed point") \
  row(widen, "a fill value is added to sums that are wider than the input") \
  row(fill_value, "outputs beyond the edges get a value") \
  row(columns, "the fastest axis is summed") \
  row(rows, "a slower axis is summed") \
  row(rows_and_columns, "two neighboring axes are summed") \
  row(planes, "three neighboring axes are summed") \
  row(wide_column, "a plane becomes one column of many values") \
  row(pixels, "outputs read few pixels, and most pixels are not read") \
  row(small_images, "a vector has a value of each of several images") \
  row(equal_sums, "all outputs add up equally many inputs") \
  row(joined_rows, "rows are short, and several are summed as one") \
  row(indexed_sums, "a formula gives the inputs of an output") \
  row(parts, "sums are long") \
  row(signal, "a formula gives the weights of an output") \
  row(filtered_signal, "a filter gives the weights of an output, where they are used") \
  row(periods, "rows repeat, and a table of some has all") \
  row(long_rows, "the weights of a row fill more than the cache") \
  row(inside, "rows at the ends of the axis read inputs that are apart") \
  row(chunks, "the axis is long, and each chunk of its outputs has a table")
// clang-format on
TENTER_ENUM(Kernel, kernel, TENTER_KERNELS)
TENTER_WORDS(kernel_reason, TENTER_KERNELS, TENTER_SPELLED)

// The questions:
//   once           whether the equal sums of an expanded dim are made once, and copied
//   channels_last  whether adjacent channels are resampled together, and the result is put into its order
//   apart          whether axes that one pass could sum get a pass each
//   ends           whether inputs at the ends of an axis that no row reads stay, so that nothing is copied
//   packed         whether an input is made contiguous although a kernel could read it as it is
//   permuted       whether columns have permute tables
//   single_rows    whether columns are summed a row at a time, without a tile of several
//   squares        whether squares of rows are transposed in registers, and not in a tile
//   long_segments  whether inputs are converted in the squares in which they are added up
// The others are kernels of the same name.
#define TENTER_CHOICES(row)                                                                                 \
  row(once) row(channels_last) row(apart) row(ends) row(packed) row(permuted) row(single_rows) row(squares) \
      row(long_segments) row(pixels) row(small_images) row(equal_sums) row(wide_column) row(joined_rows)    \
          row(indexed_sums) row(signal) row(periods) row(long_rows)
TENTER_ENUM(Choice, choice, TENTER_CHOICES)

// The answer to a question: `pays`, unless a test forces another.
TENTER_ALWAYS_INLINE bool decide(Choice question, bool pays) {
  const int64_t bit = int64_t(1) << int(question);
  return (tuning.taken & bit) || (pays && !(tuning.left & bit));
}

}  // namespace tenter
