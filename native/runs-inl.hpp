// Values as often as the caller's counts say: the copy kernel for counts that are used once, with nothing written but
// the result.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernels.hpp"
#include "stream-inl.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

// Inputs [0, n) with room for `room` outputs at dst. The counts were summed a moment ago and another thread may have
// changed them since: whatever they are now, all of the room is written and nothing else.
template <int N, class C>
void runs_of(const char* src, const C* counts, int64_t n, char* dst, int64_t room, bool stream, Lease& lease) {
  typedef Unsigned<N> U;
  constexpr int64_t W = N == 1 ? 16 : 8;  // outputs of one store, which mostly covers a run and spills into the next
  typedef U Wide __attribute__((vector_size(W * N)));
  constexpr int64_t store = W * N;
  const int64_t staging_bytes = tuning.staging_bytes, longest = std::min<int64_t>(64, staging_bytes / N);
  auto now = [&](int64_t i) {
    C count;
    std::memcpy(&count, counts + i, sizeof count);
    asm volatile("" : "+r"(count));  // read once: what is checked is what is used
    return uint64_t(int64_t(count));
  };
  char* const staging = stream ? lease->staging.get<char>(staging_bytes + store) : nullptr;
  for (int64_t i = 0; i < n && room > 0;) {
    char* const begin = stream ? staging : dst;
    // What a store may reach: the end of the room, and in a piece no further than its slack.
    const char* const last = begin + (stream ? std::min(room * N, staging_bytes + store) : room * N) - store;
    char* at = begin;
    for (; i < n; ++i) {
      const uint64_t count = now(i);
      char* const stop = at + (count & 127) * N;
      if (count > uint64_t(longest) || stop > last) break;
      U value;
      std::memcpy(&value, src + i * N, N);
      const Wide copies = value - Wide{};
      std::memcpy(at, &copies, store);
      for (char* more = at + store; more < stop; more += store) std::memcpy(more, &copies, store);
      at = stop;
    }
    if (stream) stream_store(dst, staging, at - begin);
    dst += at - begin, room -= (at - begin) / N;
    if (i == n) break;
    const uint64_t count = now(i);
    if (stream && count <= uint64_t(longest) && int64_t(count) + W <= room) continue;  // the piece was full
    // A long run, the last few outputs, or a count that is not what it was.
    const int64_t some = int64_t(std::min(count, uint64_t(room)));
    U value;
    std::memcpy(&value, src + i * N, N);
    for (int64_t k = 0; k < some; ++k) std::memcpy(dst + k * N, &value, N);
    dst += some * N, room -= some, ++i;
  }
  std::memset(dst, 0, size_t(room) * N);  // of counts that have become smaller
}

void runs(const RunsTask& t, int threads) {
  const int64_t n_chunks = (t.n + t.chunk - 1) / t.chunk;
  const Team team = team_for(t.before[n_chunks] * t.bytes + t.n * (t.narrow ? 4 : 8), threads);
  parallel(n_chunks, team, [&](int64_t c) {
    const int64_t lo = c * t.chunk, n = std::min(t.chunk, t.n - lo), room = t.before[c + 1] - t.before[c];
    const char* const src = t.src + lo * t.bytes;
    char* const dst = t.dst + t.before[c] * t.bytes;
    Lease lease;
    auto with = [&]<int N>() {
      if (t.narrow) runs_of<N>(src, static_cast<const int32_t*>(t.counts) + lo, n, dst, room, t.stream, lease);
      else runs_of<N>(src, static_cast<const int64_t*>(t.counts) + lo, n, dst, room, t.stream, lease);
    };
    switch (t.bytes) {
      case 1: with.template operator()<1>(); break;
      case 2: with.template operator()<2>(); break;
      case 4: with.template operator()<4>(); break;
      default: with.template operator()<8>();
    }
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
