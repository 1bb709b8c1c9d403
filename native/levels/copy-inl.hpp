// The copy kernel: every output element is one input element. It copies bytes of any dtype.
#pragma once
#include <algorithm>

#include "levels/transposed-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

inline void fill(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, Pattern& pattern);

constexpr int64_t packed_bytes = 4096;  // with the results they stay in L1

// Makes n blocks of the axes after k, next to each other. row(r): the input of block r.
inline void pack_blocks(const CopyTask& t, int k, char* packed, int64_t n, Pattern& pattern, const SourceRows& row) {
  const CopyAxis& b = t.axis[k + 1];
  if (k + 2 == t.n_axes && each_by_table(b)) return gather_rows(b, packed, n, t.run, row);
  for (int64_t r = 0; r < n; ++r) fill(t, k + 1, row(r), packed + r * t.bytes[k + 1], 0, b.n_out, pattern);
}

// Small blocks of the axes after k that are repeated by axis k, equally often: some are made once, and then repeated as
// runs. The pattern is that of these runs.
inline void repeat_packed(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi,
                          Pattern& pattern) {
  char packed[packed_bytes];
  const CopyAxis& a = t.axis[k];
  const int64_t size = t.bytes[k + 1];
  for (int64_t o = lo, end; o < hi; o = end) {
    const int64_t first = o / a.repeat, begin = first * a.repeat;
    const int64_t n = std::min(packed_bytes / size, ceil_div(hi - begin, a.repeat));
    end = std::min(hi, begin + n * a.repeat);
    pack_blocks(t, k, packed, n, pattern, {src + first * a.stride, a.stride, nullptr});
    const CopyAxis runs{CopyAxis::every, n, n * a.repeat, size, a.repeat, nullptr};
    copy_last_axis(runs, packed, dst, o - begin, end - begin, size, pattern);
    dst += (end - o) * size;
  }
}

// The same by counts. Blocks without outputs are left out.
inline void repeat_packed_runs(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi,
                               Pattern& pattern) {
  constexpr int64_t most = 512;  // blocks
  char packed[packed_bytes];
  int64_t from[most], begin[most + 1];  // inputs of blocks; their first outputs
  const CopyAxis& a = t.axis[k];
  const int64_t size = t.bytes[k + 1], blocks = std::min(most, packed_bytes / size);
  int64_t i = std::upper_bound(a.table, a.table + a.n_in + 1, lo) - a.table - 1;
  for (int64_t o = lo, end; o < hi; o = end) {
    int64_t n = 0;
    for (; n < blocks && a.table[i] < hi; ++i) {
      from[n] = i * a.stride, begin[n] = std::max(a.table[i], o) - o;
      n += a.table[i] < a.table[i + 1];
    }
    end = std::min(hi, a.table[i]), begin[n] = end - o;
    pack_blocks(t, k, packed, n, pattern, {src, 0, from});
    copy_last_axis({CopyAxis::runs, n, end - o, size, 1, begin}, packed, dst, 0, end - o, size, pattern);
    dst += (end - o) * size;
  }
}

// Short rows of the axes after k, which axis k takes by a table: all outputs by one table.
inline void gather_by_table(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi) {
  constexpr int64_t room = 512;  // the table stays in L1
  const CopyAxis& a = t.axis[k];
  const int64_t width = t.bytes[k + 1] / t.run;
  int64_t row[widest_table_row], table[room];
  offsets_from(t, k + 1, row);
  for (int64_t o = lo, n; o < hi; o += n, dst += n * width * t.run) {
    n = std::min(hi - o, room / width);
    for (int64_t r = 0; r < n; ++r)
      for (int64_t j = 0; j < width; ++j) table[r * width + j] = a.table[o + r] * a.stride + row[j];
    gather_bytes_of(table, src, dst, n * width, t.run);
  }
}

// Whether the values of a block are copied one by one: `fill` then makes all copies of a block of its first copy.
inline bool picks_values(const CopyTask& t) {
  const CopyAxis& last = t.axis[t.n_axes - 1];
  return t.run < line && (last.kind == CopyAxis::affine || each_by_table(last));
}

// Stores outputs [lo, hi) of axis k, with all axes after it. src: the input at index 0 of axis k. A small repeated
// block is copied from its first copy, which is in cache. A large one is read again from the input, which is never
// larger, unless its values are copied one by one.
inline void fill(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, Pattern& pattern) {
  if (k == t.n_axes) return copy_bytes(dst, src, t.run);
  const CopyAxis& a = t.axis[k];
  if (k + 1 == t.n_axes) return copy_last_axis(a, src, dst, lo, hi, t.run, pattern);
  if (a.stride == t.run && k == axis_of_rows(t)) return fill_rows(t, k, src, dst, lo, hi, pattern);
  if (const CopyAxis& b = t.axis[k + 1];
      k + 2 == t.n_axes && a.kind == CopyAxis::affine && a.stride && each_by_table(b))
    return gather_rows(b, dst, hi - lo, t.run, {src + lo * a.stride, a.stride, nullptr});
  const int64_t size = t.bytes[k + 1], below = t.axis[k + 1].n_out;
  const bool once = std::none_of(t.axis + k + 1, t.axis + t.n_axes, is_every);  // as there is one pattern
  if (a.kind == CopyAxis::runs && size <= longest_packed_block)
    return repeat_packed_runs(t, k, src, dst, lo, hi, pattern);
  if (is_every(a) && size <= longest_packed_block && once && axis_of_rows(t) < 0)
    return repeat_packed(t, k, src, dst, lo, hi, pattern);
  if (each_by_table(a) && size <= widest_table_row * t.run && hi - lo >= least_table_rows)
    return gather_by_table(t, k, src, dst, lo, hi);
  const bool again = size > tuning.copied_block_bytes && !picks_values(t);
  each_run(a, lo, hi, [&](int64_t i, int64_t count) {
    char* const first = dst;
    for (int64_t c = 0; c < count; ++c, dst += size) {
      if (c == 0 || again) fill(t, k + 1, src + i * a.stride, dst, 0, below, pattern);
      else copy_bytes(dst, first, size);
    }
  });
}

// As `fill`, with streaming stores: through a staging buffer where at least two outputs of axis k fit in it.
inline void fill_streamed(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, Lease& lease,
                          Pattern& pattern) {
  const CopyAxis& a = t.axis[k];
  const int64_t size = t.bytes[k + 1];
  if (size <= tuning.staging_bytes / 2) {
    const int64_t capacity = tuning.staging_bytes * (a.kind == CopyAxis::runs ? runs_staging_buffers : 1);
    char* const staging = lease->staging.get<char>(capacity);
    int64_t chunk = capacity / size;
    if (a.kind == CopyAxis::every && chunk > a.repeat) chunk = chunk / a.repeat * a.repeat;
    for (int64_t o = lo; o < hi; o += chunk, dst += chunk * size) {
      const int64_t end = std::min(hi, o + chunk);
      fill(t, k, src, staging, o, end, pattern);
      stream_store(dst, staging, (end - o) * size);
    }
    return;
  }
  each_run(a, lo, hi, [&](int64_t i, int64_t count) {
    if (k + 1 == t.n_axes) {
      stream_copies(dst, src + i * a.stride, size, count, size);
      dst += count * size;
    } else {
      for (; count > 0; --count, dst += size)
        fill_streamed(t, k + 1, src + i * a.stride, dst, 0, t.axis[k + 1].n_out, lease, pattern);
    }
  });
}

// Long runs of bytes. Each task copies one chunk of a run to all outputs of the last axis, so that it is read once.
// n_leading: how many index tuples the axes before have.
inline void copy_long_runs(const CopyTask& t, int64_t n_leading, Team team) {
  const CopyAxis& last = t.axis[t.n_axes - 1];
  const int64_t least = std::clamp<int64_t>(tuning.task_bytes, line, min_run_part);
  const int64_t part = std::max(least, tuning.task_bytes / last.n_out / line * line), parts = ceil_div(t.run, part);
  parallel(n_leading * parts, team, [&](int64_t p) {
    const int64_t from = p % parts * part, n = std::min(part, t.run - from);
    auto [src, dst] = address_of(t, t.n_axes - 1, p / parts);
    src += from, dst += from;
    each_run(last, 0, last.n_out, [&](int64_t i, int64_t count) {
      if (t.stream) stream_copies(dst, src + i * last.stride, n, count, t.run);
      else
        for (int64_t c = 0; c < count; ++c) copy_bytes(dst + c * t.run, src + i * last.stride, n);
      dst += count * t.run;
    });
    store_fence(t.stream);
  });
}

// How a copy is cut into tasks: each is one of the n_leading index tuples of the axes before `axis`, and a chunk of
// that axis, of as many outputs.
struct Cut {
  int axis = 0;
  int64_t n_leading = 1, chunk = 1;
};
inline Cut cut(const CopyTask& t, int64_t n_tasks, int threads) {
  // Where values are copied one by one, each chunk of an axis makes a first copy of a block, from which the others are
  // copied. Such an axis then has few chunks.
  const auto makes_first = [&](int axis) {
    return axis + 1 < t.n_axes && picks_values(t) && !t.stream && 2 * t.bytes[axis + 1] <= tuning.task_bytes &&
           (t.axis[axis].kind != CopyAxis::affine || t.axis[axis].stride == 0);
  };
  Cut c;
  for (; c.axis + 1 < t.n_axes && c.n_leading * t.axis[c.axis].n_out < n_tasks; ++c.axis) {
    const CopyAxis& a = t.axis[c.axis];
    if (makes_first(c.axis) && c.n_leading * (is_every(a) ? a.n_out / a.repeat : a.n_out) >= threads) break;
    c.n_leading *= a.n_out;
  }
  const CopyAxis& a = t.axis[c.axis];
  const int64_t most = tuning.task_bytes / t.bytes[c.axis + 1];
  const bool few = makes_first(c.axis);
  c.chunk = std::max<int64_t>(1, a.n_out / std::max<int64_t>(1, n_tasks / c.n_leading));
  if (is_every(a) && (a.repeat < c.chunk || (few && a.repeat <= most))) c.chunk = round_up(c.chunk, a.repeat);
  else if (few)
    c.chunk = std::max(c.chunk, std::min({a.n_out, ceil_div(c.n_leading * a.n_out, int64_t{threads}), most}));
  if (c.axis == axis_of_rows(t)) c.chunk = round_up(c.chunk, line / t.run);
  return c;
}

void copy(const CopyTask& given, int threads) {
  const int64_t total = given.n_axes ? given.axis[0].n_out * given.bytes[1] : given.run;
  if (total == 0) return;
  CopyTask t;  // its axes take kilobytes; only those in use are set
  t.src = given.src, t.dst = given.dst, t.run = given.run, t.n_axes = given.n_axes, t.stream = given.stream;
  std::copy_n(given.axis, given.n_axes, t.axis), std::copy_n(given.bytes, given.n_axes + 1, t.bytes);
  int64_t table[most_flat];
  join_axes(t, table);
  if (axis_of_rows(t) >= 0) t.stream = false;  // streaming stores go through a buffer of few rows
  const Team team = team_for(total, threads);
  const bool one_task = total < tuning.parallel_bytes || (team.threads == 1 && total <= tuning.task_bytes);
  if (one_task && !t.stream) {
    Pattern pattern(total);
    return fill(t, 0, t.src, t.dst, 0, t.n_axes ? t.axis[0].n_out : 0, pattern);
  }
  const int64_t n_tasks = least_tasks(total, team);
  if (t.n_axes == 0) {
    parallel(n_tasks, team, [&](int64_t p) {
      const int64_t lo = t.run / n_tasks * p, hi = p + 1 == n_tasks ? t.run : t.run / n_tasks * (p + 1);
      if (t.stream) stream_store(t.dst + lo, t.src + lo, hi - lo);
      else copy_bytes(t.dst + lo, t.src + lo, hi - lo);
      store_fence(t.stream);
    });
    return;
  }
  const auto [k, n_leading, chunk] = cut(t, n_tasks, team.threads);
  if (k + 1 == t.n_axes && t.run > tuning.task_bytes) return copy_long_runs(t, n_leading, team);
  const CopyAxis& split = t.axis[k];
  const int64_t chunks = ceil_div(split.n_out, chunk);
  parallel(n_leading * chunks, team, [&](int64_t p) {
    const int64_t lo = p % chunks * chunk, hi = std::min(split.n_out, lo + chunk);
    auto [src, dst] = address_of(t, k, p / chunks);
    dst += lo * t.bytes[k + 1];
    Lease lease;
    Pattern pattern((hi - lo) * t.bytes[k + 1]);
    if (t.stream) fill_streamed(t, k, src, dst, lo, hi, lease, pattern);
    else fill(t, k, src, dst, lo, hi, pattern);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
