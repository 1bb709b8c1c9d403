#include "kernels/long_sums.hpp"

#include <vector>

#include "kernels/window_kernels.hpp"
#include "system/memory.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// The map of a task of one axis.
const WindowMap*& map_of(WindowTask& t) { return t.column ? t.column : t.row; }

// The windows of outputs [lo, hi).
WindowMap windows(const WindowMap& of, int64_t lo, int64_t hi) {
  WindowMap m = of;
  m.n_out = hi - lo;
  if (m.start) m.start += lo, m.offset += lo;
  return m;
}

// A task that computes the outputs [lo, lo + part.n_out) of a task of one axis.
WindowTask outputs(const WindowTask& of, const WindowMap& part, int64_t lo) {
  WindowTask t = of;
  const int64_t each = t.column ? t.inner : t.n_column * t.inner, n_out = map_of(t)->n_out;
  if (!t.row_pitch) t.row_pitch = n_out * each;
  if (!t.outer_pitch) t.outer_pitch = t.column ? t.n_row * t.row_pitch : n_out * each;
  map_of(t) = &part, t.dst += lo * each * size_of(t.out), t.permutes = nullptr;
  return t;
}

// Tables of the windows of parts, and of the windows of parts that make up an output. Where windows overlap, the parts
// of the next one begin before the last parts of the one before. Kernels take windows that do not descend, so runs of
// parts that do not are computed apart: run k begins at part run[k].
struct Parts {
  std::vector<int64_t> start, offset, first_part, run{0};
  WindowMap parts, total;

  explicit Parts(const WindowMap& m) : parts(m), total{0, m.n_out, parts_of(m.width)} {
    if (!m.start && m.width % total.width == 0) {
      parts.width = m.width / total.width, parts.n_out = total.n_in = m.n_out * total.width;
      run.push_back(parts.n_out);
      return;
    }
    int64_t stop = 0;
    for (int64_t o = 0; o < m.n_out; ++o) {
      const int64_t first = m.first(o), count = m.count(o), taps = m.start ? m.offset[o] : first;
      first_part.push_back(int64_t(start.size()));
      const int64_t n = parts_of(count);
      if (!n) continue;
      if (!start.empty() && (first < start.back() || first + part_begin(count, n, 1) < stop))
        run.push_back(int64_t(start.size()));
      for (int64_t k = 0; k < n; ++k) {
        start.push_back(first + part_begin(count, n, k)), offset.push_back(taps + part_begin(count, n, k));
      }
      stop = first + count;
    }
    offset.push_back(m.start ? m.offset[m.n_out] : m.n_out * m.width), first_part.push_back(int64_t(start.size()));
    parts.n_out = total.n_in = int64_t(start.size());
    parts.start = start.data(), parts.offset = offset.data();
    if (m.start) total.start = total.offset = first_part.data();
    run.push_back(parts.n_out);
  }
};

}  // namespace

void sum_in_parts(const WindowTask& t, int threads) {
  const bool columns = t.column != nullptr;
  const Parts of(columns ? *t.column : *t.row);
  const Dtype acc = t.acc == Accumulate::f64 ? Dtype::f64 : Dtype::f32;
  const int64_t size = size_of(acc), n = of.parts.n_out;
  WindowTask parts = t, total = t;
  int64_t step = size;  // of the sums of parts, which are contiguous
  total.inner_stride = step, step *= t.inner;
  total.column_stride = step, step *= columns ? n : t.n_column;
  total.row_stride = step, step *= columns ? t.n_row : n;
  for (int d = t.n_outer - 1; d >= 0; --d) total.outer_stride[d] = step, step *= t.outer_shape[d];
  Room room;
  char* const sums = room.get(std::max<int64_t>(1, step));
  parts.out = acc, parts.dst = sums, parts.row_pitch = parts.outer_pitch = 0;
  parts.stream = false, parts.permutes = total.permutes = nullptr;
  map_of(parts) = &of.parts, map_of(total) = &of.total;
  total.in = acc, total.src = sums;
  (columns ? total.n_column : total.n_row) = n;
  for (size_t k = 0; k + 1 < of.run.size(); ++k) {
    const WindowMap some = windows(of.parts, of.run[k], of.run[k + 1]);
    WindowTask run = some.n_out == n ? parts : outputs(parts, some, of.run[k]);
    choose_and_sum(run, threads);
  }
  choose_and_sum(total, threads);
}

// Offsets ascend, so neighboring windows that have no more taps together than a part are not looked at one by one.
bool has_long_sums(const WindowMap& m) {
  if (!m.start) return m.width > sum_part;
  if (m.n_in <= sum_part || !m.n_out) return false;
  const double each = double(m.offset[m.n_out] - m.offset[0]) / double(m.n_out);
  const int64_t step = std::max<int64_t>(1, int64_t(double(sum_part) / 2 / std::max(each, 0.5)));
  for (int64_t o = 0; o < m.n_out; o += step) {
    const int64_t end = std::min(m.n_out, o + step);
    for (int64_t k = o; k < end && m.offset[end] - m.offset[k] > sum_part; ++k)
      if (m.count(k) > sum_part) return true;
  }
  return false;
}

bool sums_in_parts(const WindowTask& t) {
  return !t.clamps && t.acc != Accumulate::i64 && has_long_sums(t.column ? *t.column : *t.row);
}

}  // namespace tenter
