// Streaming stores: results too large for the caches are written to memory in whole cache lines. An ordinary store
// reads the line first (read-for-ownership), which for growing operations is the larger part of the traffic.
#pragma once
#include <algorithm>
#include <utility>

#include "levels/convert-inl.hpp"
#include "system/tuning.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

constexpr int64_t line = 64;

// For access patterns that the hardware prefetchers miss, or detect too late.
inline void prefetch(const char* p, int64_t n) {
  for (int64_t at = 0; at < n; at += line) __builtin_prefetch(p + at);
}

inline int64_t bytes_to_line(const void* p) { return -reinterpret_cast<intptr_t>(p) & (line - 1); }

// Streams only whole lines: hardware sends a line that is written in pieces in pieces, which takes several times as
// long. Ordinary stores write the first and last bytes, which share their line with other data.
inline void stream_store(void* to, const void* from, int64_t n) {
  char* dst = static_cast<char*>(to);
  const char* src = static_cast<const char*>(from);
  const int64_t head = bytes_to_line(dst);
  if (can_stream && n >= head + line) {
    std::memcpy(dst, src, head);
    dst += head, src += head, n -= head;
    for (; n >= line; n -= line, dst += line, src += line)
      for (int k = 0; k < line; k += vector_bytes) stream_bits(dst + k, load_unaligned<Vec<int64_t>>(src + k));
  }
  std::memcpy(dst, src, n);
}

// `count` copies of n bytes, `pitch` bytes apart; src is read from memory once.
inline void stream_copies(char* dst, const char* src, int64_t n, int64_t count, int64_t pitch) {
  for (int64_t at = 0; at < n; at += stream_part)
    for (int64_t c = 0; c < count; ++c) {
      char* const to = dst + c * pitch;
      const int64_t head = bytes_to_line(to);  // so that a chunk of a copy ends at the end of a line
      const int64_t lo = at ? std::min(n, at + head) : 0, hi = std::min(n, at + stream_part + head);
      stream_store(to + lo, src + lo, hi - lo);
    }
}

// At the end of a task, before other threads see its completion.
inline void store_fence(bool stream) {
  if (stream) stream_fence();
}

// Converts n vectors of sums to one vector of Out.
template <class Acc, class Out, int n>
inline auto concat(const Vec<Acc>* sum) {
  typedef VecN<Unsigned<sizeof(Out)>, n * lanes<Acc>> Part;
  if constexpr (n == 1) {
    Part part;
    store<Acc, Out>(&part, sum[0]);
    return part;
  } else {
    const auto a = concat<Acc, Out, n / 2>(sum), b = concat<Acc, Out, n / 2>(sum + n / 2);
    return [&]<int... l>(std::integer_sequence<int, l...>) {
      return (Part)__builtin_shufflevector(a, b, l...);
    }(std::make_integer_sequence<int, n * lanes<Acc>>{});
  }
}

// Whether U vectors of sums, converted to Out, are whole lines, so that they can be streamed without a staging buffer.
template <class Acc, class Out, int U>
constexpr bool whole_lines = U * lanes<Acc> * int(sizeof(Out)) % line == 0;

// Stores U vectors of sums as Out. stream: with streaming stores, if they are whole lines; dst is then aligned to one.
template <class Acc, class Out, int U>
inline void store_columns(Out* dst, const Vec<Acc>* sum, bool stream) {
  if constexpr (can_stream && whole_lines<Acc, Out, U>) {
    if (stream) {
      constexpr int n = int(sizeof(Acc) / sizeof(Out));  // vectors of sums in a vector of Out
      for (int u = 0; u < U; u += n) {
        if constexpr (std::is_same_v<Acc, Out>) stream_bits(dst + u * lanes<Acc>, (Vec<int64_t>)sum[u]);
        else stream_bits(dst + u * lanes<Acc>, (Vec<int64_t>)concat<Acc, Out, n>(sum + u));
      }
      return;
    }
  }
  for (int u = 0; u < U; ++u) store<Acc, Out>(dst + u * lanes<Acc>, sum[u]);
}

}  // namespace
}  // namespace tenter
