// Loads of each dtype as vectors of an accumulator, and stores back; the same values on every instruction set.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "levels/simd-inl.hpp"

namespace tenter {
namespace {

// sum + x. Integers are added modulo 2^64 as unsigned numbers, because overflow of signed integers is undefined.
template <class Acc>
inline Vec<Acc> add(Vec<Acc> sum, Vec<Acc> x) {
  if constexpr (std::is_integral_v<Acc>) return (Vec<Acc>)((Vec<uint64_t>)sum + (Vec<uint64_t>)x);
  else return sum + x;
}
template <class Acc>
inline Acc add(Acc sum, Acc x) {
  if constexpr (std::is_integral_v<Acc>) return Acc(uint64_t(sum) + uint64_t(x));
  else return sum + x;
}

template <class Acc>
inline Vec<Acc> multiply_add(Vec<Acc> x, Acc w, Vec<Acc> sum) {
  return multiply_add<Acc>(x, splat(w), sum);
}
template <class Acc>
inline Acc multiply_add(Acc x, Acc w, Acc sum) {
  if constexpr (fused && std::is_floating_point_v<Acc>) return std::fma(x, w, sum);
  else return sum + x * w;
}

// ---- float16 by integer arithmetic, for sets without an instruction; exact, subnormals included
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

// ---- load: lanes<Acc> values of In as Acc
template <class Acc, class In>
inline Vec<Acc> load(const void* p) {
  constexpr int N = lanes<Acc>;
  if constexpr (std::is_same_v<Acc, In>) {
    return load_unaligned<Vec<Acc>>(p);
  } else if constexpr (std::is_same_v<Acc, float> && widens<In>) {
    return widen<In>(p);
  } else if constexpr (std::is_same_v<In, bf16>) {
    return (Vec<Acc>)(__builtin_convertvector(load_unaligned<VecN<uint16_t, N>>(p), VecN<uint32_t, N>) << 16);
  } else if constexpr (std::is_same_v<In, f16>) {
    return widen_f16<N>(__builtin_convertvector(load_unaligned<VecN<uint16_t, N>>(p), VecN<uint32_t, N>));
  } else if constexpr (std::is_same_v<Acc, float>) {  // 8 and 16 bits, via int32
    return __builtin_convertvector(__builtin_convertvector(load_unaligned<VecN<In, N>>(p), VecN<int32_t, N>), Vec<Acc>);
  } else {
    return __builtin_convertvector(load_unaligned<VecN<In, N>>(p), Vec<Acc>);
  }
}

// ---- store: round half to even, saturate
template <class Out, class Acc>
inline Out saturate(Acc x) {  // Acc: float or double
  if (!(x >= Acc(std::numeric_limits<Out>::min()))) return std::numeric_limits<Out>::min();
  if (x >= Acc(std::numeric_limits<Out>::max())) return std::numeric_limits<Out>::max();
  return Out(std::nearbyint(x));
}

// For integers narrower than Acc, which is float or double: after clamping, adding 1.5 * 2^23 (2^52 for double) leaves
// the integer, rounded half to even, in the low bits.
template <class Acc>
using Rounded = Vec<std::conditional_t<std::is_same_v<Acc, float>, int32_t, int64_t>>;
template <class Acc, class Out>
inline Rounded<Acc> rounded(Vec<Acc> v) {
  constexpr Acc magic = std::is_same_v<Acc, float> ? Acc(0x1.8p23) : Acc(0x1.8p52);
  const Vec<Acc> lo = splat(Acc(std::numeric_limits<Out>::min())), hi = splat(Acc(std::numeric_limits<Out>::max()));
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  return (Rounded<Acc>)(v + magic) - (Rounded<Acc>)splat(magic);
}

template <class Acc, class Out>
inline void store(void* p, Vec<Acc> v) {
  constexpr int N = lanes<Acc>;
  if constexpr (std::is_same_v<Acc, Out>) {
    store_bits(p, v);
  } else if constexpr (std::is_same_v<Acc, float> && narrows<Out>) {
    narrow<Out>(p, v);
  } else if constexpr (std::is_same_v<Out, bf16>) {
    typedef VecN<uint32_t, N> U;
    const U u = (U)v, even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16, quiet = u >> 16 | 0x40u;
    const U bits = v != v ? quiet : even;
    if constexpr (truncates<uint16_t>) truncate<uint16_t>(p, (Vec<int32_t>)bits);
    else store_bits(p, __builtin_convertvector(bits, VecN<uint16_t, N>));
  } else if constexpr (std::is_same_v<Out, f16>) {
    uint16_t h[N];
    for (int l = 0; l < N; ++l) h[l] = narrow_f16(v[l]);
    std::memcpy(p, h, sizeof h);
  } else if constexpr (std::is_same_v<Acc, int64_t>) {
    Out r[N];
    for (int l = 0; l < N; ++l) {
      if constexpr (sizeof(Out) == 8) r[l] = Out(v[l]);  // sums of 64-bit integers wrap
      else r[l] = Out(std::clamp<int64_t>(v[l], std::numeric_limits<Out>::min(), std::numeric_limits<Out>::max()));
    }
    std::memcpy(p, r, sizeof r);
  } else if constexpr (sizeof(Out) == 8) {
    Out r[N];
    for (int l = 0; l < N; ++l) r[l] = saturate<Out>(v[l]);
    std::memcpy(p, r, sizeof r);
  } else if constexpr (std::is_same_v<Acc, float> && truncates<Unsigned<sizeof(Out)>>) {
    truncate<Unsigned<sizeof(Out)>>(p, rounded<Acc, Out>(v));
  } else {
    store_bits(p, __builtin_convertvector(rounded<Acc, Out>(v), VecN<Out, N>));
  }
}

// ---- the same for the first n < lanes values, with no access past them
template <class Acc, class In>
inline Vec<Acc> load_masked(const void* p, int64_t n) {
  const auto few = load_few<VecN<Unsigned<sizeof(In)>, lanes<Acc>>>(static_cast<const char*>(p), n);
  return load<Acc, In>(&few);
}
template <class Acc, class Out>
inline void store_masked(void* p, Vec<Acc> v, int64_t n) {
  Out buffer[lanes<Acc>];
  store<Acc, Out>(buffer, v);
  copy_few<int(sizeof buffer), int(sizeof(Out))>(static_cast<char*>(p), reinterpret_cast<const char*>(buffer),
                                                 n * int64_t(sizeof(Out)));
}
template <class Acc, class In>
inline Acc load_one(const void* p) {
  if constexpr (std::is_same_v<In, bf16>) {
    const uint32_t bits = uint32_t(load_unaligned<uint16_t>(p)) << 16;
    return load_unaligned<float>(&bits);
  } else if constexpr (std::is_same_v<In, f16>) {
#if defined(__F16C__)
    return _cvtsh_ss(load_unaligned<uint16_t>(p));
#else
    return load_masked<Acc, In>(p, 1)[0];
#endif
  } else {
    return Acc(load_unaligned<In>(p));
  }
}

// Converts n values of In to Acc, and n values of Acc to Out.
template <class Acc, class In, class Out>
void convert(const void* from, void* to, int64_t n) {
  constexpr int N = lanes<Acc>;
  const char* p = static_cast<const char*>(from);
  Out* const out = static_cast<Out*>(to);
  int64_t j = 0;
  for (; j + N <= n; j += N, p += N * sizeof(In)) store<Acc, Out>(out + j, load<Acc, In>(p));
  if (j < n) store_masked<Acc, Out>(out + j, load_masked<Acc, In>(p, n - j), n - j);
}

// Transposes N / H squares of H x H values, which stand next to each other in H vectors of N values; by default one
// square of lanes x lanes. Each stage swaps the off-diagonal blocks of one size.
template <class T, int H = lanes<T>, int N = lanes<T>>
inline void transpose(VecN<T, N>* v) {
  auto stage = [&]<int size, int... l>(std::integral_constant<int, size>, std::integer_sequence<int, l...>)
                   __attribute__((always_inline)) {
                     for (int r = 0; r < H; ++r) {
                       if (r & size) continue;
                       const VecN<T, N> a = v[r], b = v[r + size];
                       v[r] = __builtin_shufflevector(a, b, (l & size ? N + l - size : l)...);
                       v[r + size] = __builtin_shufflevector(a, b, (l & size ? N + l : l + size)...);
                     }
                   };
  constexpr auto all = std::make_integer_sequence<int, N>{};
  if constexpr (H > 1) stage(std::integral_constant<int, 1>{}, all);
  if constexpr (H > 2) stage(std::integral_constant<int, 2>{}, all);
  if constexpr (H > 4) stage(std::integral_constant<int, 4>{}, all);
  if constexpr (H > 8) stage(std::integral_constant<int, 8>{}, all);
}

// Joins chunks of H values, which are `pitch` values apart, to a vector of n lanes. Calls itself for both halves, so
// that the compiler sees a tree of shuffles.
template <class Acc, int H, int n>
TENTER_ALWAYS_INLINE VecN<Acc, n> joined(const Loose<Acc>* src, int64_t pitch) {
  if constexpr (n == H) {
    return load_unaligned<VecN<Acc, n>>(src);
  } else {
    const auto a = joined<Acc, H, n / 2>(src, pitch), b = joined<Acc, H, n / 2>(src + n / 2 * pitch, pitch);
    return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
      return __builtin_shufflevector(a, b, l...);
    }(std::make_integer_sequence<int, n>{});
  }
}

constexpr int power_from(int n) { return n <= 1 ? 1 : 2 * power_from((n + 1) / 2); }  // the least power of two

}  // namespace
}  // namespace tenter
