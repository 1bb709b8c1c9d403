#include "plan/joined_rows.hpp"

#include <algorithm>
#include <utility>

#include "system/integers.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// n blocks of a map on a diagonal, each `shift` inputs after the one before.
Rows blocks(const WindowMap& m, int64_t n, int64_t shift) {
  Rows made;
  const int64_t n_taps = m.offset[m.n_out];
  made.start.reserve(size_t(n * m.n_out)), made.offset.reserve(size_t(n * m.n_out) + 1);
  made.offset.push_back(0);
  for (int64_t k = 0; k < n; ++k)
    for (int64_t o = 0; o < m.n_out; ++o)
      made.start.push_back(m.start[o] + k * shift), made.offset.push_back(m.offset[o + 1] + k * n_taps);
  if (m.weight64)
    for (int64_t k = 0; k < n; ++k) made.weight.insert(made.weight.end(), m.weight64, m.weight64 + n_taps);
  return made;
}

}  // namespace

std::unique_ptr<JoinedRows> join_rows(const WindowTask& of, int64_t n_rows) {
  WindowTask t = of;
  if (!t.column || t.row || !t.n_outer || t.acc == Accumulate::i64) return nullptr;
  const WindowMap& m = *t.column;
  const int64_t size = size_of(t.in), pixel = t.inner * size, width = m.n_out * t.inner;
  if (!m.start || m.n_in == 0 || width == 0 || 2 * width > joined_outputs) return nullptr;
  if (t.n_column == 1) t.column_stride = pixel;
  if (t.column_stride != pixel || (t.inner > 1 && t.inner_stride != size)) return nullptr;
  // Outer dims are merged, so the rows of the last one are those that are evenly spaced.
  --t.n_outer, t.n_row = t.outer_shape[t.n_outer], t.row_stride = t.outer_stride[t.n_outer];
  const int64_t shift = t.row_stride / pixel;
  if (t.row_stride % pixel || shift < m.n_in) return nullptr;
  const int64_t n =
      std::min({ceil_div(joined_outputs, width), joined_inputs / (shift * t.inner), n_rows / least_joined, t.n_row});
  if (n < 2) return nullptr;
  const int64_t n_in = (n - 1) * shift + m.n_in;
  auto made = std::make_unique<JoinedRows>(n_in, blocks(m, n, shift), !m.weight64);
  t.outer_pitch = t.n_row * width;
  made->joined = made->rest = t;
  made->joined.column = &made->map.map, made->joined.n_column = n_in;
  made->joined.n_row = t.n_row / n, made->joined.row_stride = n * t.row_stride;
  made->rest.n_row = t.n_row % n;
  made->source = made->joined.n_row * made->joined.row_stride;
  made->target = made->joined.n_row * n * width * size_of(t.out);
  return made;
}

}  // namespace tenter
