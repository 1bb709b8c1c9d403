#include "kernels/choices.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernels/rates.hpp"
#include "system/integers.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// The answer to a question: `pays`, unless a test forces another.
bool decide(Choice question, bool pays) {
  const int64_t bit = int64_t(1) << int(question);
  return (tuning.taken & bit) || (pays && !(tuning.left & bit));
}

}  // namespace

// Sums read the input and write the result; a copy reads and writes the result.
bool sums_once(int64_t n, int64_t n_out, bool packs) { return decide(Choice::once, packs || n_out < n); }

// The copy that puts the result into its order has to be of fewer values than the input. Channels that fill vectors are
// summed as fast apart, so a result that leaves the caches is not copied.
bool sums_channels_together(int64_t n, int64_t n_out, bool wide, int64_t itemsize) {
  return decide(Choice::channels_last, n_out < n && (!wide || n_out <= most_packed_bytes / itemsize));
}

bool keeps_ends(double growth, bool adjacent, bool adjacent_then) {
  return decide(Choice::ends, growth <= most_uncropped && !adjacent && adjacent_then);
}

// Rows that are narrow in between leave most of a vector unused. Apart, columns are summed in tiles of many rows.
// Images that fit in lanes are summed together.
bool separates_bytes(bool narrow, int64_t image) { return decide(Choice::apart, narrow && image > small_image_bytes); }

// A pass of several axes takes its time for each row that is read, however short. Passes of one axis each go over all
// planes, sum several short rows as one, and take their time for each byte, read or not. A separate kernel sums very
// small volumes, and planes of rows that cannot be joined: each lane of its vectors is one.
double least_read(const ImageRows& of) {
  constexpr double never = 2;
  const bool joins = of.n_rows >= 2 * least_joined && of.adjacent;
  if ((of.planes || !joins) && of.image <= small_image_bytes) return never;
  if (of.row <= narrowest_bytes) return least_narrow_share_read;
  return of.row <= narrow_bytes && joins ? least_share_read : never;
}
bool separates(double read, double least, bool long_and_few) {
  return decide(Choice::apart, read >= least || long_and_few);
}

// A copy lets neighboring rows share cache lines, more rows be joined, or vectors be loaded. It takes longer than it
// saves if most inputs are not read.
bool packs(const Packing& of) {
  const bool fits = of.n_rows * of.row <= of.most && most_left * of.n_out >= of.n_in;
  const bool shares = of.far && of.n_rows >= 2;
  const bool joins = of.row <= most_packed && of.joined_packed >= 2 * std::max<int64_t>(1, of.joined);
  return decide(Choice::packed, fits && (shares || joins || of.fills));
}
bool far_apart(int64_t n_columns, int64_t stride, int64_t size) {
  return n_columns > 1 && std::abs(stride) >= std::max(least_far_apart, 2 * size);
}

int64_t most_joined(int64_t n_rows, int64_t inputs, int64_t outputs) {
  const int64_t share = decide(Choice::joined_rows, false) ? 1 : least_joined;
  return std::min({ceil_div(joined_outputs, outputs), joined_inputs / inputs, n_rows / share});
}
bool joins_rows(int64_t n) { return n > 1 && decide(Choice::joined_rows, true); }

// The other kernels pack flipped columns first, and permute contiguous columns. This one is faster unless columns
// shrink to at most half. The others also sum the columns of an input row once, not for each output row that reads it.
bool sums_pixels(bool contiguous, int64_t inner, int64_t n_column, int64_t n_column_out, int64_t column_taps,
                 double rows_read) {
  const bool shrinks = n_column >= (contiguous ? 2 : 1) * n_column_out;
  return decide(Choice::pixels,
                shrinks && (!contiguous || (rows_read <= most_pixel_reads && !(inner == 2 && column_taps > 2))));
}
bool sums_equal(bool fits) { return fits && decide(Choice::equal_sums, true); }
bool sums_small_images(int64_t n_images, int64_t lanes) { return decide(Choice::small_images, n_images >= lanes); }
bool sums_wide_column(int64_t inner) { return decide(Choice::wide_column, inner >= least_wide_column); }
bool sums_by_formula(int64_t n_in, int64_t n_out, int64_t n_rows) {
  const bool short_and_many = std::max(n_in, n_out) <= longest_summed_row && n_rows >= min_permuted_sum_rows;
  return decide(Choice::indexed_sums, !short_and_many);
}
bool sums_as_signal(bool fits) { return fits && decide(Choice::signal, true); }
bool tables_pay_later(int64_t n_rows, bool filtered) { return n_rows >= min_permuted_rows || filtered; }
int64_t least_tiles() {
  if (decide(Choice::periods, false)) return 1;
  return decide(Choice::periods, true) ? min_tiles : 0;
}
bool sums_long_rows(int64_t n_values) { return decide(Choice::long_rows, n_values <= most_long_sums); }

bool sums_long_lines(int64_t rows, int64_t taps, int64_t tabled, int64_t n_values) {
  const double all = double(rows) * double(taps), each = double(taps);
  const Work by_lines{.taps = all * double(n_values), .lines = double(rows), .line_taps = all};
  const Work by_tables{.taps = all * double(n_values), .table_taps = double(tabled) * each, .row_taps = each};
  return decide(Choice::long_rows, nanoseconds(Kernel::long_rows, by_lines) < nanoseconds(Kernel::periods, by_tables));
}

bool permutes(int64_t n_rows, bool weighted) {
  return decide(Choice::permuted, n_rows >= (weighted ? min_permuted_rows : min_permuted_sum_rows));
}
bool sums_single_rows(int n_rows, bool segments) { return decide(Choice::single_rows, n_rows == 1 || segments); }
bool squares(bool reads_once) { return decide(Choice::squares, reads_once); }
bool sums_long_segments(bool fills, int64_t inputs) {
  return decide(Choice::long_segments, fills && inputs >= least_long_segment);
}

}  // namespace tenter
