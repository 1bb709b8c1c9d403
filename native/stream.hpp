// Results too large for the caches go to memory in whole lines, past the caches: otherwise each line is read first.
// Included by level.cpp inside the namespace of an instruction set.

// Into cache, for what is read soon: ahead of a walk that the machine does not foresee, or sees begin too late.
inline void fetch(const char* p, int64_t n) {
  for (int64_t at = 0; at < n; at += 64) __builtin_prefetch(p + at);
}

// Lines, not vectors: a line that is written in parts goes out in parts, which takes several times as long. Ends that
// share their line with something else are stored in the ordinary way.
inline void put(void* to, const void* from, int64_t n) {
  char* dst = static_cast<char*>(to);
  const char* src = static_cast<const char*>(from);
#if defined(__SSE2__) && !defined(TENTER_VERIFY)  // sanitizers do not see streaming stores
  constexpr int64_t line = 64;
  const int64_t head = -reinterpret_cast<intptr_t>(dst) & (line - 1);
  if (n < head + line) {
    std::memcpy(dst, src, n);
    return;
  }
  std::memcpy(dst, src, head);
  dst += head, src += head, n -= head;
  for (; n >= line; n -= line, dst += line, src += line) {
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i*)dst, _mm512_loadu_si512(src));
#elif defined(__AVX2__)
    for (int k = 0; k < 64; k += 32) _mm256_stream_si256((__m256i*)(dst + k), _mm256_loadu_si256((__m256i*)(src + k)));
#else
    for (int k = 0; k < 64; k += 16) _mm_stream_si128((__m128i*)(dst + k), _mm_loadu_si128((__m128i*)(src + k)));
#endif
  }
#endif
  std::memcpy(dst, src, n);
}

// A vector that is a line, or part of one whose rest is stored next.
template <class V>
inline void put_vector(void* p, V v) {
#if defined(__SSE2__) && !defined(TENTER_VERIFY)
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) _mm512_stream_si512((__m512i*)p, (__m512i)v);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) _mm256_stream_si256((__m256i*)p, (__m256i)v);
#endif
  if constexpr (sizeof(V) == 16) _mm_stream_si128((__m128i*)p, (__m128i)v);
#else
  std::memcpy(p, &v, sizeof v);
#endif
}

// n vectors of sums as vectors of D, joined until they are whole.
template <class A, class D, int n>
inline auto joined(const Vec<A>* sum) {
  typedef VecN<Unsigned<sizeof(D)>, n * lanes<A>> Part;
  if constexpr (n == 1) {
    Part part;
    store<A, D>(&part, sum[0]);
    return part;
  } else {
    const auto a = joined<A, D, n / 2>(sum), b = joined<A, D, n / 2>(sum + n / 2);
    return [&]<int... l>(std::integer_sequence<int, l...>) {
      return (Part)__builtin_shufflevector(a, b, l...);
    }(std::make_integer_sequence<int, n * lanes<A>>{});
  }
}

// Can U vectors of sums, as D at the begin of a line, go past the caches by themselves, in whole lines?
template <class A, class D, int U>
constexpr bool whole_lines = U * lanes<A> * int(sizeof(D)) % 64 == 0;

// U vectors of sums as D; stream: past the caches if they are whole lines.
template <class A, class D, int U>
inline void store_columns(D* dst, const Vec<A>* sum, bool stream) {
  if constexpr (whole_lines<A, D, U>) {
    if (stream) {
      constexpr int each = int(sizeof(A) / sizeof(D));  // vectors of sums that make a vector of D
      for (int u = 0; u < U; u += each) {
        if constexpr (std::is_same_v<A, D>) put_vector(dst + u * lanes<A>, sum[u]);
        else put_vector(dst + u * lanes<A>, joined<A, D, each>(sum + u));
      }
      return;
    }
  }
  for (int u = 0; u < U; ++u) store<A, D>(dst + u * lanes<A>, sum[u]);
}

// Before another thread is told that a task is done.
inline void settle(bool stream) {
#if defined(__SSE2__)
  if (stream) _mm_sfence();
#else
  (void)stream;
#endif
}

// `count` copies of n bytes, which begin `pitch` bytes apart; src is read once.
inline void put_copies(char* dst, const char* src, int64_t n, int64_t count, int64_t pitch) {
  constexpr int64_t cached = 8 << 10;
  for (int64_t at = 0; at < n; at += cached)
    for (int64_t c = 0; c < count; ++c) {
      // Every copy's pieces end where its lines do.
      char* const to = dst + c * pitch;
      const int64_t head = -reinterpret_cast<intptr_t>(to) & 63;
      const int64_t lo = at ? std::min(n, at + head) : 0, hi = std::min(n, at + cached + head);
      put(to + lo, src + lo, hi - lo);
    }
}
