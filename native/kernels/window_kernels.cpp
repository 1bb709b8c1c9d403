#include "kernels/window_kernels.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernels/long_sums.hpp"

namespace tenter {
namespace {

// ---- pixels

bool few_taps(const WindowMap& m) {
  if (!m.weight32 || !m.start || !m.n_out) return false;
  for (int64_t o = 0; o < m.n_out; ++o)
    if (m.count(o) < 1 || m.count(o) > max_pixel_taps) return false;
  return true;
}

// Whether a load of pixels in lanes of four reads whole pixels, and every load stays within a row.
bool fits_lanes(const WindowTask& t) {
  const int64_t size = size_of(t.in), step = std::abs(t.column_stride), pixel = t.inner * size;
  if (t.inner < 2 || t.inner_stride != size || step < pixel || step > pixel_lanes * size || step % size) return false;
  return t.n_column >= max_pixel_taps && (t.n_column - 1) * step + pixel >= max_pixel_taps * pixel_lanes * size;
}

bool can_do_pixels(const WindowTask& t) {
  if (t.plane || !t.row || !t.column || t.acc != Accumulate::f32 || t.in != t.out) return false;
  if (t.in != Dtype::u16 && t.in != Dtype::i16 && t.in != Dtype::f32) return false;
  return fits_lanes(t) && t.column->n_out <= most_pixel_columns;
}

bool takes_pixels(const WindowTask& t) {
  if (!can_do_pixels(t) || !few_taps(*t.row) || !few_taps(*t.column)) return false;
  const bool contiguous = t.column_stride == t.inner * size_of(t.in);
  const double rows_read = double(most_taps(*t.row)) * double(t.row->n_out) / double(t.n_row);
  return sums_pixels(contiguous, t.inner, t.n_column, t.column->n_out, most_taps(*t.column), rows_read);
}

// ---- others

int64_t outer_count(const WindowTask& t) {
  int64_t n = 1;
  for (int d = 0; d < t.n_outer; ++d) n *= t.outer_shape[d];
  return n;
}

// Whether all outputs add up equally many neighbors, without weights.
bool takes_equal_sums(const WindowTask& t) {
  if (!t.column || t.row || t.acc == Accumulate::i64 || t.row_pitch || t.outer_pitch) return false;
  const WindowMap& m = *t.column;
  const int64_t size = size_of(t.in), lanes = kernels().vector_bytes / (t.acc == Accumulate::f32 ? 4 : 8);
  if (m.start || m.weight64 || !m.width || (t.inner != 1 && t.inner_stride != size)) return false;
  // Inputs that are converted first: each vector of sums has its own converted inputs, in cache.
  const bool converts = t.in != (t.acc == Accumulate::f32 ? Dtype::f32 : Dtype::f64);
  const bool fits = !converts || m.width * t.inner * lanes <= tuning.tile_inputs;
  return sums_equal(t.column_stride == t.inner * size && t.inner > 0 && t.inner < lanes && fits);
}

// Whether a vector has a value of as many images as it has lanes.
bool takes_small_images(const WindowTask& t) {
  if (t.acc == Accumulate::i64 || t.row_pitch || t.outer_pitch) return false;
  const TaskImages<WindowMap> images = images_of(t);
  ImageSums<WindowMap> found;
  const int64_t lanes = kernels().vector_bytes / (t.acc == Accumulate::f32 ? 4 : 8);
  const int64_t n_images = outer_count(t) * (t.row ? 1 : t.n_row);
  return image_sums(images.axes, t.planes_first, t.rows_first, images.most, found) &&
         sums_small_images(n_images, lanes);
}

bool takes_wide_column(const WindowTask& t) {
  return t.row->n_out == 1 && t.column->n_out == 1 && t.inner_stride == size_of(t.in) && sums_wide_column(t.inner);
}

}  // namespace

int64_t most_taps(const WindowMap& m) {
  int64_t most = 0;
  for (int64_t o = 0; o < m.n_out; ++o) most = std::max(most, m.count(o));
  return most;
}

Kernel window_kernel(const WindowTask& t) {
  const bool both = t.row && t.column;
  // These loops alone premultiply, and clamp between two axes.
  const Kernel loops = t.plane ? Kernel::planes
                       : both  ? Kernel::rows_and_columns
                       : t.row ? Kernel::rows
                               : Kernel::columns;
  if (t.alpha || t.clamps) return loops;
  if (takes_pixels(t)) return Kernel::pixels;
  if (!both && sums_in_parts(t)) return Kernel::parts;
  if (takes_equal_sums(t)) return Kernel::equal_sums;
  if (takes_small_images(t)) return Kernel::small_images;
  return loops == Kernel::rows_and_columns && takes_wide_column(t) ? Kernel::wide_column : loops;
}

bool takes_permutes(const WindowTask& t, int64_t n_rows, bool weighted) {
  return t.inner <= max_permuted_inner && t.acc != Accumulate::i64 && permutes(n_rows, weighted);
}

void sum_windows(const WindowTask& t, int threads) {
  if (t.kernel == Kernel::parts) sum_in_parts(t, threads);
  else if (t.kernel == Kernel::pixels) kernels().pixels(t, threads);
  else kernels().window(t, threads);
}

}  // namespace tenter
