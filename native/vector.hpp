// Vectors of the level's width, and the way from each dtype into them and back.
// Included by level.cpp inside the namespace of an instruction set.

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

template <class A>
constexpr int lanes = vector_bytes / int(sizeof(A));
template <class T, int N>
struct VecOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using VecN = typename VecOf<T, N>::type;
template <class A>
using Vec = VecN<A, lanes<A>>;

template <int N>
using Unsigned =
    std::conditional_t<N == 1, uint8_t,
                       std::conditional_t<N == 2, uint16_t, std::conditional_t<N == 4, uint32_t, uint64_t>>>;  // of N
                                                                                                               // bytes

template <class V>
inline V load_bits(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Is any lane of a whole vector's comparison true?
template <class V>
inline bool any(V mask) {
  static_assert(sizeof(V) == vector_bytes);
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
  int64_t bits = 0;
  const VecN<int64_t, 2> both = (VecN<int64_t, 2>)mask;
  for (int l = 0; l < 2; ++l) bits |= both[l];
  return bits != 0;
#endif
}

// sum + x * w, fused where the level has it. Contraction is off (CMakeLists.txt), so this alone decides the rounding,
// and a value comes out the same whichever loop computes it.
template <class A>
inline Vec<A> multiply_add(Vec<A> x, Vec<A> w, Vec<A> sum) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<A, float>) return (Vec<A>)_mm512_fmadd_ps((__m512)x, (__m512)w, (__m512)sum);
  if constexpr (std::is_same_v<A, double>) return (Vec<A>)_mm512_fmadd_pd((__m512d)x, (__m512d)w, (__m512d)sum);
#elif defined(__FMA__)
  if constexpr (std::is_same_v<A, float>) return (Vec<A>)_mm256_fmadd_ps((__m256)x, (__m256)w, (__m256)sum);
  if constexpr (std::is_same_v<A, double>) return (Vec<A>)_mm256_fmadd_pd((__m256d)x, (__m256d)w, (__m256d)sum);
#endif
  return sum + x * w;
}
template <class A>
inline Vec<A> multiply_add(Vec<A> x, A w, Vec<A> sum) {
  return multiply_add<A>(x, w - Vec<A>{}, sum);
}
// sum + x; of integers modulo 2^64, which signed ones do not promise by themselves.
template <class A>
inline Vec<A> add(Vec<A> sum, Vec<A> x) {
  if constexpr (std::is_integral_v<A>) return (Vec<A>)((Vec<uint64_t>)sum + (Vec<uint64_t>)x);
  else return sum + x;
}
template <class A>
inline A add(A sum, A x) {
  if constexpr (std::is_integral_v<A>) return A(uint64_t(sum) + uint64_t(x));
  else return sum + x;
}

template <class A>
inline A multiply_add(A x, A w, A sum) {
#if defined(__FMA__)
  if constexpr (std::is_floating_point_v<A>) return std::fma(x, w, sum);
#endif
  return sum + x * w;
}

// ---- float16 by integer arithmetic, for levels without an instruction for it; exact, subnormals included
template <int N>
inline VecN<float, N> widen_f16(VecN<uint32_t, N> h) {
  const VecN<uint32_t, N> sign = (h & 0x8000u) << 16, body = (h & 0x7fffu) << 13;
  const VecN<float, N> finite = (VecN<float, N>)body * 0x1p112f;
  const VecN<uint32_t, N> special = body | 0x7f800000u;
  return (VecN<float, N>)(((h & 0x7c00u) == 0x7c00u ? special : (VecN<uint32_t, N>)finite) | sign);
}
inline uint16_t narrow_f16(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  const uint32_t sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return uint16_t(sign | 0x7e00u);
  if (u >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // 65520 and above round to infinity
  if (u < 0x38800000u) {  // subnormal: adding 0.5 leaves the rounded result in the low bits
    float f;
    std::memcpy(&f, &u, 4);
    f += 0.5f;
    std::memcpy(&u, &f, 4);
    return uint16_t(sign | (u - 0x3f000000u));
  }
  u += 0xc8000fffu + (u >> 13 & 1u);  // rebias, and round half to even
  return uint16_t(sign | u >> 13);
}

// ---- load: lanes<A> values of T, as A
template <class A, class T>
inline Vec<A> load(const void* p) {
  constexpr int N = lanes<A>;
  if constexpr (std::is_same_v<A, T>) {
    return load_bits<Vec<A>>(p);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return (Vec<A>)(__builtin_convertvector(load_bits<VecN<uint16_t, N>>(p), VecN<uint32_t, N>) << 16);
  } else if constexpr (std::is_same_v<T, f16>) {
#if defined(__AVX512F__)
    return (Vec<A>)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
#elif defined(__F16C__)
    return (Vec<A>)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
#else
    return widen_f16<N>(__builtin_convertvector(load_bits<VecN<uint16_t, N>>(p), VecN<uint32_t, N>));
#endif
#if defined(__AVX512F__)
  } else if constexpr (std::is_same_v<A, float> && std::is_same_v<T, uint8_t>) {
    return (Vec<A>)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p)));
  } else if constexpr (std::is_same_v<A, float> && std::is_same_v<T, uint16_t>) {
    return (Vec<A>)_mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)));
#elif defined(__AVX2__)
  } else if constexpr (std::is_same_v<A, float> && std::is_same_v<T, uint8_t>) {
    return (Vec<A>)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)));
  } else if constexpr (std::is_same_v<A, float> && std::is_same_v<T, uint16_t>) {
    return (Vec<A>)_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)));
#endif
  } else if constexpr (std::is_same_v<A, float>) {  // int8, int16: by way of int32
    return __builtin_convertvector(__builtin_convertvector(load_bits<VecN<T, N>>(p), VecN<int32_t, N>), Vec<A>);
  } else {
    return __builtin_convertvector(load_bits<VecN<T, N>>(p), Vec<A>);
  }
}

// ---- store: round half to even, saturate
template <class T, class A>
inline T saturate(A x) {  // x is a float or double
  if (!(x >= A(std::numeric_limits<T>::min()))) return std::numeric_limits<T>::min();
  if (x >= A(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return T(std::nearbyint(x));
}
template <class A, class T>
inline void store(void* p, Vec<A> v) {
  constexpr int N = lanes<A>;
  if constexpr (std::is_same_v<A, T>) {
    std::memcpy(p, &v, sizeof v);
  } else if constexpr (std::is_same_v<T, bf16>) {
    typedef VecN<uint32_t, N> U;
    const U u = (U)v, rounded = (u + 0x7fffu + (u >> 16 & 1u)) >> 16, quiet = u >> 16 | 0x40u;
    const U r = v != v ? quiet : rounded;
#if defined(__AVX512F__)
    _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16((__m512i)r));
#else
    const VecN<uint16_t, N> h = __builtin_convertvector(r, VecN<uint16_t, N>);
    std::memcpy(p, &h, sizeof h);
#endif
  } else if constexpr (std::is_same_v<T, f16>) {
#if defined(__AVX512F__)
    _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph((__m512)v, 0));
#elif defined(__F16C__)
    _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph((__m256)v, 0));
#else
    uint16_t h[N];
    for (int l = 0; l < N; ++l) h[l] = narrow_f16(v[l]);
    std::memcpy(p, h, sizeof h);
#endif
  } else if constexpr (std::is_same_v<A, int64_t>) {
    T r[N];
    for (int l = 0; l < N; ++l) {
      if constexpr (sizeof(T) == 8) r[l] = T(v[l]);  // sums of 64-bit integers wrap
      else r[l] = T(std::clamp<int64_t>(v[l], std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
    std::memcpy(p, r, sizeof r);
  } else if constexpr (sizeof(T) == 8) {
    T r[N];
    for (int l = 0; l < N; ++l) r[l] = saturate<T>(v[l]);
    std::memcpy(p, r, sizeof r);
  } else {
    // After clamping, adding 1.5 * 2^23 (2^52 in double) leaves the integer, rounded half to even, in the low bits.
    typedef std::conditional_t<std::is_same_v<A, float>, int32_t, int64_t> I;
    typedef VecN<I, N> VI;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<A, float> && std::is_same_v<T, uint8_t>) {  // saturates at 255 by itself
      const __m512i i = _mm512_cvtps_epi32(_mm512_max_ps((__m512)v, _mm512_setzero_ps()));
      _mm_storeu_si128((__m128i*)p, _mm512_cvtusepi32_epi8(i));
      return;
    }
#endif
    constexpr A low = A(std::numeric_limits<T>::min()), high = A(std::numeric_limits<T>::max());
    constexpr A magic = std::is_same_v<A, float> ? A(0x1.8p23) : A(0x1.8p52);
    const Vec<A> lo = low - Vec<A>{}, hi = high - Vec<A>{};
    v = v > lo ? v : lo;
    v = v < hi ? v : hi;
    const Vec<A> shifted = v + magic;
    const VI i = (VI)shifted - (VI)(magic - Vec<A>{});
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<A, float> && sizeof(T) == 1) {
      _mm_storeu_si128((__m128i*)p, _mm512_cvtepi32_epi8((__m512i)i));
      return;
    } else if constexpr (std::is_same_v<A, float> && sizeof(T) == 2) {
      _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16((__m512i)i));
      return;
    }
#endif
    const VecN<T, N> r = __builtin_convertvector(i, VecN<T, N>);
    std::memcpy(p, &r, sizeof r);
  }
}

// ---- the same for the first n < lanes values, touching nothing past them
template <class A, class T>
inline Vec<A> load_part(const void* p, int64_t n) {
  T buffer[lanes<A>] = {};
  std::memcpy(buffer, p, n * sizeof(T));
  return load<A, T>(buffer);
}
template <class A, class T>
inline void store_part(void* p, Vec<A> v, int64_t n) {
  T buffer[lanes<A>];
  store<A, T>(buffer, v);
  std::memcpy(p, buffer, n * sizeof(T));
}
template <class A, class T>
inline A load_one(const void* p) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    return load_part<A, T>(p, 1)[0];
  } else {
    T value;
    std::memcpy(&value, p, sizeof value);
    return A(value);
  }
}

// Transposes squares of H x H values side by side in registers, H vectors; one square of lanes x lanes unless told
// otherwise. Stage s swaps the off-diagonal s x s blocks.
template <class A, int H = lanes<A>>
inline void transpose(Vec<A>* v) {
  constexpr int N = lanes<A>;
  auto stage = [&]<int S, int... l>(std::integral_constant<int, S>, std::integer_sequence<int, l...>)
                   __attribute__((always_inline)) {
                     for (int r = 0; r < H; ++r) {
                       if (r & S) continue;
                       const Vec<A> a = v[r], b = v[r + S];
                       v[r] = __builtin_shufflevector(a, b, (l & S ? N + l - S : l)...);
                       v[r + S] = __builtin_shufflevector(a, b, (l & S ? N + l : l + S)...);
                     }
                   };
  constexpr auto all = std::make_integer_sequence<int, N>{};
  if constexpr (H > 1) stage(std::integral_constant<int, 1>{}, all);
  if constexpr (H > 2) stage(std::integral_constant<int, 2>{}, all);
  if constexpr (H > 4) stage(std::integral_constant<int, 4>{}, all);
  if constexpr (H > 8) stage(std::integral_constant<int, 8>{}, all);
}
