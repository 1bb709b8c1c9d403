// What the kernels trust, verified before each of their calls in sanitized builds (TENTER_VERIFY; tests/sanitize.py)
// and nowhere else: Python has checked everything that reaches the core, maps are immutable, and this finds where that
// is not so. Memory itself is the sanitizer's.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels.hpp"

namespace tenter {

#if defined(TENTER_VERIFY)
constexpr bool verifies = true;
#else
constexpr bool verifies = false;
#endif

inline void expect(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("native call: expected ") + what);
}

inline int64_t product(int64_t a, int64_t b) {
  int64_t n = 0;
  expect(a >= 0 && b >= 0, "lengths of at least 0");
  expect(!__builtin_mul_overflow(a, b, &n), "fewer than 2**63 values");
  return n;
}

// Lengths of tables, which do not change once a map is made.
inline void verify_tables(const WindowMap& m, int64_t starts, int64_t offsets, int64_t weights) {
  expect(m.n_in >= 0 && m.n_out >= 0 && m.width >= 0, "lengths of at least 0");
  expect(!m.start || (starts == m.n_out && offsets == m.n_out + 1), "a start for every output, and a stop");
  expect(!m.weight64 || (m.start && weights >= m.offset[m.n_out]), "a weight for every tap");
}
inline void verify_table(const CopyAxis& a, int64_t length) {
  expect(a.kind >= CopyAxis::affine && a.kind <= CopyAxis::index, "a kind of axis");
  expect((a.kind >= CopyAxis::runs) == (a.offset != nullptr), "a table for runs and indices alone");
  if (a.kind == CopyAxis::runs) expect(length == a.n_in + 1, "n_in + 1 offsets");
  if (a.kind == CopyAxis::index) expect(length == a.n_out, "n_out indices");
}

inline void verify(const WindowMap& m, int64_t length) {
  expect(m.n_in == length, "an axis of the map's length");
  if (!m.start) {
    expect(product(m.n_out, m.width) <= m.n_in, "windows inside of the inputs");
    return;
  }
  int64_t first = 0, last = 0;
  expect(m.offset[0] == 0, "taps from 0 on");
  for (int64_t o = 0; o < m.n_out; ++o) {
    expect(m.count(o) >= 0 && m.first(o) >= 0 && m.count(o) <= m.n_in - m.first(o), "windows inside of the inputs");
    expect(m.first(o) >= first && m.first(o) + m.count(o) >= last, "windows that do not descend");
    first = m.first(o), last = first + m.count(o);
  }
}

inline void verify(const CopyAxis& a) {
  expect(a.n_in >= 0 && a.n_out >= 0, "lengths of at least 0");
  switch (a.kind) {
    case CopyAxis::affine: return expect(a.n_out <= a.n_in || a.stride == 0, "inputs for all outputs");
    case CopyAxis::every:
      return expect(a.n_out == 0 || (a.repeat > 0 && (a.n_out - 1) / a.repeat < a.n_in), "inputs for all outputs");
    case CopyAxis::runs:
      expect(a.offset[0] == 0 && a.offset[a.n_in] == a.n_out, "runs from 0 to n_out");
      for (int64_t i = 0; i < a.n_in; ++i) expect(a.offset[i] <= a.offset[i + 1], "runs that do not descend");
      return;
    case CopyAxis::index:
      for (int64_t o = 0; o < a.n_out; ++o)
        expect(a.offset[o] >= 0 && a.offset[o] < a.n_in, "indices inside of the inputs");
  }
}

inline void verify(const CopyTask& t) {
  int64_t bytes = product(t.run, 1);
  for (int k = t.n_axes - 1; k >= 0; --k) {
    verify(t.axis[k]);
    expect(t.bytes[k + 1] == bytes, "the bytes below an axis");
    bytes = product(bytes, t.axis[k].n_out);
  }
}

inline void verify(const WindowTask& t, int64_t n_plane) {
  constexpr int64_t itemsize[] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8};
  int64_t n = product(product(t.inner, t.column ? t.column->n_out : t.n_column), t.row ? t.row->n_out : t.n_row);
  n = product(n, t.plane ? t.plane->n_out : n_plane);
  for (int d = 0; d < t.n_outer; ++d) n = product(n, t.outer_shape[d]);
  product(n, itemsize[int(t.out)]);
  if (t.plane) verify(*t.plane, n_plane);
  if (t.row) verify(*t.row, t.n_row);
  if (t.column) verify(*t.column, t.n_column);
  expect(t.column || t.row, "an axis that is summed");
  expect(!t.plane || (t.column && t.row), "planes with rows and columns");
  const int64_t size = itemsize[int(t.in)];
  const bool columns_together = t.n_column <= 1 || t.column_stride == t.inner * size;
  const bool inner_together = t.inner <= 1 || t.inner_stride == size;
  if (t.rows_first || t.planes_first) expect(columns_together && inner_together, "rows that lie together");
  if (!t.column) expect(columns_together && inner_together, "rows that lie together");
}

inline void verify(const RunsTask& t, int64_t n_before) {
  expect(t.n >= 0 && t.chunk > 0 && n_before == (t.n + t.chunk - 1) / t.chunk + 1, "a total for each chunk of counts");
  expect(t.bytes == 1 || t.bytes == 2 || t.bytes == 4 || t.bytes == 8, "values of 1, 2, 4 or 8 bytes");
  expect(t.before[0] == 0, "totals from 0 on");
  for (int64_t c = 1; c < n_before; ++c) expect(t.before[c] >= t.before[c - 1], "totals that do not descend");
  product(t.before[n_before - 1], t.bytes);
}

}  // namespace tenter
