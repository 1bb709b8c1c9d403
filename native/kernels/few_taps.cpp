#include "kernels/few_taps.hpp"

#include <algorithm>
#include <cstdlib>

namespace tenter {

int64_t most_taps(const WindowMap& m) {
  int64_t most = 0;
  for (int64_t o = 0; o < m.n_out; ++o) most = std::max(most, m.count(o));
  return most;
}

namespace {

constexpr int64_t most_reads = 3;  // of an input row, on average

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

}  // namespace

bool by_pixels(const WindowTask& t) {
  if (t.plane || !t.row || !t.column || t.saturate || t.acc != Accumulate::f32 || t.in != t.out) return false;
  if (t.in != Dtype::u16 && t.in != Dtype::i16 && t.in != Dtype::f32) return false;
  if (!fits_lanes(t) || t.column->n_out > most_pixel_columns) return false;
  // The other kernels pack flipped columns first, and permute contiguous columns. These are faster unless columns
  // shrink to at most half.
  const bool contiguous = t.column_stride == t.inner * size_of(t.in);
  if (t.n_column < (contiguous ? 2 : 1) * t.column->n_out) return false;
  if (!few_taps(*t.row) || !few_taps(*t.column)) return false;
  if (!contiguous) return true;
  // They also sum the columns of an input row once, not for each output row that reads it.
  return most_taps(*t.row) * t.row->n_out <= most_reads * t.n_row && !(t.inner == 2 && most_taps(*t.column) > 2);
}

}  // namespace tenter
