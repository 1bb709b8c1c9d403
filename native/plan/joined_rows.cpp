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

// How many of n_rows are summed as one; less than 2 if none are. n_next: rows of the dim next to the columns. Values of
// a row: inputs, outputs, and from it to the next. The map of columns has tables.
int64_t n_joined(int64_t n_rows, int64_t n_next, int64_t inputs, int64_t outputs, int64_t shift) {
  if (!inputs || !outputs || 2 * outputs > joined_outputs || shift < inputs) return 1;
  return std::min(most_joined(n_rows, shift, outputs), n_next);
}

// The same for rows as they lie in memory. next: the dim next to the columns. inner: the values of a column.
int64_t n_joined(int64_t n_rows, Dim next, Dim column, Dim inner, int64_t n_out, int64_t size) {
  const int64_t pixel = inner.n * size;
  if ((column.n > 1 && column.stride != pixel) || (inner.n > 1 && inner.stride != size) || !pixel) return 1;
  return next.stride % pixel ? 1 : n_joined(n_rows, next.n, column.n * inner.n, n_out * inner.n, next.stride / size);
}

// The same for the rows of a task.
int64_t n_joined(const WindowTask& t, int64_t n_rows) {
  if (!t.column || t.row || !t.n_outer || t.acc == Accumulate::i64 || !t.column->start) return 1;
  const Dim next{t.outer_shape[t.n_outer - 1], t.outer_stride[t.n_outer - 1]}, inner{t.inner, t.inner_stride};
  return n_joined(n_rows, next, {t.column->n_in, t.column_stride}, inner, t.column->n_out, size_of(t.in));
}

}  // namespace

bool packs_rows(const Pass& p, OwnedMap& map, Dtype in, Accumulate acc) {
  const Merged outer(p.dims, p.dims + p.first), inside(p.dims + p.first + 1, p.dims + p.n_dims);
  const int64_t size = size_of(in), n_in = map.map.n_in, n_out = map.map.n_out;
  const Dim column = p.dims[p.first], inner = inside.n ? inside.dims[0] : Dim{1, size};
  const bool columns = p.count == 1 && inside.n <= 1 && inner.n < wide_inner;
  Packing of{n_in, n_out, columns && !map.is_computed() && !map.gathers(), n_in * inner.n, most_packed_bytes / size};
  for (int d = 0; d < outer.n; ++d) of.n_rows *= outer.dims[d].n;
  of.far = far_apart(column.n, column.stride, inner.n * size);
  const bool converts = in != Dtype::f32 && in != Dtype::f64;
  of.fills = of.n_rows > 0 && inner.stride != size && inner.n * size >= kernels().vector_bytes && !converts;
  const bool indexed = map.transposed && map.source_index;  // a kernel for these needs no table
  if (of.n_rows >= 2 && !of.far && !indexed && acc != Accumulate::i64) {
    const Dim next = outer.dims[outer.n - 1];
    of.joined = n_joined(of.n_rows, next, column, inner, n_out, size);
    of.joined_packed = n_joined(of.n_rows, of.n_rows, of.row, n_out * inner.n, of.row);
    if (packs(of)) {
      map.make_tables();
      if (!map.map.start) of.joined_packed = 0;
    }
  }
  return packs(of);
}

std::unique_ptr<JoinedRows> join_rows(const WindowTask& of, int64_t n_rows) {
  const int64_t n = n_joined(of, n_rows);
  if (!joins_rows(n)) return nullptr;
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
