// The axes of a copy: which inputs they read, and which axes are merged into one.
#pragma once
#include <algorithm>
#include <utility>

#include "kernels/kernels.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// Calls f(i, count) for each run of outputs in [lo, hi) that read the same input i, in order.
template <class F>
inline void each_run(const CopyAxis& a, int64_t lo, int64_t hi, F&& f) {
  switch (a.kind) {
    case CopyAxis::affine:
      if (a.stride == 0) {
        if (lo < hi) f(0, hi - lo);
      } else {
        for (int64_t o = lo; o < hi; ++o) f(o, int64_t{1});
      }
      return;
    case CopyAxis::every:
      for (int64_t o = lo, i = lo / a.repeat; o < hi; ++i) {
        const int64_t end = std::min(hi, (i + 1) * a.repeat);
        f(i, end - o);
        o = end;
      }
      return;
    case CopyAxis::runs: {
      int64_t i = std::upper_bound(a.table, a.table + a.n_in + 1, lo) - a.table - 1;
      for (int64_t o = lo; o < hi; ++i) {
        const int64_t end = std::min(hi, a.table[i + 1]);
        if (end > o) f(i, end - o);
        o = end;
      }
      return;
    }
    case CopyAxis::index:
      if (a.repeat > 1) {
        for (int64_t o = lo, e = lo / a.repeat; o < hi; ++e) {
          const int64_t end = std::min(hi, (e + 1) * a.repeat);
          f(a.table[e], end - o);
          o = end;
        }
        return;
      }
      for (int64_t o = lo; o < hi;) {
        int64_t end = o + 1;
        while (end < hi && a.table[end] == a.table[o]) ++end;
        f(a.table[o], end - o);
        o = end;
      }
      return;
    case CopyAxis::computed: return;  // such axes become others, a chunk at a time (indexed-copies-inl.hpp)
  }
}

inline bool is_every(const CopyAxis& a) { return a.kind == CopyAxis::every; }

// Whether each output has an entry of the table.
inline bool each_by_table(const CopyAxis& a) { return a.kind == CopyAxis::index && a.repeat == 1; }

inline int64_t input_of(const CopyAxis& a, int64_t o) {
  int64_t i = 0;
  each_run(a, o, o + 1, [&](int64_t at, int64_t) { i = at; });
  return i;
}

// The addresses in input and output of one index tuple of the axes before k. The tuple is given by its number in
// row-major order.
inline std::pair<const char*, char*> address_of(const CopyTask& t, int k, int64_t number) {
  const char* src = t.src;
  char* dst = t.dst;
  for (int j = k - 1; j >= 0; --j) {
    const int64_t o = number % t.axis[j].n_out;
    number /= t.axis[j].n_out;
    src += input_of(t.axis[j], o) * t.axis[j].stride;
    dst += o * t.bytes[j + 1];
  }
  return {src, dst};
}

inline void remove_axis(CopyTask& t, int k) {
  std::copy(t.axis + k + 1, t.axis + t.n_axes, t.axis + k);
  std::copy(t.bytes + k + 1, t.bytes + t.n_axes + 1, t.bytes + k);
  --t.n_axes;
}

// Merges two neighboring axes into one: where one stride walks both, where rows are repeated, and where contiguous rows
// are all repeated equally often.
inline void join(CopyTask& t, int k) {
  const CopyAxis a = t.axis[k], b = t.axis[k + 1];
  if (a.kind != CopyAxis::affine) return;
  const int64_t n = a.n_out * b.n_out;
  if (b.kind == CopyAxis::affine && a.stride == b.stride * b.n_out)
    t.axis[k] = {CopyAxis::affine, n, n, b.stride, 1, nullptr};
  else if (a.stride == 0) return;
  else if (b.kind == CopyAxis::affine && b.stride == 0)
    t.axis[k] = {CopyAxis::every, a.n_out, n, a.stride, b.n_out, nullptr};
  else if (b.kind == CopyAxis::every && b.n_out % b.repeat == 0 && a.stride == b.n_out / b.repeat * b.stride)
    t.axis[k] = {CopyAxis::every, n / b.repeat, n, b.stride, b.repeat, nullptr};
  else return;
  remove_axis(t, k + 1);
}

// The inputs of the outputs of the axes from k on, in bytes: up to most_flat.
inline void offsets_from(const CopyTask& t, int k, int64_t* table) {
  int64_t held[most_flat], at = 1;
  table[0] = 0;
  for (int j = t.n_axes - 1; j >= k; --j) {
    const CopyAxis& a = t.axis[j];
    std::copy_n(table, at, held);
    int64_t* to = table;
    each_run(a, 0, a.n_out, [&](int64_t i, int64_t count) {
      for (; count > 0; --count, to += at)
        for (int64_t l = 0; l < at; ++l) to[l] = i * a.stride + held[l];
    });
    at *= a.n_out;
  }
}

// Merges the last axes of many small blocks into one axis with a table of byte offsets: of its outputs or,
// if the last axis repeats each input many times, of these inputs. For so few values, walking the
// axes costs more than reading a table.
inline void flatten(CopyTask& t, int64_t* table) {
  if (t.n_axes == 0) return;
  CopyAxis& last = t.axis[t.n_axes - 1];
  if (last.kind == CopyAxis::affine && last.n_out > few_flat) return;
  const bool wide = is_every(last) && last.n_out % last.repeat == 0 && last.repeat * t.run >= least_flat_run;
  // A block of few values that the axis before repeats as well is made once, by a table of its outputs.
  const bool packed = wide && t.n_axes > 1 && is_every(t.axis[t.n_axes - 2]) && last.n_out <= few_flat_packed;
  const bool runs = wide && !packed;
  const int64_t repeat = runs ? last.repeat : 1;
  int k = t.n_axes;
  int64_t n = 1;
  const auto entries = [&](int j) { return t.axis[j].n_out / (j + 1 == t.n_axes ? repeat : 1); };
  while (k > (packed ? t.n_axes - 1 : 1) && n * entries(k - 1) <= most_flat) n *= entries(--k);
  // Few blocks do not pay for the table; the axes after them may be many smaller ones.
  while (k < t.n_axes && !runs && t.axis[0].n_out * t.bytes[1] < least_flat_blocks * t.bytes[k]) n /= entries(k++);
  const bool lone = k + 1 == t.n_axes;
  if (k == t.n_axes || t.run > (last.kind == CopyAxis::runs ? longest_row : max_indexed_run)) return;
  const bool by_counts = last.kind == CopyAxis::runs && (n <= few_flat_counts || n <= 4 * last.n_in);
  if (lone && (runs || last.kind == CopyAxis::index || (n > few_flat && !by_counts))) return;
  if (runs) last = {CopyAxis::affine, n, last.n_out / repeat, last.stride, 1, nullptr};
  offsets_from(t, k, table);
  t.axis[k] = {CopyAxis::index, n, n * repeat, 1, repeat, table};
  t.bytes[k + 1] = t.run, t.n_axes = k + 1;
}

// Merges axes where it can. table: memory for byte offsets, which the task reads.
inline void join_axes(CopyTask& t, int64_t* table) {
  for (int k = t.n_axes - 1; k >= 0; --k) {
    CopyAxis& a = t.axis[k];
    // One input, or inputs in one place, are a repeat.
    if ((a.kind == CopyAxis::runs && a.n_in == 1) || a.stride == 0)
      a = {CopyAxis::affine, a.n_out, a.n_out, 0, 1, nullptr};
    if (a.n_out == 1) t.src += input_of(a, 0) * a.stride, remove_axis(t, k);
    else if (k + 1 < t.n_axes) join(t, k);
  }
  for (; t.n_axes && t.axis[t.n_axes - 1].kind == CopyAxis::affine && t.axis[t.n_axes - 1].stride == t.run; --t.n_axes)
    t.run *= t.axis[t.n_axes - 1].n_out;
  flatten(t, table);
}

}  // namespace
}  // namespace tenter
