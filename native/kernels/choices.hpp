// The kernels of a plan's steps, and the questions that speed alone decides. All of them are answered here, by the
// numbers of system/tuning.hpp. Every answer gives the same bits (tests/kernels/test_choices.py forces each).
#pragma once
#include "system/integers.hpp"
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

// Questions that tests can answer otherwise (Tuning::taken, Tuning::left).
#define TENTER_CHOICES(row)                                                                                 \
  row(once) row(channels_last) row(apart) row(ends) row(packed) row(permuted) row(single_rows) row(squares) \
      row(long_segments) row(pixels) row(small_images) row(equal_sums) row(wide_column) row(joined_rows)    \
          row(indexed_sums) row(signal) row(periods) row(long_rows)
TENTER_ENUM(Choice, choice, TENTER_CHOICES)

// ---- which passes there are

// once: whether the equal sums of an expanded dim are made once, and copied. n, n_out: values of the input and of the
// result. packs: whether the input would be made contiguous.
bool sums_once(int64_t n, int64_t n_out, bool packs);

// channels_last: whether adjacent channels are summed together, and the result is put into its order. wide: whether
// they fill vectors.
bool sums_channels_together(int64_t n, int64_t n_out, bool wide, int64_t itemsize);

// ends: whether inputs at the ends of an axis that no row reads stay. growth: how many times as many inputs are then
// summed. adjacent: whether what is inside of a slower axis is one dim in memory. adjacent_then: the same with them.
bool keeps_ends(double growth, bool adjacent, bool adjacent_then);

// apart: whether rows and columns of 8-bit values get a pass each. narrow: whether rows are narrow between the two.
// image: values of an image before or after, whichever are more.
bool separates_bytes(bool narrow, int64_t image);

// apart: whether the axes of a pass get a pass each. Bytes are those of the type of sums.
//   image     bytes of an image before or after, whichever are more
//   row       bytes of the inputs of a row, or half of those of its outputs
//   n_rows    of an image
//   adjacent  whether columns are adjacent in memory
//   planes    whether there are three axes
struct ImageRows {
  int64_t image, row, n_rows;
  bool adjacent, planes;
};
// The share of rows that has to be read for that; none is enough if it is more than 1.
double least_read(const ImageRows& of);
// long_and_few: whether a pass of several axes would need a table of a long axis for few rows.
bool separates(double read, double least, bool long_and_few);

// packed: whether the input of a pass of columns is made contiguous although a kernel could read it as it is.
//   n_in, n_out    of the axis
//   n_rows         that have it
//   row            values of an input row
//   most           values of the copy
//   far            whether columns are `far_apart`
//   fills          whether the values of a column are apart, and fill a vector if they are adjacent
//   joined         how many rows are summed as one as they lie in memory
//   joined_packed  the same if they are contiguous
struct Packing {
  int64_t n_in, n_out, n_rows, row, most;
  bool far = false, fills = false;
  int64_t joined = 1, joined_packed = 0;
};
bool packs(const Packing& of);
// Whether columns of `size` bytes are so far apart that neighboring rows share their cache lines.
bool far_apart(int64_t n_columns, int64_t stride, int64_t size);

// ---- the kernel of a step

// joined_rows: how many rows may be summed as one at most, of n_rows with so many inputs and outputs each. One: none.
int64_t most_joined(int64_t n_rows, int64_t inputs, int64_t outputs);
bool joins_rows(int64_t n);

// pixels. contiguous: whether columns are adjacent in memory. read: how many rows are read, each as often as it is.
bool sums_pixels(bool contiguous, int64_t inner, int64_t n_column, int64_t n_column_out, int64_t column_taps,
                 double rows_read);
bool sums_equal(bool fits);
bool sums_small_images(int64_t n_images, int64_t lanes);
bool sums_wide_column(int64_t inner);
// indexed_sums: whether sums of ones follow a formula, where a table could hold their windows.
bool sums_by_formula(int64_t n_in, int64_t n_out, int64_t n_rows);
// signal: whether the weights of a long contiguous row follow a formula.
bool sums_as_signal(bool fits);
// The same for a map whose tables could be made: whether they are, after some uses.
bool tables_pay_later(int64_t n_rows, bool filtered);
// periods: how many tiles of equal rows a long axis has at least; 0 if it is not cut into such tiles.
int64_t least_tiles();
// long_rows: whether few values are summed with weights that are used once.
bool sums_long_rows(int64_t n_values);
// long_rows: whether the weights of `rows` rows of a transpose, of so many taps each, are computed where they are used.
// tabled: rows with a table otherwise; the others repeat these.
bool sums_long_lines(int64_t rows, int64_t taps, int64_t tabled, int64_t n_values);

// ---- inside of a kernel, for each block of outputs

// permuted: whether columns of n_rows rows have permute tables.
bool permutes(int64_t n_rows, bool weighted);
bool sums_single_rows(int n_rows, bool segments);
bool squares(bool reads_once);
// long_segments: whether inputs are converted in the squares in which they are added up. fills: whether vectors are
// full. inputs: of a segment.
bool sums_long_segments(bool fills, int64_t inputs);

}  // namespace tenter
