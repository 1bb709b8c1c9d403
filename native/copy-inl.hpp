// The copy kernel: every output element is one input element. Bytes, not dtypes.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels.hpp"
#include "stream-inl.hpp"
#include "threads.hpp"

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
      for (int64_t o = lo; o < hi;) {
        const int64_t i = o / a.repeat, end = std::min(hi, (i + 1) * a.repeat);
        f(i, end - o);
        o = end;
      }
      return;
    case CopyAxis::runs: {
      int64_t i = std::upper_bound(a.offset, a.offset + a.n_in + 1, lo) - a.offset - 1;
      for (int64_t o = lo; o < hi; ++i) {
        const int64_t end = std::min(hi, a.offset[i + 1]);
        if (end > o) f(i, end - o);
        o = end;
      }
      return;
    }
    case CopyAxis::index:
      for (int64_t o = lo; o < hi;) {
        int64_t end = o + 1;
        while (end < hi && a.offset[end] == a.offset[o]) ++end;
        f(a.offset[o], end - o);
        o = end;
      }
  }
}

inline int64_t input_of(const CopyAxis& a, int64_t o) {
  int64_t i = 0;
  each_run(a, o, o + 1, [&](int64_t at, int64_t) { i = at; });
  return i;
}

// Stores `count` copies of the N bytes at src. Runs are short, so one wide store mostly covers a run; it spills over
// into the next run's place, which is written after it. `end` is the end of this task's output: nothing is spilled past
// it.
template <int N>
inline char* store_run(char* dst, const char* src, int64_t count, const char* end) {
  if constexpr (N == 1 || N == 2 || N == 4 || N == 8) {
    typedef Unsigned<N> U;
    typedef U Wide __attribute__((vector_size(32)));
    U value;
    std::memcpy(&value, src, N);
    const Wide wide = value - Wide{};
    char* const stop = dst + count * N;
    if (end - stop >= 32) {
      for (char* d = dst; d < stop; d += 32) std::memcpy(d, &wide, 32);
      return stop;
    }
    for (; dst < stop; dst += N) std::memcpy(dst, &value, N);
    return dst;
  } else {
    char value[N];
    std::memcpy(value, src, N);
    for (; count > 0; --count, dst += N) std::memcpy(dst, value, N);
    return dst;
  }
}

// Runs of counts that differ from one input to the next: a store for every input, whatever its count, as a branch on
// the count would be guessed wrong. Returns how many of the n inputs it served, up to the first whose store would pass
// `end`; dst moves on.
template <int N>
inline int64_t store_runs(const int64_t* offset, int64_t n, const char* src, int64_t stride, char*& dst,
                          const char* end) {
  static_assert(N == 1 || N == 2 || N == 4 || N == 8);
  typedef Unsigned<N> U;
  constexpr int64_t wide = N == 8 ? 64 : 32;
  typedef U Wide __attribute__((vector_size(wide)));
  char* const first = dst - offset[0] * N;
  int64_t i = 0;
  for (; i < n; ++i, src += stride) {
    char* const d = first + offset[i] * N;
    char* const stop = first + offset[i + 1] * N;
    if (end - stop < wide) break;
    U value;
    std::memcpy(&value, src, N);
    const Wide copies = value - Wide{};
    std::memcpy(d, &copies, wide);
    for (char* more = d + wide; more < stop; more += wide) std::memcpy(more, &copies, wide);
  }
  dst = first + offset[i] * N;
  return i;
}

// A constant, known number of copies: the compiler turns the loop into shuffles.
template <int N, int R>
inline void store_each(const char* src, int64_t stride, char* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i, src += stride, dst += N * R) {
    char value[N];
    std::memcpy(value, src, N);
    for (int r = 0; r < R; ++r) std::memcpy(dst + r * N, value, N);
  }
}

template <int N>
inline void gather(const int64_t* index, const char* src, int64_t stride, char* dst, int64_t n) {
  for (int64_t o = 0; o < n; ++o) std::memcpy(dst + o * N, src + index[o] * stride, N);
}

template <int N>
void last_axis(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi) {
  const char* const end = dst + (hi - lo) * N;
  if (a.kind == CopyAxis::affine && a.stride != 0) {
    store_each<N, 1>(src + lo * a.stride, a.stride, dst, hi - lo);
  } else if (a.kind == CopyAxis::index) {
    if (a.stride == N) gather<N>(a.offset + lo, src, N, dst, hi - lo);
    else gather<N>(a.offset + lo, src, a.stride, dst, hi - lo);
  } else if (a.kind == CopyAxis::every && a.repeat <= 4 && lo % a.repeat == 0 && hi % a.repeat == 0) {
    const char* from = src + lo / a.repeat * a.stride;
    const int64_t n = (hi - lo) / a.repeat;
    switch (a.repeat * (a.stride == N ? 1 : 10)) {  // a known stride as well lets the loop vectorise
      case 2: return store_each<N, 2>(from, N, dst, n);
      case 3: return store_each<N, 3>(from, N, dst, n);
      case 4: return store_each<N, 4>(from, N, dst, n);
      default:
        for (int64_t i = 0; i < n; ++i) dst = store_run<N>(dst, from + i * a.stride, a.repeat, end);
    }
  } else {
    auto each = [&](int64_t from, int64_t to) {
      each_run(a, from, to, [&](int64_t i, int64_t count) { dst = store_run<N>(dst, src + i * a.stride, count, end); });
    };
    if constexpr (N == 1 || N == 2 || N == 4 || N == 8) {
      if (a.kind == CopyAxis::runs && hi > lo) {
        // The first run may have begun before, and the last may go on after.
        const int64_t* const first = std::upper_bound(a.offset, a.offset + a.n_in + 1, lo);
        const int64_t* const last = std::upper_bound(first, a.offset + a.n_in + 1, hi);
        if (last - first > 1) {
          each(lo, *first);
          const int64_t i = first - a.offset;
          const int64_t done = store_runs<N>(first, last - first - 1, src + i * a.stride, a.stride, dst, end);
          return each(first[done], hi);
        }
      }
    }
    each(lo, hi);
  }
}

inline void last_axis_rows(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi, int64_t run) {
  each_run(a, lo, hi, [&](int64_t i, int64_t count) {
    for (; count > 0; --count, dst += run) std::memcpy(dst, src + i * a.stride, run);
  });
}

inline void last_axis_any(const CopyAxis& a, const char* src, char* dst, int64_t lo, int64_t hi, int64_t run) {
  switch (run) {
    case 1: return last_axis<1>(a, src, dst, lo, hi);
    case 2: return last_axis<2>(a, src, dst, lo, hi);
    case 3: return last_axis<3>(a, src, dst, lo, hi);
    case 4: return last_axis<4>(a, src, dst, lo, hi);
    case 6: return last_axis<6>(a, src, dst, lo, hi);
    case 8: return last_axis<8>(a, src, dst, lo, hi);
    case 12: return last_axis<12>(a, src, dst, lo, hi);
    case 16: return last_axis<16>(a, src, dst, lo, hi);
    case 24: return last_axis<24>(a, src, dst, lo, hi);
    case 32: return last_axis<32>(a, src, dst, lo, hi);
    case 64: return last_axis<64>(a, src, dst, lo, hi);
    case 128: return last_axis<128>(a, src, dst, lo, hi);
    case 256: return last_axis<256>(a, src, dst, lo, hi);
    default: return last_axis_rows(a, src, dst, lo, hi, run);
  }
}

// Writes outputs [lo, hi) of axis k and everything below them; src is the input at index 0 of axis k.
// A small block that repeats is copied from its first copy, still in cache; a large one is built again from the input,
// which is never larger.
inline void fill(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi) {
  if (k == t.n_axes) {
    std::memcpy(dst, src, t.run);
    return;
  }
  const CopyAxis& a = t.axis[k];
  if (k + 1 == t.n_axes) return last_axis_any(a, src, dst, lo, hi, t.run);
  const int64_t size = t.bytes[k + 1], below = t.axis[k + 1].n_out;
  const int64_t cached = tuning.copied_block_bytes;
  each_run(a, lo, hi, [&](int64_t i, int64_t count) {
    char* const first = dst;
    for (int64_t c = 0; c < count; ++c, dst += size) {
      if (c == 0 || size > cached) fill(t, k + 1, src + i * a.stride, dst, 0, below);
      else std::memcpy(dst, first, size);
    }
  });
}

// The same past the caches: what fits a piece is made there, longer runs go straight on.
inline void fill_streamed(const CopyTask& t, int k, const char* src, char* dst, int64_t lo, int64_t hi, Lease& lease) {
  const CopyAxis& a = t.axis[k];
  const int64_t size = t.bytes[k + 1];
  if (size <= tuning.staging_bytes / 2) {
    const int64_t large_staging = 8 * tuning.staging_bytes;  // where each piece's first run must be looked for
    const int64_t room = a.kind == CopyAxis::runs ? large_staging : tuning.staging_bytes;
    char* const staging = lease->staging.get<char>(room);
    int64_t each = room / size;
    if (a.kind == CopyAxis::every && each > a.repeat) each = each / a.repeat * a.repeat;
    for (int64_t o = lo; o < hi; o += each, dst += each * size) {
      const int64_t end = std::min(hi, o + each);
      fill(t, k, src, staging, o, end);
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
        fill_streamed(t, k + 1, src + i * a.stride, dst, 0, t.axis[k + 1].n_out, lease);
    }
  });
}

// Where the index tuple of the axes before k that has this number begins, in input and output.
inline std::pair<const char*, char*> place_of(const CopyTask& t, int k, int64_t number) {
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

// Runs of bytes that are long by themselves: each task copies a part of them to all outputs of the last axis, so that
// the part is read once.
inline void copy_long_runs(const CopyTask& t, int64_t lead, Team team) {
  const CopyAxis& last = t.axis[t.n_axes - 1];
  const int64_t least = std::clamp<int64_t>(tuning.task_bytes, 64, 8 << 10);
  const int64_t part = std::max(least, tuning.task_bytes / last.n_out / 64 * 64), parts = (t.run + part - 1) / part;
  parallel(lead * parts, team, [&](int64_t p) {
    const int64_t from = p % parts * part, n = std::min(part, t.run - from);
    auto [src, dst] = place_of(t, t.n_axes - 1, p / parts);
    src += from, dst += from;
    each_run(last, 0, last.n_out, [&](int64_t i, int64_t count) {
      if (t.stream) stream_copies(dst, src + i * last.stride, n, count, t.run);
      else
        for (int64_t c = 0; c < count; ++c) std::memcpy(dst + c * t.run, src + i * last.stride, n);
      dst += count * t.run;
    });
    store_fence(t.stream);
  });
}

// Tasks are index tuples of the leading axes, and chunks of the axis after them.
void copy(const CopyTask& t, int threads) {
  const int64_t total = t.n_axes ? t.axis[0].n_out * t.bytes[1] : t.run;
  if (total == 0) return;
  const Team team = team_for(total, threads);
  if (total < tuning.parallel_bytes && !t.stream) return fill(t, 0, t.src, t.dst, 0, t.n_axes ? t.axis[0].n_out : 0);
  const int64_t wanted = std::max<int64_t>(64, total / tuning.task_bytes);
  if (t.n_axes == 0) {
    parallel(wanted, team, [&](int64_t p) {
      const int64_t lo = t.run / wanted * p, hi = p + 1 == wanted ? t.run : t.run / wanted * (p + 1);
      if (t.stream) stream_store(t.dst + lo, t.src + lo, hi - lo);
      else std::memcpy(t.dst + lo, t.src + lo, hi - lo);
      store_fence(t.stream);
    });
    return;
  }
  int k = 0;
  int64_t lead = 1;
  while (k + 1 < t.n_axes && lead * t.axis[k].n_out < wanted) lead *= t.axis[k++].n_out;
  if (k + 1 == t.n_axes && t.run > tuning.task_bytes) return copy_long_runs(t, lead, team);
  const CopyAxis& split = t.axis[k];
  const int64_t chunk = std::max<int64_t>(1, split.n_out / std::max<int64_t>(1, wanted / lead));
  const bool short_runs = split.kind == CopyAxis::every && split.repeat < chunk;
  const int64_t aligned = short_runs ? (chunk + split.repeat - 1) / split.repeat * split.repeat : chunk;
  const int64_t chunks = (split.n_out + aligned - 1) / aligned;
  parallel(lead * chunks, team, [&](int64_t p) {
    const int64_t lo = p % chunks * aligned, hi = std::min(split.n_out, lo + aligned);
    auto [src, dst] = place_of(t, k, p / chunks);
    dst += lo * t.bytes[k + 1];
    Lease lease;
    if (t.stream) fill_streamed(t, k, src, dst, lo, hi, lease);
    else fill(t, k, src, dst, lo, hi);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
