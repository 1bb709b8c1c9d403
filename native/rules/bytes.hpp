// 8-bit values that are resampled in integers, as in Pillow: weights are k / 2^22, sums are exact, and results are
// rounded to 8 bits after each axis.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/normalize.hpp"
#include "kernels/premultiply.hpp"
#include "kernels/window_kernels.hpp"
#include "rules/byte_taps.hpp"
#include "rules/pillow_rows.hpp"

namespace tenter {

constexpr int weight_bits = 22;

// How an instruction set multiplies a group of adjacent inputs, which fills a 32-bit word, by their weights k. A form
// is the 32-bit words of these weights, which a kernel broadcasts.
//   halves  two taps, k = l + 2^11 h of 16 bits: l of both, then h
//   pieces  four taps, k = a + 2^8 b + 2^16 c of 8 bits: a of the four, then b, then c
//   whole   four taps: k of each
enum class WeightForm : int { halves, pieces, whole };
constexpr int taps_of(WeightForm form) { return form == WeightForm::halves ? 2 : 4; }
constexpr int words_of(WeightForm form) { return form == WeightForm::halves ? 2 : form == WeightForm::pieces ? 3 : 4; }

// The weights of a window map in groups of taps, padded with zeros. aligned: whether groups begin at multiples of their
// taps.
struct TapGroups {
  WeightForm form;
  bool aligned;
  int64_t groups;               // per output
  std::vector<int64_t> first;   // the first group (if aligned) or input of each output
  std::vector<int32_t> weight;  // n_out * groups * words, and maybe some more words that are not read
};

// Rows of adjacent inputs with integer weights.
struct ByteMap {
  int64_t n_in, n_out, longest = 0;    // longest: the most taps of an output
  std::vector<int64_t> start, offset;  // n_out, n_out + 1
  std::vector<int32_t> weight;         // k of each tap

  ByteMap(int64_t n_in, int64_t n_out, const int64_t* start, const int64_t* offset, const double* weight);
  ByteMap(int64_t n_in, PillowRows&& rows);  // rows must have units
  int64_t first(int64_t o) const { return start[o]; }
  int64_t count(int64_t o) const { return offset[o + 1] - offset[o]; }
  int64_t stop(int64_t o) const { return start[o] + count(o); }
};

// Whether weights are multiples of 2^-22, sums of bytes by them fit 32 bits, and their three pieces fit 8 bits each.
bool fits_bytes(int64_t n_out, const int64_t* offset, const double* weight);

// Resamples (outer..., row, column, inner) along row, column or both into contiguous memory, like WindowTask. Columns
// must be contiguous if rows are summed first, or alone.
struct ByteTask {
  const uint8_t* src;
  uint8_t* dst;
  int n_outer;
  int64_t outer_shape[max_axes], outer_stride[max_axes];
  int64_t n_row, row_stride, n_column, column_stride, inner, inner_stride;
  const ByteMap* row;
  const ByteMap* column;
  const TapGroups* row_groups;
  const TapGroups* column_groups;  // aligned, where inner <= max_byte_inner
  Kernel kernel;                   // `bytes` or `small_images`
  bool rows_first;
  bool alpha;   // the last of 2 or 4 inner values is alpha: colors are premultiplied by it, and divided after summing
  bool stream;  // whether to use streaming stores
  const FloatRows* floats = nullptr;  // where the result goes as floats, instead of dst
};
constexpr int64_t max_byte_inner = 4;  // wider columns fill vectors

// The images of a task, and the kernel of a task whose dims and maps are filled in.
TaskImages<ByteMap> images_of(const ByteTask& t);
Kernel byte_kernel(const ByteTask& t);

// One table per instruction set.
struct ByteKernels {
  WeightForm form;
  void (*run)(const ByteTask&, int threads);
  void (*taps)(const TapsTask&, int threads);
  void (*premultiply)(const PremultiplyTask&, int threads);
  bool (*is_alpha)(const PremultiplyTask&, int threads);
  PillowFit (*pillow_weights)(const PillowTask&);
  TapGroups (*make_groups)(const ByteMap&, bool aligned);
  void (*normalize)(const NormalizeTask&, int threads);
  // Normalizes rows [lo, hi) of a result, of 8-bit values or float32. Kernels in other files call it: it is large.
  void (*store_rows)(const FloatRows&, Dtype, const void* made, int64_t lo, int64_t hi);
};

}  // namespace tenter
