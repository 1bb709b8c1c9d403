// Copies along axes without a table of source indices. They are computed for a chunk of outputs at a time.
#pragma once
#include <algorithm>
#include <cstring>

#include "levels/copy-axes-inl.hpp"
#include "levels/indices-inl.hpp"
#include "levels/stream-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// A vector of outputs of N bytes each, whose inputs are close together: permuted from one or two vectors of inputs.
template <int N>
struct Permuted {
  static constexpr int outputs = 0;  // in a vector; 0: this level has no such permutation
};

template <int N, class T>
struct PermutedWords {
  static constexpr int outputs = permutable<T> ? lanes<T> : 0, inputs = lanes<T>;
  static Places<T> places(const int32_t* index, int32_t first) {
    typedef VecN<int32_t, lanes<T>> Indices;
    return tenter::places<T>(__builtin_convertvector(load_unaligned<Indices>(index) - first, Index<T>));
  }
  static void one(const int32_t* index, const char* src, char* dst) {
    store_bits(dst, permute<T>(load_unaligned<Vec<T>>(src + int64_t(index[0]) * N), places(index, index[0])));
  }
  static void two(const int32_t* index, const char* src, char* dst) {
    const char* const from = src + int64_t(index[0]) * N;
    const Vec<T> a = load_unaligned<Vec<T>>(from), b = load_unaligned<Vec<T>>(from + vector_bytes);
    store_bits(dst, permute<T>(a, b, places(index, index[0])));
  }
};
template <>
struct Permuted<4> : PermutedWords<4, float> {};
template <>
struct Permuted<8> : PermutedWords<8, double> {};

// 16 bytes at a time, because wider byte shuffles do not cross lanes of 16 bytes.
template <int N>
struct PermutedBytes {
  static constexpr int outputs = permutable<uint8_t> ? 16 / N : 0, inputs = 16 / N;
  typedef Sixteen Bytes;
  static Bytes places(const int32_t* index) {
    const auto place = load_unaligned<VecN<int32_t, outputs>>(index) - index[0];
    if constexpr (N == 1) {
      return __builtin_convertvector(place, Bytes);
    } else {
      const auto pairs = __builtin_convertvector(place, VecN<uint16_t, 8>);
      return (Bytes)(pairs * uint16_t(0x0202) + uint16_t(0x0100));
    }
  }
  static void one(const int32_t* index, const char* src, char* dst) {
    store_bits(dst, permute_bytes(load_unaligned<Bytes>(src + int64_t(index[0]) * N), places(index)));
  }
  static void two(const int32_t* index, const char* src, char* dst) {
    const char* const from = src + int64_t(index[0]) * N;
    store_bits(dst, permute_bytes(load_unaligned<Bytes>(from), load_unaligned<Bytes>(from + 16), places(index)));
  }
};
template <>
struct Permuted<1> : PermutedBytes<1> {};

#if !defined(__AVX512BW__)
template <>
struct Permuted<2> : PermutedBytes<2> {};
#else
template <>
struct Permuted<2> {
  static constexpr int outputs = 32, inputs = 32;
  static __m512i places(const int32_t* index) {
    const __m512i first = _mm512_set1_epi32(index[0]);
    const __m512i low = _mm512_sub_epi32(_mm512_loadu_si512(index), first);
    const __m512i high = _mm512_sub_epi32(_mm512_loadu_si512(index + 16), first);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(low)), _mm512_cvtepi32_epi16(high), 1);
  }
  static void one(const int32_t* index, const char* src, char* dst) {
    const __m512i a = _mm512_loadu_si512(src + int64_t(index[0]) * 2);
    _mm512_storeu_si512(dst, _mm512_permutexvar_epi16(places(index), a));
  }
  static void two(const int32_t* index, const char* src, char* dst) {
    const char* const from = src + int64_t(index[0]) * 2;
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 64);
    _mm512_storeu_si512(dst, _mm512_permutex2var_epi16(a, places(index), b));
  }
};
#endif

// Copies n elements of N bytes by ascending indices. room: how many elements from src on are in memory.
template <int N>
inline void copy_elements(const int32_t* index, int64_t n, int64_t room, const char* src, int64_t stride, char* dst) {
  typedef Permuted<N> P;
  int64_t o = 0;
  if constexpr (P::outputs > 0) {
    if (stride == N) {
      // The average distance of indices decides once which loop runs. The loop then checks each vector, and copies one
      // that does not fit element by element.
      const int64_t reach = (int64_t(index[n - 1]) - index[0] + 1) * P::outputs / n;
      auto run = [&](int inputs, auto&& vector) __attribute__((always_inline)) {
        for (; o + P::outputs <= n; o += P::outputs) {
          if (index[o] + inputs > room || index[o + P::outputs - 1] - index[o] >= inputs) {
            for (int k = 0; k < P::outputs; ++k) std::memcpy(dst + (o + k) * N, src + int64_t(index[o + k]) * N, N);
            continue;
          }
          vector(index + o, src, dst + o * N);
        }
      };
      if (reach + 2 <= P::inputs) run(P::inputs, P::one);
      else if (reach + 2 <= 2 * P::inputs) run(2 * P::inputs, P::two);
    }
    if (stride == N) {
      for (; o < n; ++o) std::memcpy(dst + o * N, src + int64_t(index[o]) * N, N);
      return;
    }
  }
  for (; o < n; ++o) std::memcpy(dst + o * N, src + int64_t(index[o]) * stride, N);
}

// Copies along the last axis, by source indices. Returns false for sizes of elements without a loop.
inline bool copy_values(const int32_t* index, int64_t n, int64_t room, const char* src, int64_t stride, int64_t run,
                        char* dst) {
  return with_constant<1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64>(
      run, [&]<int N>() { copy_elements<N>(index, n, room, src, stride, dst); });
}

// A task is a chunk of outputs of axis k, for some index tuples of the axes before it.
void copy_indexed(const CopyTask& t, int k, const SourceIndex& p, int threads) {
  const CopyAxis& axis = t.axis[k];
  const int64_t size = t.bytes[k + 1], total = t.n_axes ? t.axis[0].n_out * t.bytes[1] : 0;
  if (total == 0) return;
  int64_t n_leading = 1;
  for (int j = 0; j < k; ++j) n_leading *= t.axis[j].n_out;
  if (axis.n_out <= most_flat && n_leading > 1) {  // a chunk would have more outputs than the axis
    int64_t table[most_flat];
    p.index(0, axis.n_out, table);
    CopyTask by_table = t;
    by_table.axis[k] = {CopyAxis::index, axis.n_in, axis.n_out, axis.stride, 1, table};
    return kernels().copy(by_table, threads);
  }
  const int64_t chunk = std::clamp<int64_t>(tuning.task_bytes / size, 1, tuning.index_outputs);
  const int64_t n_chunks = ceil_div(axis.n_out, chunk);
  // With several chunks, a task makes one row: writing memory in order saves more time than reusing indices for several
  // rows.
  const Team team = team_for(total, threads);
  const int64_t group = n_chunks > 1 ? 1 : ceil_div(n_leading, least_tasks(total, team));
  const int64_t n_groups = ceil_div(n_leading, group);
  const bool values = k + 1 == t.n_axes;
  CopyTask rest = t;
  rest.n_axes = t.n_axes - k;
  for (int j = k; j < t.n_axes; ++j) rest.axis[j - k] = t.axis[j];
  for (int j = k; j <= t.n_axes; ++j) rest.bytes[j - k] = t.bytes[j];
  auto make = [&](int64_t lo, int64_t hi, int64_t from, int64_t to, Lease& lease) {
    int32_t* const index = lease->index.get<int32_t>(hi - lo);
    int64_t base, n;
    for (; lo < hi; lo += n) {
      n = indices_of(p, lo, hi - lo, index, base);
      // Outputs in the padding of a periodic axis read inputs in any order.
      const bool in_padding = !p.is_inside(lo, lo + n);
      CopyTask part;
      int64_t* table = nullptr;
      for (int64_t number = from; number < to; ++number) {
        auto [src, dst] = address_of(t, k, number);
        dst += lo * size, src += in_padding ? 0 : base * axis.stride;
        if (values && !in_padding) {
          const int64_t room = axis.n_in - base;
          if (!t.stream) {
            if (copy_values(index, n, room, src, axis.stride, t.run, dst)) continue;
          } else if (t.run <= max_indexed_run) {
            const int64_t some = std::max<int64_t>(1, tuning.staging_bytes / t.run);
            char* const staging = lease->staging.get<char>(some * t.run);
            bool done = false;
            for (int64_t o = 0; o < n; o += some) {
              const int64_t m = std::min(some, n - o);
              done = copy_values(index + o, m, room, src, axis.stride, t.run, staging);
              if (!done) break;
              stream_store(dst + o * t.run, staging, m * t.run);
            }
            if (done) continue;
          }
        }
        if (!table) {
          table = lease->table.get<int64_t>(n);
          for (int64_t o = 0; o < n; ++o) table[o] = in_padding ? folded(base + index[o], axis.n_in, p.edge) : index[o];
          part = rest;
          part.axis[0] = {CopyAxis::index, axis.n_in, n, axis.stride, 1, table};
        }
        part.src = src, part.dst = dst;
        kernels().copy(part, 1);
      }
    }
  };
  parallel(n_chunks * n_groups, team, [&](int64_t task) {
    const int64_t lo = task % n_chunks * chunk, from = task / n_chunks * group;
    Lease lease;
    make(lo, std::min(axis.n_out, lo + chunk), from, std::min(n_leading, from + group), lease);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
