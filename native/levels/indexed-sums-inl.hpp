// Transposes of indexed copies along one contiguous axis. An input of the copy gets the sum of the run of outputs that
// read it. The runs are computed for a chunk of inputs at a time.
#pragma once
#include <algorithm>
#include <cstring>

#include "levels/axis-inl.hpp"
#include "levels/indices-inl.hpp"

namespace tenter {
namespace {

// Stores where runs begin among n indices, and returns how many runs there are. Within a run each index is `rise` (0 or
// 1) above the one before it. `start` needs space for one vector more.
template <int rise>
inline int64_t run_starts(const int32_t* index, int64_t n, int32_t* start) {
  int64_t runs = 0, o = 1;
  start[runs++] = 0;
#if defined(__AVX512F__)
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (; o + 16 <= n; o += 16) {
    const __m512i before = _mm512_add_epi32(_mm512_loadu_si512(index + o - 1), _mm512_set1_epi32(rise));
    const __mmask16 begins = _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(index + o), before);
    const __m512i at = _mm512_add_epi32(_mm512_set1_epi32(int32_t(o)), lane);
    _mm512_storeu_si512(start + runs, _mm512_maskz_compress_epi32(begins, at));
    runs += __builtin_popcount(begins);
  }
#endif
  for (; o < n; ++o) {
    start[runs] = int32_t(o);
    runs += index[o] != index[o - 1] + rise;
  }
  return runs;
}

// Moves n_out values to their places among n; all other places are zero. run_starts<1> gives the runs of values whose
// places are adjacent. A run is stored in whole vectors; the zeros and the next run overwrite what spills.
template <class T>
void place_runs(const int32_t* index, int64_t n_out, const int32_t* start, int64_t n_runs, int64_t n, const char* src,
                T* dst) {
  constexpr int64_t size = sizeof(T), N = vector_bytes / size;
  typedef VecN<uint8_t, vector_bytes> Bytes;
  int64_t at = 0, r = 0;  // at: the first place that is not written
  auto end_of = [&](int64_t run) { return run + 1 < n_runs ? start[run + 1] : int32_t(n_out); };
  for (; r < n_runs; ++r) {
    const int64_t begin = start[r], count = end_of(r) - begin, to = index[begin];
    if (to + count + N > n || begin + count + N > n_out) break;
    for (; at < to; at += N) store_bits(dst + at, Bytes{});
    const char* const from = src + begin * size;
    for (int64_t k = 0; k < count; k += N) store_bits(dst + to + k, load_unaligned<Bytes>(from + k * size));
    at = to + count;
  }
  std::fill(dst + at, dst + n, T{});
  for (; r < n_runs; ++r)
    std::memcpy(dst + index[start[r]], src + start[r] * size, size_t((end_of(r) - start[r]) * size));
}

template <class Acc, class T>
inline void sum_run(const char* src, int64_t n, T* dst) {
  Acc sum = n ? load_one<Acc, T>(src) : Acc(0);
  for (int64_t k = 1; k < n; ++k) sum += load_one<Acc, T>(src + k * int64_t(sizeof(T)));
  if constexpr (std::is_same_v<Acc, T>) *dst = sum;
  else store_masked<Acc, T>(dst, sum - Vec<Acc>{}, 1);
}

// Sums the runs of n inputs. Each has up to `longest` outputs: those of input i begin at start[i] and end at start[i +
// 1]. `room` outputs from src on are in memory.
template <class Acc, class T>
void sum_runs(const int32_t* start, int64_t n, int32_t longest, const char* src, int64_t room, T* dst) {
  constexpr int N = lanes<Acc>;
  constexpr int64_t size = sizeof(T);
  int64_t i = 0;
  if constexpr (permutable<Acc>) {
    typedef VecN<int32_t, N> Starts;
    // vectors: how many vectors of outputs a vector of inputs reads.
    auto run = [&]<int vectors>() __attribute__((always_inline)) {
      for (; i + N <= n; i += N) {
        const int32_t first = start[i];
        if (start[i + N - 1] - first + longest > vectors * N || first + vectors * N > room) return;
        const Starts begin = load_unaligned<Starts>(start + i), end = load_unaligned<Starts>(start + i + 1);
        const Index<Acc> count = __builtin_convertvector(end - begin, Index<Acc>),
                         place = __builtin_convertvector(begin - first, Index<Acc>);
        const char* const from = src + first * size;
        Vec<Acc> held[vectors];
        for (int v = 0; v < vectors; ++v) held[v] = load<Acc, T>(from + v * N * size);
        auto tap = [&](int k) __attribute__((always_inline)) {
          const Index<Acc> at = place + k;
          if constexpr (vectors == 1) return permute<Acc>(held[0], places<Acc>(at));
          Vec<Acc> found = permute<Acc>(held[0], held[1 % vectors], places<Acc>(at));
          for (int v = 2; v < vectors; v += 2)
            found = at < v * N ? found : permute<Acc>(held[v], held[v + 1], places<Acc>(at - v * N));
          return found;
        };
        Vec<Acc> sum = tap(0);
        sum = count > 0 ? sum : Vec<Acc>{};
        for (int k = 1; k < longest; ++k) sum = count > k ? sum + tap(k) : sum;
        store<Acc, T>(dst + i, sum);
      }
    };
    const int64_t reach = (int64_t(start[n]) - start[0]) * N / n + longest + 1;
    while (i + N <= n) {
      if (reach <= N) run.template operator()<1>();
      else if (reach <= 2 * N) run.template operator()<2>();
      else if (reach <= 4 * N) run.template operator()<4>();
      else if (reach <= 8 * N) run.template operator()<8>();
      // These runs are too far apart for permutations, or are at the end of the outputs.
      for (const int64_t end = std::min(n, i + N); i < end; ++i)
        sum_run<Acc, T>(src + start[i] * size, start[i + 1] - start[i], dst + i);
    }
  }
  for (; i < n; ++i) sum_run<Acc, T>(src + start[i] * size, start[i + 1] - start[i], dst + i);
}

// Stores the inputs of outputs [from, from + n_out), less lo, in `index`, and in `start` where the run of each of n
// inputs from lo on begins. Returns false, without `start`, if no input has two outputs.
inline bool runs_of_chunk(const SourceIndex& p, int64_t lo, int64_t n, int64_t from, int64_t n_out, int32_t* index,
                          int32_t* start) {
  int64_t base;
  for (int64_t o = 0, some; o < n_out; o += some) {
    some = indices_of(p, from + o, n_out - o, index + o, base);
    for (int64_t k = o; k < o + some; ++k) index[k] += int32_t(base - lo);
  }
  if (n_out <= n) {
    int32_t least = 1;  // difference of neighbors
    for (int64_t k = 1; k < n_out; ++k) least = std::min(least, index[k] - index[k - 1]);
    if (least > 0) return false;
  }
  if (n > n_out || run_starts<0>(index, n_out, start) != n) {  // some inputs have no outputs
    std::fill(start, start + n + 1, 0);
    for (int64_t k = 0; k < n_out; ++k) start[index[k] + 1] = int32_t(k + 1);
    for (int64_t i = 1; i <= n; ++i) start[i] = std::max(start[i], start[i - 1]);
  }
  start[n] = int32_t(n_out);
  return true;
}

template <class Acc, class T>
void sum_indexed_as(const WindowTask& t, const SourceIndex& p, Team team) {
  const int64_t rows = outer_count(t) * t.n_row, n_in = p.n_in;
  if (rows == 0 || n_in == 0) return;
  constexpr int64_t most_inputs = 8;  // chunks with few outputs have up to so many times tuning.index_outputs inputs
  const int64_t chunk = std::clamp<int64_t>(int64_t(double(n_in) / double(p.n_out) * double(tuning.index_outputs)), 1,
                                            (p.n_out < n_in / 2 ? most_inputs : 1) * tuning.index_outputs);
  const int64_t n_chunks = ceil_div(n_in, chunk);
  const int64_t bytes = rows * (n_in + p.n_out) * int64_t(sizeof(T));
  const int64_t group = ceil_div(rows, ceil_div(least_tasks(bytes, team), n_chunks));
  parallel(n_chunks * ceil_div(rows, group), team, [&](int64_t task) {
    const int64_t lo = task % n_chunks * chunk, hi = std::min(n_in, lo + chunk), n = hi - lo;
    const int64_t from = p.first_of(lo), n_out = p.first_of(hi) - from;
    Lease lease;
    int32_t* const index = lease->index.get<int32_t>(n_out + n + 1 + 32);
    int32_t* const start = index + n_out;
    int32_t longest = 0;
    int64_t together = 0;  // how many runs of outputs have adjacent inputs, if these runs are long
    const bool apart = !runs_of_chunk(p, lo, n, from, n_out, index, start);
    for (int64_t i = 0; i < n && !apart; ++i) longest = std::max(longest, start[i + 1] - start[i]);
    if (apart && n_out > 4 * (n - n_out)) together = run_starts<1>(index, n_out, start);
    T* const staging = t.stream ? lease->staging.get<T>(n) : nullptr;
    for (int64_t row = task / n_chunks * group, end = std::min(rows, row + group); row < end; ++row) {
      const char* const src =
          t.src + outer_offset(t, row / t.n_row) + row % t.n_row * t.row_stride + from * int64_t(sizeof(T));
      T* const dst = reinterpret_cast<T*>(t.dst) + row * n_in + lo;
      T* const to = t.stream ? staging : dst;
      if (together) {
        place_runs(index, n_out, start, together, n, src, to);
      } else if (apart) {
        std::memset(to, 0, size_t(n) * sizeof(T));
        for (int64_t k = 0; k < n_out; ++k) std::memcpy(to + index[k], src + k * int64_t(sizeof(T)), sizeof(T));
      } else {
        sum_runs<Acc, T>(start, n, longest, src, p.n_out - from, to);
      }
      if (t.stream) stream_store(dst, staging, n * int64_t(sizeof(T)));
    }
    store_fence(t.stream);
  });
}

void sum_indexed(const WindowTask& t, const SourceIndex& p, int threads) {
  const int64_t values = outer_count(t) * t.n_row * std::max(p.n_in, p.n_out);
  const Team team = team_for(values * 8, threads);
  switch (t.in) {
    case Dtype::f32: return sum_indexed_as<float, float>(t, p, team);
    case Dtype::f64: return sum_indexed_as<double, double>(t, p, team);
    case Dtype::f16: return sum_indexed_as<float, f16>(t, p, team);
    default: return sum_indexed_as<float, bf16>(t, p, team);
  }
}

}  // namespace
}  // namespace tenter
