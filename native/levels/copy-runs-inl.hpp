// Copies along the last axis, whose elements are runs of bytes that are contiguous in input and output.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "levels/copy-axes-inl.hpp"
#include "levels/stream-inl.hpp"

namespace tenter {
namespace {

// The shuffles that repeat short runs equally often (kernels.hpp), made when they are first asked for.
class Pattern {
 public:
  // bytes: how many outputs the shuffles may be used for.
  explicit Pattern(int64_t bytes) : bytes_(bytes) {}

  // Whether contiguous runs of `run` bytes can be repeated so, `times` each. All calls must have the same arguments.
  bool repeats(int64_t run, int64_t times) {
    if (!tried_) made_ = kernels().make_shuffles(table_, run, times, bytes_), tried_ = true;
    return made_;
  }
  // Stores all outputs of the n bytes at src.
  void repeat(const char* src, int64_t n, char* dst) const { kernels().repeat_by_shuffles(table_, src, n, dst); }

 private:
  int64_t bytes_;
  bool tried_ = false, made_ = false;
  alignas(64) char table_[shuffle_table_bytes];
};

// Stores `count` copies of the `run` bytes at src. Returns where they end.
constexpr int64_t longest_block = 256,
                  many_copies = 32;  // with fewer copies, making the block takes as long as it saves
inline char* store_block(char* dst, const char* src, int64_t run, int64_t count) {
  constexpr int64_t V = vector_bytes, many = 4, together = many * V, least_aligned = 1024;
  char block[2 * (longest_block + together)];  // vectors of outputs begin anywhere in a run
  std::memcpy(block, src, run);
  char* const end = dst + run * count;
  const bool aligned = end - dst >= least_aligned;  // then stores within lines are worth one store more
  const int64_t least_held = run + (aligned ? together : V);
  for (int64_t held = run; held < least_held; held *= 2) std::memcpy(block + held, block, held);
  int64_t from = 0;
  auto forward = [&](int64_t step) {
    from += step;
    if (from >= run) from -= run;
  };
  if (aligned) {
    store_bits(dst, load_unaligned<Vec<uint8_t>>(block));
    const int64_t before = V - (reinterpret_cast<intptr_t>(dst) & (V - 1));
    dst += before, from = before % run;
    for (const int64_t step = together % run; end - dst >= together; dst += together) {
      for (int64_t k = 0; k < many; ++k) store_bits(dst + k * V, load_unaligned<Vec<uint8_t>>(block + from + k * V));
      forward(step);
    }
  }
  for (const int64_t step = V % run; end - dst >= V; dst += V) {
    store_bits(dst, load_unaligned<Vec<uint8_t>>(block + from));
    forward(step);
  }
  std::memcpy(dst, block + from, end - dst);
  return end;
}

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

// Values at any stride. GCC would build vectors of them, an insertion at a time, which takes twice as long.
template <int N>
inline void store_strided(const char* src, int64_t stride, char* dst, int64_t n) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i, src += stride) {
    std::memcpy(dst + i * N, src, N);
    asm("" : "+r"(src));
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

// Where rows of inputs begin: `stride` bytes apart, or at[r] bytes from src.
struct SourceRows {
  const char* src;
  int64_t stride;
  const int64_t* at;
  const char* operator()(int64_t r) const { return src + (at ? at[r] : r * stride); }
};

// The same for any `run`, of inputs that are index[o] bytes from src.
[[gnu::noinline]] void gather_bytes_of(const int64_t* index, const char* src, char* dst, int64_t n, int64_t run) {
  with_run(run, [&]<int N>() { gather<N>(index, src, 1, dst, n, run); });
}

// Many rows of few bytes, by shuffles of 16 bytes. Returns how many rows are done: a load may not pass the last input,
// and a store not the last output. A store may pass its row, because the next row is stored after it.
inline int64_t shuffle_rows(const CopyAxis& a, char* dst, int64_t rows, int64_t run, const SourceRows& row) {
  constexpr int64_t each = sizeof(Sixteen), most = 8, few = 16;  // bytes; vectors of a row; rows
  const int64_t width = a.n_out * run, n = ceil_div(width, each);
  if (!permutable<uint8_t> || 2 * run >= each || n > most || rows < few) return 0;
  Sixteen places[most];
  int64_t base[most], reach = 0, extent = 0;
  for (int64_t v = 0; v < n; ++v) {
    int64_t at[each], low = INT64_MAX, high = INT64_MIN;
    const int64_t bytes = std::min(each, width - v * each);
    for (int64_t b = 0; b < bytes; ++b) {
      const int64_t j = v * each + b;
      at[b] = a.table[j / run] * a.stride + j % run;
      low = std::min(low, at[b]), high = std::max(high, at[b]);
    }
    if (high - low >= each) return 0;
    uint8_t place[each] = {};
    for (int64_t b = 0; b < bytes; ++b) place[b] = uint8_t(at[b] - low);
    std::memcpy(places + v, place, each);
    base[v] = low, reach = std::max(reach, low + each), extent = std::max(extent, high + 1);
  }
  const char *const end = std::max(row(0), row(rows - 1)) + extent, *const dst_end = dst + rows * width;
  int64_t r = 0;
  for (; r < rows && row(r) + reach <= end && dst + n * each <= dst_end; ++r, dst += width)
    for (int64_t v = 0; v < n; ++v)
      store_bits(dst + v * each, permute_bytes(load_unaligned<Sixteen>(row(r) + base[v]), places[v]));
  return r;
}

// Short rows whose inputs are at the same distances from `row(r)`.
[[gnu::noinline]] void gather_rows(const CopyAxis& a, char* dst, int64_t rows, int64_t run, const SourceRows& row) {
  const int64_t done = shuffle_rows(a, dst, rows, run, row), stride = a.stride, n = a.n_out;
  dst += done * n * run;
  with_run(run, [&]<int N>() {
    for (int64_t r = done; r < rows; ++r, dst += n * run) gather<N>(a.table, row(r), stride, dst, n, run);
  });
}

// Stores outputs [lo, hi) of the last axis, in runs of N bytes.
template <int N>
void copy_runs_of(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi) {
  const char* const end = dst + (hi - lo) * N;
  if (a.kind == CopyAxis::affine && a.stride != 0) {
    const char* const from = src + lo * a.stride;
    if constexpr (N <= 4) {  // loops of a constant stride are vectorized
      if (a.stride == 2 * N) return store_repeated<N, 1>(from, 2 * N, dst, hi - lo);
      if (a.stride == 3 * N) return store_repeated<N, 1>(from, 3 * N, dst, hi - lo);
      if (a.stride == 4 * N) return store_repeated<N, 1>(from, 4 * N, dst, hi - lo);
    }
    store_strided<N>(from, a.stride, dst, hi - lo);
  } else if (each_by_table(a)) {
    gather<N>(a.table + lo, src, a.stride, dst, hi - lo);
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

// Runs of few outputs each, which are moved one by one, by a table of inputs. Branches on their counts would be
// mispredicted. Runs of values have wide stores instead.
inline void copy_short_runs(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi, int64_t run) {
  constexpr int64_t some = 512, once = 4;  // outputs at a time; entries of the table that are stored at once
  typedef VecN<int64_t, once> Entries;
  int64_t table[some + once];
  int64_t i = std::upper_bound(a.table, a.table + a.n_in + 1, lo) - a.table - 1;
  for (int64_t o = lo, end; o < hi; o = end, --i) {  // the last run may go on
    end = std::min(hi, o + some);
    for (; a.table[i] < end; ++i) {
      const Entries entries = i * a.stride - Entries{};
      const int64_t stop = std::min(a.table[i + 1], end) - o;
      for (int64_t at = std::max(a.table[i], o) - o, more = true; more; at += once, more = at < stop)
        store_bits(table + at, entries);
    }
    gather_bytes_of(table, src, dst, end - o, run);
    dst += (end - o) * run;
  }
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

}  // namespace
}  // namespace tenter
