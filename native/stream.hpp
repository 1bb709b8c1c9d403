// Results too large for the caches go to memory in whole lines, past the caches: otherwise each line is read first.
// Included by level.cpp inside the namespace of an instruction set.

// Kernels make such results here, a piece at a time, and put them where they belong.
constexpr int64_t piece_bytes = 8 << 10;

// Scratch memory of this thread, kept between tasks; given back when it was large.
struct Scratch {
  void* p = nullptr;
  size_t size = 0;
  ~Scratch() { std::free(p); }
  template <class A>
  A* get(int64_t n) {
    const size_t need = (size_t(n) * sizeof(A) + 63) / 64 * 64;
    if (need > size) {
      std::free(p);
      size = 0;
      p = std::aligned_alloc(64, need);
      if (!p) throw std::bad_alloc();
      size = need;
    }
    return static_cast<A*>(p);
  }
  void trim() {
    if (size <= (4u << 20)) return;
    std::free(p);
    p = nullptr;
    size = 0;
  }
};
thread_local Scratch piece_scratch;

// Lines, not vectors: a line that is written in parts goes out in parts, which takes several times as long. Ends that
// share their line with something else are stored in the ordinary way.
inline void put(void* to, const void* from, int64_t n) {
  char* dst = static_cast<char*>(to);
  const char* src = static_cast<const char*>(from);
#if defined(__SSE2__)
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

// Before anybody else is told that a task is done.
inline void settle(bool stream) {
#if defined(__SSE2__)
  if (stream) _mm_sfence();
#else
  (void)stream;
#endif
}

// `count` copies of n bytes, one after another; src is read once.
inline void put_copies(char* dst, const char* src, int64_t n, int64_t count) {
  constexpr int64_t cached = 8 << 10;
  for (int64_t at = 0; at < n; at += cached)
    for (int64_t c = 0; c < count; ++c) {
      // Every copy's pieces end where its lines do.
      char* const to = dst + c * n;
      const int64_t head = -reinterpret_cast<intptr_t>(to) & 63;
      const int64_t lo = at ? std::min(n, at + head) : 0, hi = std::min(n, at + cached + head);
      put(to + lo, src + lo, hi - lo);
    }
}
