#include "rules/bytes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenter {

ByteMap::ByteMap(int64_t n_in, int64_t n_out, const int64_t* starts, const int64_t* offsets, const double* weights)
    : n_in(n_in), n_out(n_out), start(starts, starts + n_out), offset(offsets, offsets + n_out + 1) {
  weight.resize(size_t(offset[n_out]));
  for (size_t k = 0; k < weight.size(); ++k) weight[k] = int32_t(weights[k] * (1 << weight_bits));
  for (int64_t o = 0; o < n_out; ++o) longest = std::max(longest, count(o));
}

ByteMap::ByteMap(int64_t n_in, PillowRows&& rows)
    : n_in(n_in),
      n_out(int64_t(rows.start.size())),
      start(std::move(rows.start)),
      offset(std::move(rows.offset)),
      weight(std::move(rows.units)) {
  for (int64_t o = 0; o < n_out; ++o) longest = std::max(longest, count(o));
}

TaskImages<ByteMap> images_of(const ByteTask& t) {
  const bool narrow =
      t.row && t.column && std::max(t.n_column, t.column->n_out) * t.inner <= int64_t(kernels().vector_bytes);
  return {{{1, 0, nullptr},
           {t.column && !t.row ? 1 : t.n_row, t.row_stride, t.row},
           {t.n_column, t.column_stride, t.column},
           {t.inner, t.inner_stride, nullptr}},
          narrow ? most_small_bytes : small_image_bytes / int64_t(sizeof(int32_t))};
}

Kernel byte_kernel(const ByteTask& t) {
  const TaskImages<ByteMap> images = images_of(t);
  ImageSums<ByteMap> found;
  int64_t n_images = t.column && !t.row ? t.n_row : 1;
  for (int d = 0; d < t.n_outer; ++d) n_images *= t.outer_shape[d];
  const bool small = !t.alpha && image_sums(images.axes, false, t.rows_first, images.most, found) &&
                     sums_small_images(n_images, kernels().vector_bytes / int64_t(sizeof(int32_t)));
  return small ? Kernel::small_images : Kernel::bytes;
}

bool fits_bytes(int64_t n_out, const int64_t* offset, const double* weight) {
  // largest: the highest of a weight's three 8-bit pieces is at least -127. most: a sum and the half that rounds it fit
  // 31 bits and a sign.
  constexpr double largest = 127 << 16, most = (0x1p31 - (1 << weight_bits)) / 255;
  for (int64_t o = 0; o < n_out; ++o) {
    double sum = 0;
    for (int64_t k = offset[o]; k < offset[o + 1]; ++k) {
      const double w = weight[k] * (1 << weight_bits);
      if (!(std::fabs(w) <= largest) || w != double(int32_t(w))) return false;
      sum += std::fabs(w);
    }
    if (sum > most) return false;
  }
  return true;
}

}  // namespace tenter
