// Along the fastest axis where it grows or shrinks little: permuted inputs * weights, a vector of outputs at a time.
// Included by level.cpp inside the namespace of an instruction set.

#if defined(__AVX512F__)
template <class A>
constexpr bool permutable = std::is_floating_point_v<A>;
#elif defined(__AVX2__)
template <class A>
constexpr bool permutable = std::is_same_v<A, float>;
#else
template <class A>
constexpr bool permutable = false;
#endif

template <class A>
using Index = Vec<std::conditional_t<sizeof(A) == 4, int32_t, int64_t>>;

// Lane l gets value index[l] of a; of a and b one after another.
template <class A>
inline Vec<A> permute(Vec<A> a, Index<A> index) {
#if defined(__AVX512F__)
  if constexpr (sizeof(A) == 4) return (Vec<A>)_mm512_permutexvar_ps((__m512i)index, (__m512)a);
  else return (Vec<A>)_mm512_permutexvar_pd((__m512i)index, (__m512d)a);
#elif defined(__AVX2__)
  return (Vec<A>)_mm256_permutevar8x32_ps((__m256)a, (__m256i)index);
#else
  return (void)index, a;
#endif
}
template <class A>
inline Vec<A> permute(Vec<A> a, Vec<A> b, Index<A> index) {
#if defined(__AVX512F__)
  if constexpr (sizeof(A) == 4) return (Vec<A>)_mm512_permutex2var_ps((__m512)a, (__m512i)index, (__m512)b);
  else return (Vec<A>)_mm512_permutex2var_pd((__m512d)a, (__m512i)index, (__m512d)b);
#else
  return index < lanes<A> ? permute<A>(a, index) : permute<A>(b, index);  // which look at the low bits alone
#endif
}

// The same vector of outputs in n_rows rows. K: its taps, 0 where only known at run time.
template <class A, class S, class D, int K, Permutes::Reach reach>
inline void permuted_rows(const char* const* rows, int n_rows, const Permutes& p, int64_t v, D* const* dst, int64_t at,
                          int64_t skip) {
  constexpr int64_t N = lanes<A>;
  const Permutes::Vector& vector = p.vector[v];
  const Index<A> index = load_bits<Index<A>>(p.index.data() + v * vector_bytes);
  const Index<A> count = load_bits<Index<A>>(p.count.data() + v * vector_bytes);
  const char* const weight = p.weight.data() + vector.weight * int64_t(sizeof(A));
  const int taps = K ? K : vector.taps;
  const int64_t inner = p.inner;
  for (int r = 0; r < n_rows; ++r) {
    const char* src = rows[r] + vector.base * int64_t(sizeof(S));
    Vec<A> a = load<A, S>(src), b = a, sum;
    if constexpr (reach != Permutes::one) b = load<A, S>(src + N * sizeof(S));
    auto tap = [&](int k) {
      if constexpr (reach == Permutes::one) return permute<A>(a, index + int(k * inner));
      if constexpr (reach == Permutes::two) return permute<A>(a, b, index + int(k * inner));
      const char* const now = src + k * inner * int64_t(sizeof(S));
      return permute<A>(load<A, S>(now), load<A, S>(now + N * sizeof(S)), index);
    };
    sum = tap(0) * load_bits<Vec<A>>(weight);
    // A lane without a tap must not see what the permutation gives it: zero times infinity is not zero.
    if (vector.ragged) {
      sum = count > 0 ? sum : Vec<A>{};
      for (int k = 1; k < taps; ++k)
        sum = count > k ? multiply_add<A>(tap(k), load_bits<Vec<A>>(weight + k * vector_bytes), sum) : sum;
    } else {
      for (int k = 1; k < taps; ++k) sum = multiply_add<A>(tap(k), load_bits<Vec<A>>(weight + k * vector_bytes), sum);
    }
    if (skip == 0) {
      store<A, D>(dst[r] + at, sum);
    } else {  // outputs before those that were asked for
      D values[N];
      store<A, D>(values, sum);
      std::memcpy(dst[r], values + skip, (N - skip) * sizeof(D));
    }
  }
}

// Outputs [lo, hi) of n_rows rows whose values lie together; lo is a multiple of the lanes, hi too or the end.
template <class A, class S, class D>
void horizontal_permuted(const char* const* rows, int n_rows, const Permutes& p, int64_t n_out, D* const* dst,
                         int64_t lo, int64_t hi) {
  constexpr int64_t N = lanes<A>;
  const int64_t n = n_out * p.inner, from = lo * p.inner, to = hi * p.inner;
  for (int64_t v = from / N; v * N < to; ++v) {
    const int64_t at = std::min(v * N, n - N) - from, skip = std::max<int64_t>(0, -at);
    auto run = [&]<Permutes::Reach reach>() {
      switch (p.vector[v].taps) {
        case 2: return permuted_rows<A, S, D, 2, reach>(rows, n_rows, p, v, dst, at, skip);
        case 4: return permuted_rows<A, S, D, 4, reach>(rows, n_rows, p, v, dst, at, skip);
        default: return permuted_rows<A, S, D, 0, reach>(rows, n_rows, p, v, dst, at, skip);
      }
    };
    switch (p.vector[v].reach) {
      case Permutes::one: run.template operator()<Permutes::one>(); break;
      case Permutes::two: run.template operator()<Permutes::two>(); break;
      default: run.template operator()<Permutes::moving>();
    }
  }
}
