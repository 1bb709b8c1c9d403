// Sums of two or four taps along the columns of 8-bit rows, in 16 bits. Vectors of bytes are shuffled into pairs of
// 16-bit inputs, one pair for each output; one instruction multiplies a pair by its weights and adds the products.
#pragma once
#include <algorithm>

#include "levels/tap-groups-inl.hpp"
#include "rules/byte_taps.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

typedef Vec<int16_t> Halves;
constexpr int block_values = lanes<int32_t>;
constexpr int sixteens_each = vector_bytes / 16;
#if defined(__AVX512VBMI__)
constexpr bool permutes_vectors = true;
#else
constexpr bool permutes_vectors = false;
#endif
constexpr bool shuffles_sixteens = shuffles_bytes || (permutable<uint8_t> && vector_bytes == 16);
constexpr int64_t most_loads = 8;  // vector loads for a block; if it needs more, scalar loads cost less

// sum + x0 * w0 + x1 * w1 for the lower and upper 16 bits of each lane.
inline Words add_pairs(Words sum, Words x, Words w) {
#if defined(__AVX512VNNI__)
  return (Words)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)x, (__m512i)w);
#elif defined(__SSE2__)
  return sum + multiply_pairs(x, w);
#else
  return sum + (x << 16 >> 16) * (w << 16 >> 16) + (x >> 16) * (w >> 16);
#endif
}

inline Halves multiply_high(Halves a, Halves b) {
#if defined(__AVX512BW__)
  return (Halves)_mm512_mulhi_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Halves)_mm256_mulhi_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Halves)_mm_mulhi_epi16((__m128i)a, (__m128i)b);
#elif defined(TENTER_NEON)
  const auto x = (int16x8_t)a, y = (int16x8_t)b;
  return (Halves)vcombine_s16(vshrn_n_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), 16),
                              vshrn_n_s32(vmull_high_s16(x, y), 16));
#else
  typedef VecN<int32_t, lanes<int16_t> > Wider;
  return __builtin_convertvector(__builtin_convertvector(a, Wider) * __builtin_convertvector(b, Wider) >> 16, Halves);
#endif
}

// Narrows values that fit. Within each 16 bytes, the values of a come before those of b.
inline Halves halves_of(Words a, Words b) {
#if defined(__AVX512BW__)
  return (Halves)_mm512_packs_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Halves)_mm256_packs_epi32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Halves)_mm_packs_epi32((__m128i)a, (__m128i)b);
#elif defined(TENTER_NEON)
  return (Halves)vcombine_s16(vmovn_s32((int32x4_t)a), vmovn_s32((int32x4_t)b));
#else
  return (Halves)shuffled((Bytes)a, (Bytes)b, [](int i) { return i / 2 * 4 + i % 2; });
#endif
}
// The same for bytes, with saturation to 0 and 255.
inline Bytes bytes_of(Halves a, Halves b) {
#if defined(__AVX512BW__)
  return (Bytes)_mm512_packus_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Bytes)_mm256_packus_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Bytes)_mm_packus_epi16((__m128i)a, (__m128i)b);
#elif defined(TENTER_NEON)
  return (Bytes)vcombine_u8(vqmovun_s16((int16x8_t)a), vqmovun_s16((int16x8_t)b));
#else
  auto cut = [](Halves v) {
    v = v < 0 ? Halves{} : v;
    return (Bytes)(v > 255 ? splat(int16_t(255)) : v);
  };
  return shuffled(cut(a), cut(b), [](int i) { return 2 * i; });
#endif
}
// The bytes of four blocks in order, after both narrowing steps.
inline Bytes in_order(Bytes x) {
  return shuffled(x, x, [](int i) { return (i / 4 % sixteens_each * 4 + i / 4 / sixteens_each) * 4 + i % 4; });
}

// How a row's inputs are loaded, for one block of outputs and one pair of taps at a time. Positions are in bytes from a
// row's first pixel.
struct TapColumns {
  enum class How { vectors, sixteens, singles } how;
  int64_t n_blocks;  // a multiple of four
  int loads;         // vector loads for one pair of a block
  int32_t half;      // added to sums before they are shifted down
  int shift;
  int64_t* at;          // where the loads of each pair begin, or the two inputs of each output
  Bytes* index;         // for each pair: the byte of a load, and a zero byte that widens it
  uint64_t* from_load;  // masks of the bytes that come from each load
  Words* weight;
};

template <TapColumns::How how, int n_loads>
inline Words input_pairs(const TapColumns& c, const uint8_t* row, int64_t pair) {
  typedef TapColumns::How How;
  if constexpr (how == How::vectors && permutes_vectors) {
#if defined(__AVX512VBMI__)
    const int loads = n_loads ? n_loads : c.loads;
    const int64_t* const at = c.at + pair * loads;
    const auto index = (__m512i)c.index[pair];
    const uint64_t* const from = c.from_load + pair * loads;
    constexpr uint64_t all = 0x5555555555555555;
    __m512i x = _mm512_maskz_permutexvar_epi8(n_loads == 1 ? all : from[0], index, _mm512_loadu_si512(row + at[0]));
    for (int k = 1; k < loads; ++k)
      x = _mm512_mask_permutexvar_epi8(x, from[k], index, _mm512_loadu_si512(row + at[k]));
    return (Words)x;
#endif
  } else if constexpr (how == How::sixteens && shuffles_sixteens) {
    const int64_t* const at = c.at + pair * sixteens_each;
    auto load = [&](int k) { return load_unaligned<Sixteen>(row + at[k]); };
    if constexpr (vector_bytes == 16) {
      const Bytes x = load_unaligned<Bytes>(row + at[0]);
      if constexpr (shuffles_bytes) return (Words)shuffle_bytes(x, c.index[pair]);
      else return (Words)permute_bytes(x, c.index[pair]);
    } else {
      auto both = [](auto a, auto b) {
        return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
          return __builtin_shufflevector(a, b, i...);
        }(std::make_integer_sequence<int, int(2 * sizeof a)>{});
      };
      if constexpr (vector_bytes == 32) return (Words)shuffle_bytes((Bytes)both(load(0), load(1)), c.index[pair]);
      else return (Words)shuffle_bytes((Bytes)both(both(load(0), load(1)), both(load(2), load(3))), c.index[pair]);
    }
  }
  Words x;
  const int64_t* const at = c.at + pair * 2 * block_values;
  for (int v = 0; v < block_values; ++v) x[v] = row[at[2 * v]] | row[at[2 * v + 1]] << 16;
  return x;
}

// Sums R rows along the columns, with P pairs of taps each, four blocks at a time as `bytes_of` takes them. next: rows
// that are read later, to prefetch them.
template <TapColumns::How how, int n_loads, int P, int R>
void sum_tap_columns(const TapColumns& c, const uint8_t* const* rows, const uint8_t* const* next, Halves* const* to) {
  const Words half = splat(c.half);
  for (int64_t b = 0; b < c.n_blocks; b += 2) {
    Words sum[R][2];
    for (int k = 0; k < 2; ++k)
      for (int p = 0; p < P; ++p) {
        const int64_t pair = (b + k) * P + p;
        const Words w = c.weight[pair];
        for (int r = 0; r < R; ++r) {
          if constexpr (how == TapColumns::How::vectors && R > 1)
            if (p == 0)
              for (int l = 0; l < (n_loads ? n_loads : c.loads); ++l)
                __builtin_prefetch(next[r] + c.at[pair * (n_loads ? n_loads : c.loads) + l]);
          sum[r][k] = add_pairs(p ? sum[r][k] : half, input_pairs<how, n_loads>(c, rows[r], pair), w);
        }
      }
    for (int r = 0; r < R; ++r) to[r][b / 2] = halves_of(sum[r][0] >> c.shift, sum[r][1] >> c.shift);
  }
}

template <int P, int R>
void tap_columns(const TapColumns& c, const uint8_t* const* rows, const uint8_t* const* next, Halves* const* to) {
  typedef TapColumns::How How;
  if (permutes_vectors && c.how == How::vectors) {
    if (c.loads == 1) return sum_tap_columns<How::vectors, 1, P, R>(c, rows, next, to);
    if (c.loads == 2) return sum_tap_columns<How::vectors, 2, P, R>(c, rows, next, to);
    return sum_tap_columns<How::vectors, 0, P, R>(c, rows, next, to);
  }
  if (shuffles_sixteens && c.how == How::sixteens) return sum_tap_columns<How::sixteens, 0, P, R>(c, rows, next, to);
  sum_tap_columns<How::singles, 0, P, R>(c, rows, next, to);
}

inline TapColumns tap_columns_of(const TapsTask& t, Lease& lease) {
  typedef TapColumns::How How;
  constexpr int B = block_values;
  const TapsAxis& m = *t.column;
  const int64_t n = m.n_out * t.inner, P = m.taps / 2;
  TapColumns c{};
  c.n_blocks = round_up(ceil_div(n, B), 4);
  c.shift = t.rounds_products ? step_bits - 7 : tap_bits - 6;
  c.half = t.rounds_products ? 0 : 1 << (c.shift - 1);
  const int64_t n_pairs = c.n_blocks * P;
  const int64_t last = (t.n_column - 1) * t.column_stride, across = (t.inner - 1) * t.inner_stride;
  const int64_t lo = std::min<int64_t>(0, last) + std::min<int64_t>(0, across);
  const int64_t hi = std::max<int64_t>(0, last) + std::max<int64_t>(0, across) + 1;
  // Both inputs of each output and pair of taps. The last block is filled up with the last output.
  int64_t* const inputs = lease->index.get<int64_t>(2 * n_pairs * B);
  c.weight = lease->table.get<Words>(n_pairs);
  for (int64_t v = 0, o = 0, channel = 0; v < c.n_blocks * B; ++v) {
    for (int64_t p = 0; p < P; ++p) {
      const int64_t pair = v / B * P + p;
      const size_t at = size_t(o * m.taps + 2 * p);
      int64_t* const both = inputs + 2 * (pair * B + v % B);
      both[0] = m.input[at] * t.column_stride + channel * t.inner_stride;
      both[1] = m.input[at + 1] * t.column_stride + channel * t.inner_stride;
      c.weight[pair][v % B] = int32_t(uint16_t(m.weight[at])) | m.weight[at + 1] * (1 << 16);
    }
    if (++channel < t.inner) continue;
    if (o + 1 < m.n_out) channel = 0, ++o;
    else --channel;
  }
  // The lowest input of each chunk (some outputs of one pair), and the largest distance from there to a chunk's highest
  // input. If a few loads cover it, vectors are shuffled.
  int64_t* const first = lease->plane.get<int64_t>(2 * n_pairs * B / 4);
  auto find_parts = [&]<int count>() {
    int64_t longest = 0;
    for (int64_t part = 0; part < n_pairs * B / count; ++part) {
      const int64_t* const of = inputs + part * 2 * count;
      int64_t least = of[0], most = of[0];
      for (int k = 0; k < 2 * count; ++k) least = std::min(least, of[k]), most = std::max(most, of[k]);
      first[part] = least, longest = std::max(longest, most - least + 1);
    }
    return longest;
  };
  int64_t span = 0;
  const bool vectors = permutes_vectors && hi - lo >= vector_bytes &&
                       (span = find_parts.template operator()<B>()) <= most_loads * vector_bytes;
  const bool sixteens = !vectors && shuffles_sixteens && hi - lo >= 16 && find_parts.template operator()<4>() <= 16;
  c.how = vectors ? How::vectors : sixteens ? How::sixteens : How::singles;
  c.at = inputs;
  if (!vectors && !sixteens) return c;
  c.index = lease->packed.get<Bytes>(n_pairs);
  auto* const index = reinterpret_cast<uint16_t*>(c.index);  // the upper byte of an entry selects a zero
  auto lay_out = [&]<int size, int values>(int loads) {
    const int64_t parts = n_pairs * B / values;
    c.loads = loads;
    c.at = lease->gathered.get<int64_t>(parts * loads);
    c.from_load = lease->taps.get<uint64_t>(parts * loads);
    for (int64_t p = 0; p < parts; ++p) {
      int64_t* const at = c.at + p * loads;
      uint64_t* const from = c.from_load + p * loads;
      // Loads at the end of a row begin earlier, so that they stay in the row.
      for (int l = 0; l < loads; ++l) at[l] = std::min(first[p] + l * size, hi - size), from[l] = 0;
      const int64_t* const of = inputs + p * 2 * values;
      for (int k = 0; k < 2 * values; ++k) {
        const int64_t load = loads == 1 ? 0 : (of[k] - first[p]) / size;
        index[p * 2 * values + k] = uint16_t(0x8000 | uint64_t(of[k] - at[load]));
        if (loads > 1) from[load] |= uint64_t(1) << 2 * k % 64;
      }
    }
  };
  if (vectors) lay_out.template operator()<vector_bytes, B>(int(ceil_div(span, vector_bytes)));
  else lay_out.template operator()<16, 4>(1);
  return c;
}

}  // namespace
}  // namespace tenter
