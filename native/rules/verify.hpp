// The preconditions of the kernels. They are verified before each call, in sanitized builds only (TENTER_VERIFY;
// tests/sanitize.py). The arguments have been checked before, and maps are immutable, so a failure is a bug in those
// checks. The sanitizer checks accesses to memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/kernels.hpp"
#include "rules/bytes.hpp"
#include "system/integers.hpp"

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

// The lengths of a map's tables, which never change after it is made.
inline void verify_tables(const WindowMap& m, int64_t starts, int64_t offsets, int64_t weights) {
  expect(m.n_in >= 0 && m.n_out >= 0 && m.width >= 0, "lengths of at least 0");
  expect(!m.start || (starts == m.n_out && offsets == m.n_out + 1), "a start for every output, and a stop");
  expect(!m.weight64 || (m.start && weights >= m.offset[m.n_out]), "a weight for every tap");
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
      expect(a.table[0] == 0 && a.table[a.n_in] == a.n_out, "runs from 0 to n_out");
      for (int64_t i = 0; i < a.n_in; ++i) expect(a.table[i] <= a.table[i + 1], "runs that do not descend");
      return;
    case CopyAxis::index:
      expect(a.n_out == 0 || (a.repeat > 0 && a.n_out % a.repeat == 0), "whole runs");
      for (int64_t o = 0; o < a.n_out / std::max<int64_t>(1, a.repeat); ++o)
        expect(a.table[o] >= 0 && a.table[o] < a.n_in, "indices inside of the inputs");
      return;
    case CopyAxis::computed: return;
  }
}

// Merging axes multiplies their lengths, so this comes before it.
inline void verify(int64_t itemsize, const CopyAxis* axes, int n_axes) {
  int64_t bytes = itemsize, n_in = 1;
  for (int k = n_axes - 1; k >= 0; --k) bytes = product(bytes, axes[k].n_out), n_in = product(n_in, axes[k].n_in);
}
inline void verify(const CopyTask& t) {
  int64_t bytes = product(t.run, 1);
  for (int k = t.n_axes - 1; k >= 0; --k) {
    verify(t.axis[k]);
    expect(t.bytes[k + 1] == bytes, "the bytes below an axis");
    bytes = product(bytes, t.axis[k].n_out);
  }
}

// Rows that are summed before columns, or without them, are contiguous.
inline void verify_strides(const WindowTask& t) {
  const int64_t size = size_of(t.in);
  const bool contiguous_columns = t.n_column <= 1 || t.column_stride == t.inner * size;
  const bool contiguous_inner = t.inner <= 1 || t.inner_stride == size;
  const bool reversed_columns = t.rows_first && !t.plane && t.column_stride == -t.inner * size;
  if (reversed_columns) expect(contiguous_inner, "contiguous rows");
  else if ((t.rows_first && t.kernel != Kernel::pixels) || t.planes_first)
    expect(contiguous_columns && contiguous_inner, "contiguous rows");
  if (!t.column) expect(contiguous_columns && contiguous_inner, "contiguous rows");
}

inline void verify(const WindowTask& t, int64_t n_plane) {
  int64_t n = product(product(t.inner, t.column ? t.column->n_out : t.n_column), t.row ? t.row->n_out : t.n_row);
  n = product(n, t.plane ? t.plane->n_out : n_plane);
  for (int d = 0; d < t.n_outer; ++d) n = product(n, t.outer_shape[d]);
  product(n, size_of(t.out));
  if (t.plane) verify(*t.plane, n_plane);
  if (t.row) verify(*t.row, t.n_row);
  if (t.column) verify(*t.column, t.n_column);
  expect(t.column || t.row, "an axis that is summed");
  expect(!t.plane || (t.column && t.row), "planes with rows and columns");
  verify_strides(t);
}

inline void verify(const ByteMap& m, int64_t length) {
  const WindowMap same{m.n_in, m.n_out, 0, m.start.data(), m.offset.data(), nullptr, nullptr};
  verify(same, length);
}

// A task whose addresses and tables are not set yet.
inline void verify(const ByteTask& t) {
  int64_t n = product(product(t.inner, t.column ? t.column->n_out : t.n_column), t.row ? t.row->n_out : t.n_row);
  for (int d = 0; d < t.n_outer; ++d) n = product(n, t.outer_shape[d]);
  if (t.row) verify(*t.row, t.n_row);
  if (t.column) verify(*t.column, t.n_column);
  expect(t.column || t.row, "an axis that is summed");
  expect(!t.rows_first || (t.column && t.row), "an order of two axes");
  expect(!t.alpha || t.inner == 2 || t.inner == 4, "alpha after one or three colors");
  const bool packed = (t.inner <= 1 || t.inner_stride == 1) && (t.n_column <= 1 || t.column_stride == t.inner);
  const bool reversed = t.rows_first && (t.inner <= 1 || t.inner_stride == 1) && t.column_stride == -t.inner;
  if ((t.rows_first || !t.column) && !t.alpha) expect(packed || reversed, "contiguous rows");
}

inline void verify(const TapsAxis& m, int64_t length) {
  expect(m.n_in == length && m.n_in > 0, "an axis of the map's length");
  expect(m.taps == 2 || m.taps == max_byte_taps, "two or four taps");
  expect(m.input.size() == size_t(m.n_out * m.taps) && m.weight.size() == m.input.size(), "taps of every output");
  for (const int32_t i : m.input) expect(0 <= i && i < m.n_in, "inputs of the axis");
}
inline void verify(const TapsTask& t) {
  int64_t n = product(product(t.inner, t.column->n_out), t.row->n_out);
  for (int d = 0; d < t.n_outer; ++d) n = product(n, t.outer_shape[d]);
  verify(*t.row, t.n_row), verify(*t.column, t.n_column);
}

inline void verify(const RunsTask& t, int64_t n_offsets) {
  expect(t.n >= 0 && t.chunk > 0 && n_offsets == ceil_div(t.n, t.chunk) + 1, "an offset for each chunk of counts");
  expect(t.itemsize == 1 || t.itemsize == 2 || t.itemsize == 4 || t.itemsize == 8, "values of 1, 2, 4 or 8 bytes");
  expect(t.chunk_offset[0] == 0, "offsets from 0 on");
  for (int64_t c = 1; c < n_offsets; ++c)
    expect(t.chunk_offset[c] >= t.chunk_offset[c - 1], "offsets that do not descend");
  product(t.chunk_offset[n_offsets - 1], t.itemsize);
}

}  // namespace tenter
