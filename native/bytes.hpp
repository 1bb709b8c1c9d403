// 8-bit values resampled in integers, as Pillow does: weights are k / 2^22, sums are exact, and each axis rounds to 8
// bits.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "pillow_rows.hpp"
#include "weigh.hpp"

namespace tenter {

constexpr int weight_bits = 22;

// How an instruction set multiplies four bytes by four weights. Each form is some 32-bit words, which a kernel
// broadcasts.
//   halves  k = l + 2^11 h of 16 bits: l of taps 0 and 2, l of taps 1 and 3, then h likewise
//   pieces  k = a + 2^8 b + 2^16 c of 8 bits: a of the four taps, then b, then c
//   whole   k of each tap
enum class WeightForm : int { halves, pieces, whole };
constexpr int words_of(WeightForm form) { return form == WeightForm::pieces ? 3 : 4; }

// The weights of a window map by fours ("quads"), padded with zeros, which integers may be. `aligned`: quads begin at
// multiples of four inputs.
struct QuadTable {
  WeightForm form;
  bool aligned;
  int64_t quads;                // of each output
  std::vector<int64_t> first;   // quad (if aligned) or input that an output begins with
  std::vector<int32_t> weight;  // n_out * quads * words, and up to a word that is not read
};

// Rows of adjacent inputs with integer weights.
struct ByteMap {
  int64_t n_in, n_out, longest = 0;    // longest: taps of an output
  std::vector<int64_t> start, offset;  // n_out, n_out + 1
  std::vector<int32_t> weight;         // k

  ByteMap(int64_t n_in, int64_t n_out, const int64_t* start, const int64_t* offset, const double* weight);
  ByteMap(int64_t n_in, PillowRows&& rows);  // of units
  int64_t first(int64_t o) const { return start[o]; }
  int64_t count(int64_t o) const { return offset[o + 1] - offset[o]; }
  int64_t stop(int64_t o) const { return start[o] + count(o); }
};

// Whether weights are multiples of 2^-22 whose sums of bytes fit 32 bits, and whose pieces fit 8.
bool fits_bytes(int64_t n_out, const int64_t* offset, const double* weight);

// (outer..., row, column, inner) resampled along row, column or both into contiguous memory, as WindowTask. Columns are
// contiguous where rows are summed first or alone.
struct ByteTask {
  const uint8_t* src;
  uint8_t* dst;
  int n_outer;
  int64_t outer_shape[max_axes], outer_stride[max_axes];
  int64_t n_row, row_stride, n_column, column_stride, inner, inner_stride;
  const ByteMap* row;
  const ByteMap* column;
  const QuadTable* row_quads;
  const QuadTable* column_quads;  // aligned, where inner <= max_byte_inner
  bool rows_first;
  bool alpha;   // the last of 2 or 4 inner values weighs the others: they are multiplied by it before, divided after
  bool stream;  // with streaming stores
};
constexpr int64_t max_byte_inner = 4;  // wider columns fill vectors

// One table per instruction set.
struct ByteKernels {
  WeightForm form;
  void (*run)(const ByteTask&, int threads);
  void (*weigh)(const WeighTask&, int threads);
  bool (*is_alpha)(const WeighTask&, int threads);
  PillowFit (*pillow_weights)(const PillowTask&);
  QuadTable (*make_quads)(const ByteMap&, bool aligned);
};

}  // namespace tenter
