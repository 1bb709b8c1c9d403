// Repeats values by counts that are used once: the copy kernel without a table of offsets.
#pragma once
#include <algorithm>
#include <cstring>

#include "levels/copy-runs-inl.hpp"

namespace tenter {
namespace {

template <int N>
constexpr int64_t outputs_of_store = N == 1 ? 16 : 8;

// Stores the outputs of inputs [0, n). n_out is their number by an earlier reading of the counts, which another thread
// may have changed since. Exactly n_out outputs are stored, whatever the counts are now.
template <int N, int stores, class Count>
void repeat_values(const char* src, const Count* counts, int64_t n, char* dst, int64_t n_out, bool stream,
                   Lease& lease) {
  typedef Unsigned<N> U;
  // A store mostly covers a run, and spills into the next.
  constexpr int64_t W = outputs_of_store<N>, one = W * N, store = one * stores;
  const int64_t staging_bytes = tuning.staging_bytes, longest = std::min(max_stored_run, staging_bytes / N);
  auto count_of = [&](int64_t i) { return uint64_t(int64_t(load_once<Count>(counts + i))); };  // negative: large
  char* const staging = stream ? lease->staging.get<char>(staging_bytes + store) : nullptr;
  for (int64_t i = 0; i < n && n_out > 0;) {
    char* const begin = stream ? staging : dst;
    // The last address of a store: within n_out outputs, and within the staging buffer.
    const char* const last = begin + (stream ? std::min(n_out * N, staging_bytes + store) : n_out * N) - store;
    char* to = begin;
    for (; i < n; ++i) {
      const uint64_t count = count_of(i);
      char* const stop = to + (count & 127) * N;
      if (count > uint64_t(longest) || stop > last) break;
      const auto copies = load_unaligned<U>(src + i * N) - Part<one, U>{};
      for (int k = 0; k < stores; ++k) store_copies<one>(to + k * one, copies);
      for (char* more = to + store; more < stop; more += one) store_copies<one>(more, copies);
      to = stop;
    }
    if (stream) stream_store(dst, staging, to - begin);
    dst += to - begin, n_out -= (to - begin) / N;
    if (i == n) break;
    const uint64_t count = count_of(i);
    if (stream && count <= uint64_t(longest) && int64_t(count) + W * stores <= n_out)
      continue;  // the staging buffer was full
    // A long run, the last few outputs, or a count that has changed.
    const int64_t n_copies = int64_t(std::min(count, uint64_t(n_out)));
    const U value = load_unaligned<U>(src + i * N);
    for (int64_t k = 0; k < n_copies; ++k) std::memcpy(dst + k * N, &value, N);
    dst += n_copies * N, n_out -= n_copies, ++i;
  }
  std::memset(dst, 0, size_t(n_out) * N);  // if counts have become smaller
}

void runs(const RunsTask& t, int threads) {
  const int64_t n_chunks = ceil_div(t.n, t.chunk);
  const Team team = team_for(t.chunk_offset[n_chunks] * t.itemsize + t.n * (t.int32_counts ? 4 : 8), threads);
  parallel(n_chunks, team, [&](int64_t c) {
    const int64_t lo = c * t.chunk, n = std::min(t.chunk, t.n - lo);
    const int64_t offset = t.chunk_offset[c], n_out = t.chunk_offset[c + 1] - offset;
    const char* const src = t.src + lo * t.itemsize;
    char* const dst = t.dst + offset * t.itemsize;
    Lease lease;
    with_constant<1, 2, 4, 8>(t.itemsize, [&]<int N>() {
      with_constant<1, 2, 4>(stores_of(n_out / n, outputs_of_store<N>), [&]<int stores>() {
        auto repeat = [&](const auto* counts) {
          repeat_values<N, stores>(src, counts + lo, n, dst, n_out, t.stream, lease);
        };
        if (t.int32_counts) repeat(static_cast<const int32_t*>(t.counts));
        else repeat(static_cast<const int64_t*>(t.counts));
      });
    });
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
