// Results too large for the caches go to memory in whole lines, past the caches: an ordinary store reads the line first
// (read for ownership), which for growing operations is the larger part of the traffic.
#pragma once
#include <algorithm>
#include <utility>

#include "convert-inl.hpp"
#include "workspace.hpp"

namespace tenter {
namespace {

constexpr int64_t line = 64;

// Ahead of a walk that the hardware prefetchers do not foresee, or see begin too late.
inline void prefetch(const char* p, int64_t n) {
  for (int64_t at = 0; at < n; at += line) __builtin_prefetch(p + at);
}

// Whole lines: a line that is written in parts goes out in parts, which takes several times as long. Ends that share
// their line with something else are stored in the ordinary way.
inline void stream_store(void* to, const void* from, int64_t n) {
  char* dst = static_cast<char*>(to);
  const char* src = static_cast<const char*>(from);
  const int64_t head = -reinterpret_cast<intptr_t>(dst) & (line - 1);
  if (streams && n >= head + line) {
    std::memcpy(dst, src, head);
    dst += head, src += head, n -= head;
    for (; n >= line; n -= line, dst += line, src += line)
      for (int k = 0; k < line; k += vector_bytes) stream_bits(dst + k, load_bits<Vec<int64_t>>(src + k));
  }
  std::memcpy(dst, src, n);
}

// `count` copies of n bytes, which begin `pitch` bytes apart; src is read once.
inline void stream_copies(char* dst, const char* src, int64_t n, int64_t count, int64_t pitch) {
  constexpr int64_t cached = 8 << 10;
  for (int64_t at = 0; at < n; at += cached)
    for (int64_t c = 0; c < count; ++c) {
      // Every copy's parts end where its lines do.
      char* const to = dst + c * pitch;
      const int64_t head = -reinterpret_cast<intptr_t>(to) & (line - 1);
      const int64_t lo = at ? std::min(n, at + head) : 0, hi = std::min(n, at + cached + head);
      stream_store(to + lo, src + lo, hi - lo);
    }
}

// Before another thread is told that a task is done.
inline void store_fence(bool stream) {
  if (stream) stream_fence();
}

// n vectors of sums as one of Out.
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

// Can U vectors of sums, as Out at the begin of a line, be streamed by themselves, in whole lines?
template <class Acc, class Out, int U>
constexpr bool whole_lines = U * lanes<Acc> * int(sizeof(Out)) % line == 0;

// U vectors of sums as Out; stream: past the caches if they are whole lines.
template <class Acc, class Out, int U>
inline void store_columns(Out* dst, const Vec<Acc>* sum, bool stream) {
  if constexpr (streams && whole_lines<Acc, Out, U>) {
    if (stream) {
      constexpr int each = int(sizeof(Acc) / sizeof(Out));  // vectors of sums that make a vector of Out
      for (int u = 0; u < U; u += each) {
        if constexpr (std::is_same_v<Acc, Out>) stream_bits(dst + u * lanes<Acc>, (Vec<int64_t>)sum[u]);
        else stream_bits(dst + u * lanes<Acc>, (Vec<int64_t>)concat<Acc, Out, each>(sum + u));
      }
      return;
    }
  }
  for (int u = 0; u < U; ++u) store<Acc, Out>(dst + u * lanes<Acc>, sum[u]);
}

}  // namespace
}  // namespace tenter
