#include "plan/joined_rows.hpp"

#include <algorithm>
#include <utility>

#include "kernels/window_kernels.hpp"
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

// Whether at least two rows fit in a joined one, if the map of columns has tables.
bool has_short_rows(const WindowTask& t) {
  if (!t.column || t.row || !t.n_outer || t.acc == Accumulate::i64) return false;
  const int64_t width = t.column->n_out * t.inner;
  return t.column->n_in && width && 2 * width <= joined_outputs;
}

// How many rows, each `shift` inputs after the one before, are summed as one.
int64_t rows_joined(const WindowTask& t, int64_t shift, int64_t n_rows) {
  const int64_t most = n_rows / (decide(Choice::joined_rows, false) ? 1 : least_joined);
  return std::min({ceil_div(joined_outputs, t.column->n_out * t.inner), joined_inputs / (shift * t.inner), most});
}

// As many of a task's rows as are summed as one. Outer dims are merged, so the rows of the last one are those that are
// evenly spaced.
int64_t rows_joined(const WindowTask& t, int64_t n_rows) {
  const int64_t size = size_of(t.in), pixel = t.inner * size, stride = t.outer_stride[t.n_outer - 1];
  if ((t.n_column > 1 && t.column_stride != pixel) || (t.inner > 1 && t.inner_stride != size)) return 1;
  if (stride % pixel || stride / pixel < t.column->n_in) return 1;
  return std::min(rows_joined(t, stride / pixel, n_rows), t.outer_shape[t.n_outer - 1]);
}

}  // namespace

bool packs_rows(const WindowTask& t, OwnedMap& map, int64_t n_rows) {
  if (!t.column || t.row || map.is_computed() || map.gathers()) return false;
  const int64_t n_in = map.map.n_in, n_out = map.map.n_out, row = n_in * t.inner, size = size_of(t.in);
  if (n_rows < 2 || n_rows * row > most_packed_bytes / size || most_left * n_out < n_in) return false;
  if (far_apart(t.n_column, t.column_stride, t.inner * size)) return true;
  const bool indexed = map.transposed && map.source_index;  // a kernel for these needs no table
  if (indexed || row > most_packed || !has_short_rows(t)) return false;
  map.make_tables();
  return t.column->start && rows_joined(t, n_in, n_rows) >= 2 * std::max<int64_t>(1, rows_joined(t, n_rows));
}

std::unique_ptr<JoinedRows> join_rows(const WindowTask& of, int64_t n_rows) {
  const int64_t n = has_short_rows(of) && of.column->start ? rows_joined(of, n_rows) : 1;
  if (n < 2 || !decide(Choice::joined_rows, true)) return nullptr;
  WindowTask t = of;
  const WindowMap& m = *t.column;
  const int64_t pixel = t.inner * size_of(t.in), width = m.n_out * t.inner;
  t.column_stride = pixel;
  --t.n_outer, t.n_row = t.outer_shape[t.n_outer], t.row_stride = t.outer_stride[t.n_outer];
  const int64_t shift = t.row_stride / pixel;
  const int64_t n_in = (n - 1) * shift + m.n_in;
  auto made = std::make_unique<JoinedRows>(n_in, blocks(m, n, shift), !m.weight64);
  t.outer_pitch = t.n_row * width;
  made->joined = made->rest = t;
  made->joined.column = &made->map.map, made->joined.n_column = n_in;
  made->joined.n_row = t.n_row / n, made->joined.row_stride = n * t.row_stride;
  made->rest.n_row = t.n_row % n;
  made->source = made->joined.n_row * made->joined.row_stride;
  made->target = made->joined.n_row * n * width * size_of(t.out);
  made->joined.kernel = window_kernel(made->joined);
  if (made->rest.n_row) made->rest.kernel = window_kernel(made->rest);
  return made;
}

}  // namespace tenter
