// The copy kernel: every output element is one input element. It copies bytes of any dtype.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "levels/copy-axes-inl.hpp"
#include "levels/repeats-inl.hpp"
#include "levels/stream-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

constexpr int64_t wide = 32;  // bytes of one wide store
template <int N>
constexpr int64_t wide_of_runs = N >= 8 ? 64 : 32;

// Copies of the N bytes at src, of which `store_copies` makes so many bytes.
template <int N, int bytes>
inline auto copies_of(const char* src) {
  if constexpr (N == 16) {
    // Of two words each: a shuffle of the 16 bytes to a wider vector would go through memory, which waits for the
    // store.
    typedef Part<bytes, uint64_t> Words;
    const Words a = load_unaligned<uint64_t>(src) - Words{}, b = load_unaligned<uint64_t>(src + 8) - Words{};
    return [&]<int... l>(std::integer_sequence<int, l...>) {
      return __builtin_shufflevector(a, b, (l % 2 ? int(sizeof...(l)) + l : l)...);
    }(std::make_integer_sequence<int, int(sizeof(Words)) / 8>{});
  } else {
    return load_unaligned<Unsigned<N>>(src) - Part<bytes, Unsigned<N>>{};
  }
}

// Stores `count` copies of the N bytes at src. Runs are mostly short, so one wide store covers a run and spills into
// the next run, which is stored after it. `end` is the end of the task's output; no store passes it.
template <int N>
inline char* store_run(char* dst, const char* src, int64_t count, const char* end) {
  if constexpr (N == 1 || N == 2 || N == 4 || N == 8 || N == 16) {
    const auto copies = copies_of<N, wide>(src);
    char* const stop = dst + count * N;
    if (stop - dst >= wide) {  // the last store overlaps the one before
      for (; stop - dst >= wide; dst += wide) store_copies<wide>(dst, copies);
      store_copies<wide>(stop - wide, copies);
    } else if (end - dst >= wide) {
      store_copies<wide>(dst, copies);
    } else {
      for (; dst < stop; dst += N) std::memcpy(dst, src, N);
    }
    return stop;
  } else {
    if (count >= many_copies) return store_block(dst, src, N, count);
    char value[N];
    std::memcpy(value, src, N);
    for (; count > 0; --count, dst += N) std::memcpy(dst, value, N);
    return dst;
  }
}

// Stores runs of `bytes` bytes each, at least one wide store. The last store of a run overlaps the one before.
template <int N>
inline void store_equal_runs(const char* src, int64_t stride, char* dst, int64_t n, int64_t bytes) {
  const int64_t last = bytes - wide;
  for (int64_t i = 0; i < n; ++i, src += stride, dst += bytes) {
    const auto copies = copies_of<N, wide>(src);
    for (int64_t at = 0; at < last; at += wide) store_copies<wide>(dst + at, copies);
    store_copies<wide>(dst + last, copies);
  }
}

// How many stores of `outputs` each every run gets, if runs are `mean` long on average. Most runs are then stored
// without a branch on their length, which would be mispredicted.
inline int stores_of(int64_t mean, int64_t outputs) { return mean <= outputs / 2 ? 1 : mean <= outputs ? 2 : 4; }

// Stores runs whose lengths differ. Each input gets `stores` wide stores, even an input without outputs. Stops at the
// first input whose stores would pass `end`. Returns how many of the n inputs are done, and advances dst.
template <int N, int stores>
inline int64_t store_runs(const int64_t* offset, int64_t n, const char* src, int64_t stride, char*& dst,
                          const char* end) {
  constexpr int64_t one = wide_of_runs<N>, least = one * stores;
  char* const first = dst - offset[0] * N;
  int64_t i = 0;
  for (; i < n; ++i, src += stride) {
    char* const d = first + offset[i] * N;
    char* const stop = first + offset[i + 1] * N;
    if (end - stop < least) break;
    const auto copies = copies_of<N, one>(src);
    for (int k = 0; k < stores; ++k) store_copies<one>(d + k * one, copies);
    for (char* more = d + least; more < stop; more += one) store_copies<one>(more, copies);
  }
  dst = first + offset[i] * N;
  return i;
}

// R copies of each value: with R known, the compiler turns the loop into shuffles.
template <int N, int R>
inline void store_repeated(const char* src, int64_t stride, char* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i, src += stride, dst += N * R) {
    char value[N];
    std::memcpy(value, src, N);
    for (int r = 0; r < R; ++r) std::memcpy(dst + r * N, value, N);
  }
}

// Stores one run of at least a vector of bytes. Inlined: a call, which branches on the length each time, makes rows of
// some hundred bytes a tenth slower.
inline void copy_row(char* dst, const char* src, int64_t n) {
  typedef Vec<int64_t> V;
  constexpr int64_t one = sizeof(V), many = 8;
  int64_t at = 0;
  if (n >= 2 * many * one) {  // then stores within lines are worth one store more
    store_bits(dst, load_unaligned<V>(src));
    at = one - (reinterpret_cast<intptr_t>(dst) & (one - 1));
  }
  for (; at + many * one <= n; at += many * one) {
    V some[many];
    for (int k = 0; k < many; ++k) some[k] = load_unaligned<V>(src + at + k * one);
    for (int k = 0; k < many; ++k) store_bits(dst + at + k * one, some[k]);
  }
  for (; at + one <= n; at += one) store_bits(dst + at, load_unaligned<V>(src + at));
  if (at == n) return;
  store_bits(dst + n - one, load_unaligned<V>(src + n - one));  // it overlaps the last one
}

// Moves a run of bytes. N: their number; 0: `run`, more than 64; negative: `run`, more than -N and at most twice as
// many, in two moves that overlap.
template <int N>
inline void move(char* dst, const char* src, int64_t run) {
  if constexpr (N > 0) {
    std::memcpy(dst, src, N);
  } else if constexpr (N == 0) {
    copy_row(dst, src, run);
  } else {
    typedef VecN<uint8_t, -N> Part;
    const Part first = load_unaligned<Part>(src), last = load_unaligned<Part>(src + run + N);
    store_bits(dst, first), store_bits(dst + run + N, last);
  }
}

// Calls f<N>() for the N by which `move` moves runs: of any length of at least four bytes; or also of fewer.
template <class F>
TENTER_ALWAYS_INLINE void with_long_run(int64_t run, F&& f) {
  if (run > 64) f.template operator()<0>();
  else if (run > 32) f.template operator()<-32>();
  else if (run > 16) f.template operator()<-16>();
  else if (run > 8) f.template operator()<-8>();
  else f.template operator()<-4>();
}
template <class F>
TENTER_ALWAYS_INLINE void with_run(int64_t run, F&& f) {
  if (!with_constant<1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64>(run, f)) with_long_run(run, f);
}

template <int N>
inline void gather(const int64_t* index, const char* src, int64_t stride, char* dst, int64_t n, int64_t run = N) {
  if constexpr (N > 0) run = N;
  for (int64_t o = 0; o < n; ++o) move<N>(dst + o * run, src + index[o] * stride, run);
}

// Short rows whose inputs are at the same distances from `row(r)`.
template <int N, class Row>
inline void gather_rows(const CopyAxis& a, char* dst, int64_t rows, int64_t run, Row&& row) {
  if constexpr (N > 0) run = N;
  auto each = [&](int64_t by) __attribute__((always_inline)) {
    for (int64_t r = 0; r < rows; ++r, dst += a.n_out * run) gather<N>(a.table, row(r), by, dst, a.n_out, run);
  };
  if (a.stride == 1) each(1);
  else if (a.stride == N) each(N);
  else each(a.stride);
}

// Stores outputs [lo, hi) of the last axis, in runs of N bytes.
template <int N>
void copy_runs_of(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi) {
  const char* const end = dst + (hi - lo) * N;
  if (a.kind == CopyAxis::affine && a.stride != 0) {
    if (a.stride == 2 * N) store_repeated<N, 1>(src + lo * a.stride, 2 * N, dst, hi - lo);  // vectorized
    else store_repeated<N, 1>(src + lo * a.stride, a.stride, dst, hi - lo);
  } else if (each_by_table(a)) {
    if (a.stride == N) gather<N>(a.table + lo, src, N, dst, hi - lo);
    else gather<N>(a.table + lo, src, a.stride, dst, hi - lo);
  } else if (a.kind == CopyAxis::every && a.repeat <= 4 && lo % a.repeat == 0 && hi % a.repeat == 0) {
    const char* from = src + lo / a.repeat * a.stride;
    const int64_t n = (hi - lo) / a.repeat;
    switch (a.repeat * (a.stride == N ? 1 : 10)) {  // loops of a constant stride are vectorized
      case 2: return store_repeated<N, 2>(from, N, dst, n);
      case 3: return store_repeated<N, 3>(from, N, dst, n);
      case 4: return store_repeated<N, 4>(from, N, dst, n);
      default:
        for (int64_t i = 0; i < n; ++i) dst = store_run<N>(dst, from + i * a.stride, a.repeat, end);
    }
  } else {
    if constexpr (N == 1 || N == 2 || N == 4 || N == 8 || N == 16)
      if (const int64_t bytes = a.repeat * N;
          a.kind == CopyAxis::every && lo % a.repeat == 0 && hi % a.repeat == 0 && wide <= bytes)
        return store_equal_runs<N>(src + lo / a.repeat * a.stride, a.stride, dst, (hi - lo) / a.repeat, bytes);
    auto each = [&, stride = a.stride](int64_t from, int64_t to) {
      each_run(a, from, to, [&](int64_t i, int64_t count) { dst = store_run<N>(dst, src + i * stride, count, end); });
    };
    if constexpr (N == 1 || N == 2 || N == 4 || N == 8 || N == 16) {
      if (a.kind == CopyAxis::runs && hi > lo) {
        // The first run may begin before lo, and the last may end after hi.
        const int64_t* const first = std::upper_bound(a.table, a.table + a.n_in + 1, lo);
        const int64_t* const last = std::upper_bound(first, a.table + a.n_in + 1, hi);
        if (last - first > 1) {
          each(lo, *first);
          const int64_t i = first - a.table;
          const int64_t n = last - first - 1;
          int64_t done = 0;
          with_constant<1, 2, 4>(stores_of((first[n] - first[0]) / n, wide_of_runs<N> / N), [&]<int stores>() {
            done = store_runs<N, stores>(first, n, src + i * a.stride, a.stride, dst, end);
          });
          return each(first[done], hi);
        }
      }
    }
    each(lo, hi);
  }
}

// Copies any number of bytes. libc copies long runs best, unless `dst` is 1 to 31 bytes after `src` in its page:
// glibc's `rep movsb` then takes 20 times as long (measured on an EPYC). A block may well be so far from its copies.
inline void copy_bytes(char* dst, const char* src, int64_t n) {
  constexpr uintptr_t page = 4096, too_near = 32;
  const uintptr_t distance = (reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src)) % page;
  const bool slow = 0 < distance && distance < too_near;
  if (n >= int64_t(sizeof(Vec<int64_t>)) && (slow || n <= longest_row)) copy_row(dst, src, n);
  else std::memcpy(dst, src, n);
}

// The same for runs of at least four bytes.
inline void copy_runs(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi, int64_t run) {
  auto copy = [&](auto&& one) __attribute__((always_inline)) {
    each_run(a, lo, hi, [&](int64_t i, int64_t count) {
      const char* const from = src + i * a.stride;
      if (count >= many_copies && run <= longest_block) dst = store_block(dst, from, run, count);
      else
        for (; count > 0; --count, dst += run) one(dst, from);
    });
  };
  if (run > longest_row) return copy([&](char* to, const char* from) { copy_bytes(to, from, run); });
  with_long_run(run, [&]<int N>() { copy([&](char* to, const char* from) { move<N>(to, from, run); }); });
}

constexpr int64_t few_copies = 2;  // outputs of an input

// Runs of few outputs each, which are moved one by one, by a table of inputs. Branches on their counts would be
// mispredicted. Runs of values have wide stores instead.
inline void copy_short_runs(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi, int64_t run) {
  constexpr int64_t some = 512, once = 4;  // outputs at a time; entries of the table that are stored at once
  typedef VecN<int64_t, once> Entries;
  int64_t table[some + once];
  int64_t i = std::upper_bound(a.table, a.table + a.n_in + 1, lo) - a.table - 1;
  with_run(run, [&]<int N>() {
    for (int64_t o = lo, end; o < hi; o = end, --i) {  // the last run may go on
      end = std::min(hi, o + some);
      for (; a.table[i] < end; ++i) {
        const Entries entries = i * a.stride - Entries{};
        const int64_t stop = std::min(a.table[i + 1], end) - o;
        for (int64_t at = std::max(a.table[i], o) - o, more = true; more; at += once, more = at < stop)
          store_bits(table + at, entries);
      }
      gather<N>(table, src, 1, dst, end - o, run);
      dst += (end - o) * run;
    }
  });
}

inline void copy_last_axis(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi, int64_t run,
                           Pattern& pattern) {
  if (a.kind == CopyAxis::every && a.stride == run && pattern.repeats(run, a.repeat) && lo % a.repeat == 0 &&
      hi % a.repeat == 0)
    return pattern.repeat(src + lo / a.repeat * run, (hi - lo) / a.repeat * run, dst);
  const bool stored_wide = run <= 16 && (run & (run - 1)) == 0;
  if (a.kind == CopyAxis::runs && a.n_out <= few_copies * a.n_in && run <= longest_row && !stored_wide)
    return copy_short_runs(a, src, dst, lo, hi, run);
  const bool done = with_constant<1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256>(
      run, [&]<int N>() { copy_runs_of<N>(a, src, dst, lo, hi); });
  if (!done) copy_runs(a, src, dst, lo, hi, run);
}

inline void fill(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, Pattern& pattern);

inline bool is_every(const CopyAxis& a) { return a.kind == CopyAxis::every; }

constexpr int64_t longest_packed = 256;  // bytes of a block
constexpr int64_t packed_bytes = 4096;   // with the results they stay in L1

// Makes n blocks of the axes after k, next to each other. row(r): the input of block r.
template <class Row>
inline void pack_blocks(const CopyTask& t, int k, char* packed, int64_t n, Pattern& pattern, Row&& row) {
  const CopyAxis& b = t.axis[k + 1];
  if (k + 2 == t.n_axes && each_by_table(b))
    return with_run(t.run, [&]<int N>() { gather_rows<N>(b, packed, n, t.run, row); });
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
    pack_blocks(t, k, packed, n, pattern,
                [at = src + first * a.stride, stride = a.stride](int64_t r) { return at + r * stride; });
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
    pack_blocks(t, k, packed, n, pattern, [&](int64_t r) { return src + from[r]; });
    copy_last_axis({CopyAxis::runs, n, end - o, size, 1, begin}, packed, dst, 0, end - o, size, pattern);
    dst += (end - o) * size;
  }
}

constexpr int64_t widest_row = 64, few_rows = 8;  // outputs of a row; fewer rows cost more than they save

// Short rows of the axes after k, which axis k takes by a table: all outputs by one table.
inline void gather_by_table(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi) {
  constexpr int64_t room = 512;  // the table stays in L1
  const CopyAxis& a = t.axis[k];
  const int64_t width = t.bytes[k + 1] / t.run;
  int64_t row[widest_row], table[room];
  offsets_from(t, k + 1, row);
  with_run(t.run, [&]<int N>() {
    for (int64_t o = lo, n; o < hi; o += n, dst += n * width * t.run) {
      n = std::min(hi - o, room / width);
      for (int64_t r = 0; r < n; ++r)
        for (int64_t j = 0; j < width; ++j) table[r * width + j] = a.table[o + r] * a.stride + row[j];
      gather<N>(table, src, 1, dst, n * width, t.run);
    }
  });
}

// Stores outputs [lo, hi) of axis k, with all axes after it. src: the input at index 0 of axis k. A small repeated
// block is copied from its first copy, which is in cache. A large one is read again from the input, which is never
// larger. A block whose values are copied one by one is always copied from its
// first copy.
inline void fill(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, Pattern& pattern) {
  if (k == t.n_axes) return copy_bytes(dst, src, t.run);
  const CopyAxis& a = t.axis[k];
  if (k + 1 == t.n_axes) return copy_last_axis(a, src, dst, lo, hi, t.run, pattern);
  if (const CopyAxis& b = t.axis[k + 1];
      k + 2 == t.n_axes && a.kind == CopyAxis::affine && a.stride && each_by_table(b))
    return with_run(t.run, [&]<int N>() {
      gather_rows<N>(b, dst, hi - lo, t.run, [&](int64_t r) { return src + (lo + r) * a.stride; });
    });
  const int64_t size = t.bytes[k + 1], below = t.axis[k + 1].n_out;
  const CopyAxis& last = t.axis[t.n_axes - 1];
  const bool once = std::none_of(t.axis + k + 1, t.axis + t.n_axes, is_every);  // as there is one pattern
  if (a.kind == CopyAxis::runs && size <= longest_packed) return repeat_packed_runs(t, k, src, dst, lo, hi, pattern);
  if (is_every(a) && size <= longest_packed && once) return repeat_packed(t, k, src, dst, lo, hi, pattern);
  if (each_by_table(a) && size <= widest_row * t.run && hi - lo >= few_rows)
    return gather_by_table(t, k, src, dst, lo, hi);
  const bool picks = t.run < line && (last.kind == CopyAxis::affine || each_by_table(last));
  const bool again = size > tuning.copied_block_bytes && !picks;
  each_run(a, lo, hi, [&](int64_t i, int64_t count) {
    char* const first = dst;
    for (int64_t c = 0; c < count; ++c, dst += size) {
      if (c == 0 || again) fill(t, k + 1, src + i * a.stride, dst, 0, below, pattern);
      else copy_bytes(dst, first, size);
    }
  });
}

// Whether each output of the last axis is on a line of the input of its own, which outputs of other axes share: then a
// row reads more lines and pages than are held, and the next row reads them again.
inline bool reads_columns(const CopyTask& t) {
  constexpr int64_t many = 256, rows = 16;   // outputs of the last axis; rows
  constexpr int64_t most_indices = 1 << 17;  // `copy` makes a table of runs: a megabyte, whatever the result has
  if (t.n_axes < 2 || t.run >= line / 4) return false;
  const CopyAxis& last = t.axis[t.n_axes - 1];
  if (last.kind == CopyAxis::runs && last.n_out > most_indices) return false;
  if (std::abs(last.stride) < line || last.n_out < many || t.axis[0].n_out * t.bytes[1] < rows * t.bytes[t.n_axes - 1])
    return false;
  // Blocks that are repeated are better copied from their first copies.
  const CopyAxis* const end = t.axis + t.n_axes - 1;
  const bool repeats = std::any_of(
      t.axis, end, [](const CopyAxis& a) { return is_every(a) || (a.kind == CopyAxis::affine && !a.stride); });
  return !repeats && std::any_of(t.axis, end, [](const CopyAxis& a) {
    return a.kind == CopyAxis::affine && std::abs(a.stride) < line;
  });
}

// As `fill`, for outputs [first, end) of the last axis alone.
inline void fill_columns(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, int64_t first,
                         int64_t end, Pattern& pattern) {
  const CopyAxis& a = t.axis[k];
  if (k + 1 == t.n_axes) return copy_last_axis(a, src, dst + first * t.run, first, end, t.run, pattern);
  each_run(a, lo, hi, [&](int64_t i, int64_t count) {
    for (; count > 0; --count, dst += t.bytes[k + 1])
      fill_columns(t, k + 1, src + i * a.stride, dst, 0, t.axis[k + 1].n_out, first, end, pattern);
  });
}

constexpr int64_t short_runs = 8;  // outputs of an input

// Outputs [lo, hi) of axis k, before the last one, a few columns at a time.
inline void fill_by_columns(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi,
                            Pattern& pattern) {
  constexpr int64_t some = 64;  // their lines stay in L1 or L2, and their pages in the first table of pages
  const int64_t n = t.axis[t.n_axes - 1].n_out;
  for (int64_t o = 0; o < n; o += some) fill_columns(t, k, src, dst, lo, hi, o, std::min(n, o + some), pattern);
}

// The same with streaming stores: through a staging buffer where at least two outputs of axis k fit in it.
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

// A task is an index tuple of the leading axes and a chunk of the axis after them.
void copy(const CopyTask& given, int threads) {
  const int64_t total = given.n_axes ? given.axis[0].n_out * given.bytes[1] : given.run;
  if (total == 0) return;
  CopyTask t;  // its axes take kilobytes; only those in use are set
  t.src = given.src, t.dst = given.dst, t.run = given.run, t.n_axes = given.n_axes, t.stream = given.stream;
  std::copy_n(given.axis, given.n_axes, t.axis), std::copy_n(given.bytes, given.n_axes + 1, t.bytes);
  int64_t table[most_flat];
  join_axes(t, table);
  const bool columns = reads_columns(t);
  Lease indices;
  if (columns) {
    t.stream = false;  // of whole lines, which columns are not
    CopyAxis& last = t.axis[t.n_axes - 1];
    if (last.kind == CopyAxis::runs && last.n_out < short_runs * last.n_in) {  // each row searches runs several times
      int64_t *const made = indices->table.get<int64_t>(last.n_out), *to = made;
      each_run(last, 0, last.n_out, [&](int64_t i, int64_t count) { to = std::fill_n(to, count, i); });
      last = {CopyAxis::index, last.n_in, last.n_out, last.stride, 1, made};
    }
  }
  const Team team = team_for(total, threads);
  const bool one_task = total < tuning.parallel_bytes || (team.threads == 1 && total <= tuning.task_bytes);
  if (one_task && !t.stream) {
    Pattern pattern(total);
    if (columns) return fill_by_columns(t, 0, t.src, t.dst, 0, t.axis[0].n_out, pattern);
    return fill(t, 0, t.src, t.dst, 0, t.n_axes ? t.axis[0].n_out : 0, pattern);
  }
  const int64_t n_tasks = std::max<int64_t>(team.threads == 1 ? 1 : 64, ceil_div(total, tuning.task_bytes));
  if (t.n_axes == 0) {
    parallel(n_tasks, team, [&](int64_t p) {
      const int64_t lo = t.run / n_tasks * p, hi = p + 1 == n_tasks ? t.run : t.run / n_tasks * (p + 1);
      if (t.stream) stream_store(t.dst + lo, t.src + lo, hi - lo);
      else copy_bytes(t.dst + lo, t.src + lo, hi - lo);
      store_fence(t.stream);
    });
    return;
  }
  int k = 0;
  int64_t n_leading = 1;
  while (k + 1 < t.n_axes && n_leading * t.axis[k].n_out < n_tasks) n_leading *= t.axis[k++].n_out;
  if (k + 1 == t.n_axes && t.run > tuning.task_bytes) return copy_long_runs(t, n_leading, team);
  const CopyAxis& split = t.axis[k];
  int64_t chunk = std::max<int64_t>(1, split.n_out / std::max<int64_t>(1, n_tasks / n_leading));
  if (split.kind == CopyAxis::every && split.repeat < chunk) chunk = round_up(chunk, split.repeat);
  const int64_t chunks = ceil_div(split.n_out, chunk);
  parallel(n_leading * chunks, team, [&](int64_t p) {
    const int64_t lo = p % chunks * chunk, hi = std::min(split.n_out, lo + chunk);
    auto [src, dst] = address_of(t, k, p / chunks);
    dst += lo * t.bytes[k + 1];
    Lease lease;
    Pattern pattern((hi - lo) * t.bytes[k + 1]);
    if (columns && k + 1 < t.n_axes) fill_by_columns(t, k, src, dst, lo, hi, pattern);
    else if (t.stream) fill_streamed(t, k, src, dst, lo, hi, lease, pattern);
    else fill(t, k, src, dst, lo, hi, pattern);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
