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
constexpr int64_t values_of_two_blocks = 2 * block_values;

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
// The values of `halves_of` or `bytes_of` with those of a before those of b.
inline Bytes in_order(Bytes x) {
  return shuffled(x, x, [](int i) { return (i / 8 % sixteens_each * 2 + i / 8 / sixteens_each) * 8 + i % 8; });
}

// How a row's inputs are loaded, for a block of lanes and their taps. Positions are in bytes from a row's first pixel.
//   vectors   the inputs of each pair of taps are bytes of a few vectors
//   sixteens  all inputs of four lanes are within 16 bytes
//   pixels    the same, and the fourth lane is not used: three channels
//   fours     all inputs of one lane are within 4 bytes
//   singles   each input is loaded alone
// The lanes of vectors and singles are in order. Others are as `halves_of` puts them in order: of two blocks, the first
// one has every second four.
struct TapColumns {
  enum class How { vectors, sixteens, pixels, fours, singles } how;
  int64_t n_blocks;  // even
  int64_t pitch;     // vectors of a row of sums
  int loads;         // vector loads for one pair of a block
  bool prefetches;   // whether sixteens and pixels prefetch rows that are read later, as vectors always do
  int32_t half;      // added to sums before they are shifted down
  int shift;
  int64_t* at;          // where the loads of a block begin, or of each pair; or the two inputs of each lane and pair
  Bytes* index;         // for each pair: the byte of a load, and a zero byte that widens it
  uint64_t* from_load;  // masks of the bytes that come from each load
  Words* weight;
};

template <class V>
inline VecN<uint8_t, 2 * sizeof(V)> joined(V a, V b) {
  return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, i...);
  }(std::make_integer_sequence<int, int(2 * sizeof(V))>{});
}

// The bytes that a block reads, by loads of `size` bytes.
template <int size>
inline Bytes block_inputs(const TapColumns& c, const uint8_t* row, int64_t block) {
  const int64_t* const at = c.at + block * (vector_bytes / size);
  if constexpr (size == 4) {
    return [&]<int... v>(std::integer_sequence<int, v...>) __attribute__((always_inline)) {
      return (Bytes)Words{load_unaligned<int32_t>(row + at[v])...};
    }(std::make_integer_sequence<int, block_values>{});
  } else {
    auto load = [&](int k) __attribute__((always_inline)) { return load_unaligned<Sixteen>(row + at[k]); };
    if constexpr (vector_bytes == 16) return load(0);
    else if constexpr (vector_bytes == 32) return joined(load(0), load(1));
    else return joined(joined(load(0), load(1)), joined(load(2), load(3)));
  }
}
inline Words shuffled_pairs(Bytes x, Bytes index) {
  if constexpr (shuffles_bytes) return (Words)shuffle_bytes(x, index);
  else return (Words)permute_bytes(x, index);
}

template <TapColumns::How how, int n_loads>
inline Words input_pairs(const TapColumns& c, const uint8_t* row, int64_t pair) {
  if constexpr (how == TapColumns::How::vectors && permutes_vectors) {
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
  }
  Words x;
  const int64_t* const at = c.at + pair * 2 * block_values;
  for (int v = 0; v < block_values; ++v) x[v] = row[at[2 * v]] | row[at[2 * v + 1]] << 16;
  return x;
}

// Stores three of every four values, and as many others after them as were left out.
inline void store_pixels(Halves* row, int64_t block, Halves h) {
  auto together = [](int i) {
    const int value = i % 16 / 2;
    return i / 16 * 16 + (value < 6 ? value / 3 * 4 + value % 3 : value) * 2 + i % 2;
  };
  auto joined = [](int i) {
    const int word = i / 4 < 3 * sixteens_each ? i / 4 / 3 * 4 + i / 4 % 3 : i / 4;
    return 4 * word + i % 4;
  };
  const Bytes x = shuffled((Bytes)h, (Bytes)h, together);
  store_bits(reinterpret_cast<uint8_t*>(row) + block / 2 * sixteens_each * 12, shuffled(x, x, joined));
}

// Sums R rows along the columns, with P pairs of taps each, two blocks at a time as `halves_of` takes them. next: rows
// that are read later, to prefetch them. n_loads: vector loads of a pair, or 0 for c.loads; of other loads, 1 to
// prefetch.
template <TapColumns::How how, int n_loads, int P, int R>
void sum_tap_columns(const TapColumns& of, const uint8_t* const* rows, const uint8_t* const* next, Halves* const* to) {
  typedef TapColumns::How How;
  const TapColumns c = of;  // a copy: the compiler must assume that stores of bytes change a reference
  constexpr bool in_blocks = how == How::sixteens || how == How::pixels || how == How::fours;
  const Words half = splat(c.half);
  for (int64_t b = 0; b < c.n_blocks; b += 2) {
    Words sum[R][2];
    for (int k = 0; k < 2; ++k) {
      Bytes x[R];
      if constexpr (in_blocks)
        for (int r = 0; r < R; ++r) {
          constexpr int size = how == How::fours ? 4 : 16;
          if constexpr (n_loads) __builtin_prefetch(next[r] + c.at[(b + k) * (vector_bytes / size)]);
          x[r] = block_inputs<size>(c, rows[r], b + k);
        }
      for (int p = 0; p < P; ++p) {
        const int64_t pair = (b + k) * P + p;
        const Words w = c.weight[pair];
        for (int r = 0; r < R; ++r) {
          if constexpr (how == How::vectors && R > 1)
            if (p == 0)
              for (int l = 0; l < (n_loads ? n_loads : c.loads); ++l)
                __builtin_prefetch(next[r] + c.at[pair * (n_loads ? n_loads : c.loads) + l]);
          Words inputs;
          if constexpr (in_blocks) inputs = shuffled_pairs(x[r], c.index[pair]);
          else inputs = input_pairs<how, n_loads>(c, rows[r], pair);
          sum[r][k] = add_pairs(p ? sum[r][k] : half, inputs, w);
        }
      }
    }
    for (int r = 0; r < R; ++r) {
      const Halves h = halves_of(sum[r][0] >> c.shift, sum[r][1] >> c.shift);
      if constexpr (how == How::pixels) store_pixels(to[r], b, h);
      else to[r][b / 2] = in_blocks ? h : (Halves)in_order((Bytes)h);
    }
  }
}

template <int P, int R>
void tap_columns(const TapColumns& c, const uint8_t* const* rows, const uint8_t* const* next, Halves* const* to) {
  typedef TapColumns::How How;
  if constexpr (permutes_vectors) {
    if (c.how == How::vectors && c.loads == 1) return sum_tap_columns<How::vectors, 1, P, R>(c, rows, next, to);
    if (c.how == How::vectors && c.loads == 2) return sum_tap_columns<How::vectors, 2, P, R>(c, rows, next, to);
    if (c.how == How::vectors) return sum_tap_columns<How::vectors, 0, P, R>(c, rows, next, to);
  }
  if constexpr (shuffles_sixteens) {
    if constexpr (R > 1) {
      if (c.prefetches && c.how == How::sixteens) return sum_tap_columns<How::sixteens, 1, P, R>(c, rows, next, to);
      if (c.prefetches && c.how == How::pixels) return sum_tap_columns<How::pixels, 1, P, R>(c, rows, next, to);
    }
    if (c.how == How::sixteens) return sum_tap_columns<How::sixteens, 0, P, R>(c, rows, next, to);
    if (c.how == How::pixels) return sum_tap_columns<How::pixels, 0, P, R>(c, rows, next, to);
    if (c.how == How::fours) return sum_tap_columns<How::fours, 0, P, R>(c, rows, next, to);
  }
  sum_tap_columns<How::singles, 0, P, R>(c, rows, next, to);
}

// ---- tables

// Walks over the lanes of a row in order: `each` for an output, of which those after its last channel repeat that one.
// At the end it stays at the last lane.
struct TapLanes {
  const TapsTask& t;
  int64_t each, output = 0, lane = 0;

  int64_t place(int64_t tap) const {
    return t.column->input[size_t(output * t.column->taps + tap)] * t.column_stride +
           std::min(lane, t.inner - 1) * t.inner_stride;
  }
  // Two weights in the lower and upper half of a word.
  int32_t weights(int64_t pair) const {
    const int16_t* const w = t.column->weight.data() + output * t.column->taps + 2 * pair;
    return int32_t(uint16_t(w[0])) | w[1] * (1 << 16);
  }
  void next() {
    if (++lane < each) return;
    if (output + 1 < t.column->n_out) lane = 0, ++output;
    else --lane;
  }
};

// The loads of `size` bytes, each for size / 4 lanes. Returns false if some lanes read more. end: the end of a row's
// bytes.
template <int size>
bool block_tables(TapLanes at, int64_t end, TapColumns& c, Lease& lease) {
  constexpr int64_t count = size / 4, L = values_of_two_blocks;
  const TapsAxis& m = *at.t.column;
  const int64_t taps = m.taps, P = taps / 2;
  c.n_blocks = 2 * ceil_div(m.n_out * at.each, L);
  c.at = lease->gathered.get<int64_t>(c.n_blocks * (vector_bytes / size));
  c.index = lease->packed.get<Bytes>(c.n_blocks * P);
  c.weight = lease->table.get<Words>(c.n_blocks * P);
  auto* const index = reinterpret_cast<uint16_t*>(c.index);  // the upper byte of an entry selects a zero
  auto* const weight = reinterpret_cast<int32_t*>(c.weight);
  for (int64_t v = 0; v < c.n_blocks * block_values; v += count) {
    const int64_t four = v / 4, block = v / L * 2 + four % 2, lane = v % L / 8 * 4 + v % 4;
    int64_t place[count][max_byte_taps], least = INT64_MAX, most = INT64_MIN;
    for (int64_t k = 0; k < count; ++k, at.next()) {
      for (int64_t p = 0; p < P; ++p) weight[(block * P + p) * block_values + lane + k] = at.weights(p);
      for (int64_t i = 0; i < taps; ++i) {
        place[k][i] = at.place(i);
        least = std::min(least, place[k][i]), most = std::max(most, place[k][i]);
      }
    }
    if (most - least >= size) return false;
    least = std::min(least, end - size);  // loads stay in the row
    c.at[(block * block_values + lane) / count] = least;
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = 0; i < taps; ++i) {
        const int64_t to = (block * P + i / 2) * block_values + lane + k;
        index[2 * to + i % 2] = uint16_t(0x8000 | (lane % 4 / count * size + place[k][i] - least));
      }
  }
  return true;
}

// Both inputs of each lane and pair of taps.
inline void single_tables(TapLanes at, TapColumns& c, Lease& lease) {
  constexpr int B = block_values;
  const int64_t P = at.t.column->taps / 2;
  c.n_blocks = 2 * ceil_div(at.t.column->n_out * at.each, values_of_two_blocks);
  c.at = lease->index.get<int64_t>(2 * c.n_blocks * P * B);
  c.weight = lease->table.get<Words>(c.n_blocks * P);
  for (int64_t v = 0; v < c.n_blocks * B; ++v, at.next())
    for (int64_t p = 0; p < P; ++p) {
      const int64_t pair = v / B * P + p;
      int64_t* const both = c.at + 2 * (pair * B + v % B);
      both[0] = at.place(2 * p), both[1] = at.place(2 * p + 1);
      c.weight[pair][v % B] = at.weights(p);
    }
}

// Vector loads for each pair of a block, after single_tables. Returns false if they are too many.
inline bool vector_tables(int64_t pairs, int64_t end, TapColumns& c, Lease& lease) {
  constexpr int64_t both = 2 * block_values;
  const int64_t* const inputs = c.at;
  int64_t* const first = lease->plane.get<int64_t>(pairs);
  int64_t span = 0;  // the most bytes from a pair's lowest input to its highest
  for (int64_t p = 0; p < pairs; ++p) {
    const auto [least, most] = std::minmax_element(inputs + p * both, inputs + (p + 1) * both);
    first[p] = *least, span = std::max(span, *most - *least + 1);
  }
  if (span > most_vector_loads * vector_bytes) return false;
  c.loads = int(ceil_div(span, vector_bytes));
  c.index = lease->packed.get<Bytes>(pairs);
  c.at = lease->gathered.get<int64_t>(pairs * c.loads);
  c.from_load = lease->taps.get<uint64_t>(pairs * c.loads);
  auto* const index = reinterpret_cast<uint16_t*>(c.index);
  for (int64_t p = 0; p < pairs; ++p) {
    int64_t* const at = c.at + p * c.loads;
    uint64_t* const from = c.from_load + p * c.loads;
    for (int l = 0; l < c.loads; ++l) at[l] = std::min(first[p] + l * vector_bytes, end - vector_bytes), from[l] = 0;
    for (int64_t k = 0; k < both; ++k) {
      const int64_t input = inputs[p * both + k], load = c.loads == 1 ? 0 : (input - first[p]) / vector_bytes;
      index[p * both + k] = uint16_t(0x8000 | uint64_t(input - at[load]));
      from[load] |= uint64_t(1) << 2 * k % 64;
    }
  }
  return true;
}

inline TapColumns tap_columns_of(const TapsTask& t, Lease& lease) {
  typedef TapColumns::How How;
  const TapsAxis& m = *t.column;
  TapColumns c{};
  c.shift = t.rounds_products ? step_bits - 7 : tap_bits - 6;
  c.half = t.rounds_products ? 0 : 1 << (c.shift - 1);
  const int64_t last = (t.n_column - 1) * t.column_stride, across = (t.inner - 1) * t.inner_stride;
  const int64_t begin = std::min<int64_t>(0, last) + std::min<int64_t>(0, across);
  const int64_t end = std::max<int64_t>(0, last) + std::max<int64_t>(0, across) + 1, bytes = end - begin;
  // Hardware prefetchers do not follow the rows of an image that shrinks.
  c.prefetches = t.n_row >= 2 * t.row->n_out && t.n_row * bytes >= far_plane_bytes;
  const TapLanes lanes_of_row{t, t.inner};
  auto how = [&] {
    if (permutes_vectors && bytes >= vector_bytes) {
      single_tables(lanes_of_row, c, lease);
      if (vector_tables(c.n_blocks * m.taps / 2, end, c, lease)) return How::vectors;
    }
    if (shuffles_sixteens && bytes >= 16) {
      if (block_tables<16>(lanes_of_row, end, c, lease)) return How::sixteens;
      if (t.inner == 3 && block_tables<16>({t, 4}, end, c, lease)) return How::pixels;
      if (block_tables<4>(lanes_of_row, end, c, lease)) return How::fours;
    }
    single_tables(lanes_of_row, c, lease);
    return How::singles;
  };
  c.how = how();
  // The lanes of all blocks, and whole vectors of bytes.
  const int64_t values = std::max(c.n_blocks * block_values, round_up(m.n_out * t.inner, vector_bytes));
  c.pitch = ceil_div(values, lanes<int16_t>);
  return c;
}

}  // namespace
}  // namespace tenter
