#include "plan/passes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "kernels/window_kernels.hpp"
#include "maps/owned_map.hpp"
#include "rules/verify.hpp"

namespace tenter {
namespace {

template <class Task>
void set_outer(Task& task, const Merged& outer, int n) {
  task.n_outer = n;
  for (int d = 0; d < n; ++d) task.outer_shape[d] = outer.dims[d].n, task.outer_stride[d] = outer.dims[d].stride;
}

}  // namespace

Deciding::Deciding(int64_t n, OwnedMap& map) : Deciding(n, map.map.n_out, std::min(n, map.n_taps())) {}

bool rows_cost_less(const Deciding& row, const Deciding& column) {
  const Wide n_row = row.n_read, n_column = column.n_read;
  const Wide made_row = row.n_out, made_column = column.n_out;
  const Wide rows = std::max(n_row, made_row), columns = std::max(n_column, made_column);
  return rows * column.n + 3 * made_row * columns <= 3 * n_row * columns + rows * made_column;
}

bool planes_cost_less(const Deciding& plane) { return plane.n_out <= plane.n; }

Merged::Merged(const Dim* from, const Dim* to) {
  for (; from < to; ++from) {
    if (from->n == 1) continue;
    if (n && dims[n - 1].stride == from->stride * from->n) dims[n - 1] = {dims[n - 1].n * from->n, from->stride};
    else if (n == max_axes) throw std::invalid_argument("too many axes");
    else dims[n++] = *from;
  }
}

// The dims inside of an axis must have one common stride, and be contiguous if they are wide. If rows or planes are
// summed before columns, a vector of columns at a time, whole rows must be contiguous; rows of two axes may also be
// flipped.
bool window_pass(const Pass& p, OwnedMap* const* maps, const Deciding* deciding, bool rows_first, WindowTask& task,
                 int64_t& n_plane) {
  const int last = p.first + p.count - 1;
  const bool several = p.count > 1, planes = p.count == 3;
  task.rows_first =
      several && (task.clamps ? rows_first : rows_cost_less(deciding[last - p.first - 1], deciding[last - p.first]));
  task.planes_first = planes && planes_cost_less(deciding[0]);
  const int64_t size = size_of(task.in);
  const Merged inside(p.dims + last + 1, p.dims + p.n_dims);
  const Dim inner = inside.n ? inside.dims[0] : Dim{1, size};
  const Dim column = p.dims[last];
  const bool together = inner.stride == size;
  if (inside.n > 1 || (!several && inner.n >= wide_inner && !together)) return false;
  const int64_t pixel = inner.n * size;
  const bool adjacent = column.n == 1 || column.stride == pixel || (!planes && column.stride == -pixel);
  const Merged outer(p.dims, p.dims + p.first);
  set_outer(task, outer, outer.n);
  task.plane = nullptr, n_plane = 1;
  if (planes) {
    n_plane = p.dims[p.first].n, task.plane_stride = p.dims[p.first].stride;
    task.plane = &maps[0]->map;
  }
  if (several) {
    const Dim row = p.dims[last - 1];
    task.n_row = row.n, task.row_stride = row.stride, task.row = &maps[p.count - 2]->map;
    task.n_column = column.n, task.column_stride = column.stride, task.column = &maps[p.count - 1]->map;
    task.inner = inner.n, task.inner_stride = inner.stride;
  } else if (inner.n >= wide_inner) {
    task.n_row = column.n, task.row_stride = column.stride, task.row = &maps[0]->map;
    task.n_column = inner.n, task.column_stride = inner.stride, task.column = nullptr;
    task.inner = 1, task.inner_stride = size;
  } else {
    task.n_row = 1, task.row_stride = 0, task.row = nullptr;
    task.n_column = column.n, task.column_stride = column.stride, task.column = &maps[0]->map;
    task.inner = inner.n, task.inner_stride = inner.stride;
  }
  if (several) task.kernel = window_kernel(task);
  const bool any_columns = (several && task.kernel == Kernel::pixels) || !(task.rows_first || task.planes_first);
  return any_columns || (together && adjacent);
}

std::pair<double, int> pass_cost(const int64_t* n, const int64_t* n_out, int count) {
  double growth = 1;
  for (int k = 0; k < count; ++k) growth *= double(n_out[k]) / double(std::max<int64_t>(n[k], 1));
  growth = std::pow(growth, 1.0 / count);
  return {growth, growth < 1 ? count : -count};
}

void copy_pass(int64_t itemsize, const CopyAxis* axes, int n_axes, CopyTask& task) {
  if constexpr (verifies) verify(itemsize, axes, n_axes);
  CopyAxis found[max_axes];  // fastest first
  int n = 0;
  task.run = itemsize;
  for (int k = n_axes - 1; k >= 0; --k) {
    CopyAxis a = axes[k];
    if (a.kind == CopyAxis::affine) {
      if (a.n_out == 1) continue;
      if (!n && a.stride == task.run) {
        task.run *= a.n_out;
        continue;
      }
      const CopyAxis* const inner = n ? found + n - 1 : nullptr;
      if (inner && inner->kind == CopyAxis::affine && a.stride && a.stride == inner->stride * inner->n_out) {
        a.n_in *= inner->n_in, a.n_out *= inner->n_out, a.stride = inner->stride;
        --n;
      }
    }
    found[n++] = a;
  }
  task.n_axes = n, task.bytes[n] = task.run;
  std::reverse_copy(found, found + n, task.axis);
  for (int k = n - 1; k >= 0; --k) task.bytes[k] = task.axis[k].n_out * task.bytes[k + 1];
}

void set_contiguous(Dim* dims, int n, int64_t itemsize) {
  for (int k = n - 1; k >= 0; --k) dims[k].stride = itemsize, itemsize *= dims[k].n;
}

void pack(const Dim* dims, int n, int64_t itemsize, const char* src, char* dst, int threads,
          const std::vector<int64_t>* const* orders) {
  CopyAxis axes[max_axes];
  for (int k = 0; k < n; ++k) {
    const std::vector<int64_t>* const order = orders ? orders[k] : nullptr;
    axes[k] = {CopyAxis::affine, dims[k].n, dims[k].n, dims[k].stride, 1, nullptr};
    if (order) axes[k] = {CopyAxis::index, dims[k].n, int64_t(order->size()), dims[k].stride, 1, order->data()};
  }
  CopyTask task{};
  copy_pass(itemsize, axes, n, task);
  task.src = src, task.dst = dst;
  if constexpr (verifies) verify(task);
  kernels().copy(task, threads);
}

bool byte_pass(const Pass& p, bool rows_first, ByteTask& task, bool& columns) {
  const int last = p.first + p.count - 1;
  const bool both = p.count == 2;
  task.rows_first = both && rows_first, task.alpha = false;
  const Merged inside(p.dims + last + 1, p.dims + p.n_dims);
  const Dim inner = inside.n ? inside.dims[0] : Dim{1, 1};
  const Dim column = p.dims[last];
  if (inside.n > 1 || (!both && inner.n > max_byte_inner && inner.stride != 1)) return false;
  if (task.rows_first && !(inner.stride == 1 && (column.n == 1 || std::abs(column.stride) == inner.n))) return false;
  const Merged outer(p.dims, p.dims + p.first);
  int n_outer = outer.n;
  columns = both || inner.n <= max_byte_inner;
  Dim row{1, 0};
  if (both) row = p.dims[last - 1];
  else if (!columns) row = column;
  else if (n_outer) row = outer.dims[--n_outer];
  set_outer(task, outer, n_outer);
  task.n_row = row.n, task.row_stride = row.stride;
  task.n_column = columns ? column.n : inner.n, task.column_stride = columns ? column.stride : inner.stride;
  task.inner = columns ? inner.n : 1, task.inner_stride = columns ? inner.stride : 1;
  return true;
}

}  // namespace tenter
