// What work takes, in nanoseconds on one thread. `python -m benchmarks rates` compares steps with these, and says by
// how much each is off. Choices between kernels that do other work, and the costs of steps, are computed from them.
#pragma once
#include <cstdint>

#include "kernels/choices.hpp"

namespace tenter {

struct Rates {
  double call = 150;                    // a kernel with nothing to do
  double byte = 0.03, far_byte = 0.1;   // of an input or output; of arrays of more than `near_bytes`, from memory
  double near_bytes = 1 << 20;          //
  double table_tap = 12, far_tap = 32;  // of a table that is used once; of rows of more than `near_taps`, from memory
  double near_taps = 1 << 16;           //
  double line_row = 4000, line_tap = 0.65;  // a row of a transpose whose weights are computed where they are used
};
constexpr Rates rates;

// Of a tap of each value, in a type of 4 bytes, by kernel.
#define TENTER_TAP_RATES(row)                                                                                         \
  row(copy, 0) row(indexed_copy, 0) row(bytes, 0.05) row(taps, 0.1) row(widen, 0) row(fill_value, 0)                  \
      row(columns, 0.15) row(rows, 0.1) row(rows_and_columns, 0.15) row(planes, 0.15) row(wide_column, 0.1)           \
          row(pixels, 0.5) row(small_images, 0.15) row(equal_sums, 0.1) row(joined_rows, 0.15) row(indexed_sums, 0.2) \
              row(parts, 0.1) row(signal, 0.3) row(filtered_signal, 0.5) row(periods, 0.13) row(long_rows, 0.4)       \
                  row(inside, 0.13) row(chunks, 0.13)
#define TENTER_RATE(name, rate) rate,
inline constexpr double tap_rates[] = {TENTER_TAP_RATES(TENTER_RATE)};
#undef TENTER_RATE

// The work of a step.
//   bytes       of its input and result
//   taps        of all values, one axis after the other, in types of 4 bytes
//   table_taps  of tables that are made in each call; row_taps: in a row of these
//   lines       rows whose weights are computed where they are used, and their taps
struct Work {
  double bytes = 0, taps = 0, table_taps = 0, row_taps = 0, lines = 0, line_taps = 0;
};
constexpr double nanoseconds(Kernel kernel, const Work& w) {
  return rates.call + w.bytes * (w.bytes > rates.near_bytes ? rates.far_byte : rates.byte) +
         w.taps * tap_rates[int(kernel)] +
         w.table_taps * (w.row_taps > rates.near_taps ? rates.far_tap : rates.table_tap) + w.lines * rates.line_row +
         w.line_taps * rates.line_tap;
}

}  // namespace tenter
