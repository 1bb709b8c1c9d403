// Integer kernels of 8-bit values: sums of four adjacent inputs ("quads") at a time. Sums are exact, so tiles, threads
// and instruction sets change no bit, and weights of zero may stand for taps that are not there.
//
// Columns: a tile of `lanes` rows is transposed by words of four adjacent inputs of one channel, so that a vector holds
// a quad of each row. An output is then a sum of such vectors by weights that are the same in every lane, whatever the
// number of channels. Rows: four input rows are interleaved into quads.
#pragma once
#include <algorithm>
#include <utility>

#include "bytes.hpp"
#include "stream-inl.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

constexpr int rows_at_once = lanes<int32_t>;
typedef Vec<int32_t> Words;
typedef Vec<uint8_t> Bytes;

#if defined(__AVX512VNNI__)
constexpr WeightForm weight_form = WeightForm::pieces;
#else
constexpr WeightForm weight_form = WeightForm::halves;
#endif
constexpr int weight_words = words_of(weight_form);

// ---- instructions

// Bytes of a vector, or of two, chosen by a constant function of the place.
template <class F, int... i>
inline Bytes shuffled(Bytes a, Bytes b, F, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, F{}(i)...);
}
template <class F>
inline Bytes shuffled(Bytes a, Bytes b, F f) {
  return shuffled(a, b, f, std::make_integer_sequence<int, vector_bytes>{});
}

// Of the even and odd 16-bit parts of each lane: x0 * w0 + x1 * w1.
inline Words multiply_pairs(Words x, Words w) {
#if defined(__AVX512BW__)
  return (Words)_mm512_madd_epi16((__m512i)x, (__m512i)w);
#elif defined(__AVX2__)
  return (Words)_mm256_madd_epi16((__m256i)x, (__m256i)w);
#elif defined(__SSE2__)
  return (Words)_mm_madd_epi16((__m128i)x, (__m128i)w);
#else
  return (x & 0xffff) * (w << 16 >> 16) + (x >> 16) * (w >> 16);  // x has bytes
#endif
}

struct Sums {
  Words part[weight_form == WeightForm::pieces ? 3 : 2];
};
inline void add_quads(Sums& s, Bytes x, const int32_t* w) {
#if defined(__AVX512VNNI__)
  for (int p = 0; p < 3; ++p)
    s.part[p] = (Words)_mm512_dpbusd_epi32((__m512i)s.part[p], (__m512i)x, _mm512_set1_epi32(w[p]));
#else
  const Words even = (Words)x & 0x00ff00ff, odd = (Words)((Vec<uint16_t>)x >> 8);
  for (int p = 0; p < 2; ++p)
    s.part[p] += multiply_pairs(even, splat(w[2 * p])) + multiply_pairs(odd, splat(w[2 * p + 1]));
#endif
}
// A sum and a half, before it is shifted down; sums may wrap, their total does not.
inline Words total(const Sums& s) {
  typedef Vec<uint32_t> U;
  U sum = (U)s.part[0] + (1u << (weight_bits - 1));
  if constexpr (weight_form == WeightForm::pieces) sum += ((U)s.part[1] << 8) + ((U)s.part[2] << 16);
  else sum += (U)s.part[1] << 11;
  return (Words)sum >> weight_bits;
}

// Four vectors of small integers, cut to 8 bits: within each 16 bytes those of a, then of b, c and d.
inline Bytes narrowed(Words a, Words b, Words c, Words d) {
#if defined(__AVX512BW__)
  return (Bytes)_mm512_packus_epi16(_mm512_packs_epi32((__m512i)a, (__m512i)b),
                                    _mm512_packs_epi32((__m512i)c, (__m512i)d));
#elif defined(__AVX2__)
  return (Bytes)_mm256_packus_epi16(_mm256_packs_epi32((__m256i)a, (__m256i)b),
                                    _mm256_packs_epi32((__m256i)c, (__m256i)d));
#elif defined(__SSE2__)
  return (Bytes)_mm_packus_epi16(_mm_packs_epi32((__m128i)a, (__m128i)b), _mm_packs_epi32((__m128i)c, (__m128i)d));
#else
  Bytes found;
  const Words v[] = {a, b, c, d};
  for (int l = 0; l < vector_bytes; ++l) found[l] = uint8_t(std::clamp(v[l % 16 / 4][l / 16 * 4 + l % 4], 0, 255));
  return found;
#endif
}

// ---- alpha, as Pillow has it: products by 255ths are rounded, quotients are cut
inline Vec<uint16_t> by_255ths(Vec<uint16_t> a, Vec<uint16_t> b) {
  const Vec<uint16_t> product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}
template <int C>
inline Bytes multiply_alpha(Bytes x) {
  typedef Vec<uint16_t> H;
  const H even = (H)x & 0xff, odd = (H)x >> 8;
  if constexpr (C == 2) return (Bytes)(by_255ths(even, odd) | odd << 8);
  typedef Vec<uint32_t> U;
  const U alpha = (U)x >> 24;
  return (Bytes)(by_255ths(even, (H)(alpha | alpha << 16)) | by_255ths(odd, (H)(alpha | 255u << 16)) << 8);
}

template <int C>
void divide_alpha(uint8_t* p, int64_t n_pixels) {
  typedef VecN<std::conditional_t<C == 4, uint32_t, uint16_t>, lanes<int32_t>> Pixels;
  auto divided = [](Pixels pixels) {
    const Words x = __builtin_convertvector(pixels, Words), alpha = (Words)((Vec<uint32_t>)x >> (C == 4 ? 24 : 8));
    const Vec<float> divisor = __builtin_convertvector(alpha, Vec<float>);
    Words result = alpha << (C == 4 ? 24 : 8);
    for (int c = 0; c < C - 1; ++c) {
      const Words color = x >> (8 * c) & 255;
      // Exact: a quotient of integers below 2^16 and 2^8 is nearer to no integer than a rounding.
      Words q = __builtin_convertvector(__builtin_convertvector(color * 255, Vec<float>) / divisor, Words);
      q = q < 255 ? q : splat(255);
      result |= ((alpha == 0) | (alpha == 255) ? color : q) << (8 * c);
    }
    return __builtin_convertvector(result, Pixels);
  };
  int64_t i = 0;
  for (; i + lanes<int32_t> <= n_pixels; i += lanes<int32_t>)
    store_bits(p + i * C, divided(load_unaligned<Pixels>(p + i * C)));
  if (i == n_pixels) return;
  uint8_t some[sizeof(Pixels)] = {};
  std::memcpy(some, p + i * C, (n_pixels - i) * C);
  store_bits(some, divided(load_unaligned<Pixels>(some)));
  std::memcpy(p + i * C, some, (n_pixels - i) * C);
}
inline void divide_alpha(uint8_t* p, int64_t n_values, int64_t inner) {
  if (inner == 2) divide_alpha<2>(p, n_values / 2);
  else divide_alpha<4>(p, n_values / 4);
}

// ---- columns

// Words that a vector of a row's bytes gives for four pixels: three channels leave every fourth unused.
template <int C>
constexpr int words_of_pixels = C == 3 ? 4 : C;
template <int C>
constexpr int quads_at_once = rows_at_once / words_of_pixels<C>;

// 16 bytes from each of p, p + step, ... . By registers: a load of what was just stored in parts would wait for it.
template <int N>
inline VecN<uint8_t, N> sixteens(const uint8_t* p, int64_t step) {
  if constexpr (N == 16) {
    return load_unaligned<VecN<uint8_t, 16>>(p);
  } else {
    const auto a = sixteens<N / 2>(p, step), b = sixteens<N / 2>(p + N / 32 * step, step);
    return [&]<int... i>(std::integer_sequence<int, i...>) {
      return __builtin_shufflevector(a, b, i...);
    }(std::make_integer_sequence<int, N>{});
  }
}

// The quads of a row from p on: word d holds pixels 4 (d / words) .. + 3 of channel d % words. Reads vector_bytes.
template <int C, bool alpha>
inline Words row_quads(const uint8_t* p) {
  Bytes x;
  if constexpr (C == 3) {
#if defined(__AVX512VBMI__)
    x = load_unaligned<Bytes>(p);
    return (Words)shuffled(x, x, [](int i) { return i % 16 < 12 ? i / 16 * 12 + i % 4 * 3 + i % 16 / 4 : 0; });
#else
    x = sixteens<vector_bytes>(p, 12);
    return (Words)shuffled(x, x,
                           [](int i) { return i % 16 < 12 ? i / 16 * 16 + i % 4 * 3 + i % 16 / 4 : i / 16 * 16; });
#endif
  } else {
    x = load_unaligned<Bytes>(p);
    if constexpr (alpha) x = multiply_alpha<C>(x);
    if constexpr (C == 1) return (Words)x;
    if constexpr (C == 2) return (Words)shuffled(x, x, [](int i) { return i / 8 * 8 + i % 4 * 2 + i % 8 / 4; });
    return (Words)shuffled(x, x, [](int i) { return i / 16 * 16 + i % 4 * 4 + i % 16 / 4; });
  }
}

// Quads [lo, hi) of rows of n bytes as vectors over the rows: tile[(q - lo) * C + c]. Fills up to whole vectors of a
// row, hence tile_room; past the row's end are zeros.
template <int C, bool alpha>
void load_quads(const uint8_t* const* rows, int64_t n, int64_t lo, int64_t hi, Words* tile) {
  constexpr int W = words_of_pixels<C>;
  for (int64_t q = lo; q < hi; q += quads_at_once<C>) {
    Words square[rows_at_once];
    const int64_t at = q * 4 * C;
    if (at + vector_bytes <= n) {
      for (int r = 0; r < rows_at_once; ++r) square[r] = row_quads<C, alpha>(rows[r] + at);
    } else {
      uint8_t end[vector_bytes] = {};
      for (int r = 0; r < rows_at_once; ++r) {
        if (at < n) std::memcpy(end, rows[r] + at, n - at);
        square[r] = row_quads<C, alpha>(end);
      }
    }
    transpose<int32_t>(square);
    for (int d = 0; d < rows_at_once; ++d)
      if (d % W < C) tile[(q - lo + d / W) * C + d % W] = square[d];
  }
}
template <int C>
int64_t tile_room(int64_t quads) {
  return round_up(quads, quads_at_once<C>) * C;
}

// The channels of one output, in every row.
template <int C, int Q>
inline void sum_quads(const Words* tile, int64_t quads, const int32_t* w, Words* found) {
  Sums s[C] = {};
  const int64_t n = Q ? Q : quads;
  for (int64_t q = 0; q < n; ++q)
    for (int c = 0; c < C; ++c) add_quads(s[c], (Bytes)tile[q * C + c], w + q * weight_words);
  for (int c = 0; c < C; ++c) found[c] = total(s[c]);
}

// Outputs [lo, hi) of n_rows rows, at to[row]. tile: from quad `begin` on.
template <int C, int Q>
void sum_tile(const Words* tile, int64_t begin, const QuadTable& t, int64_t lo, int64_t hi, uint8_t* const* to,
              int n_rows) {
  constexpr int G = C == 4 ? 1 : C == 2 ? 2 : 4;  // outputs whose channels fill words
  Words pending[rows_at_once];
  int n = 0;
  int64_t done = 0;
  const int64_t n_bytes = (hi - lo) * C;
  auto flush = [&] {
    for (int d = n; d < rows_at_once; ++d) pending[d] = Words{};
    transpose<int32_t>(pending);
    const int64_t size = std::min<int64_t>(vector_bytes, n_bytes - done);
    if (size == vector_bytes)
      for (int r = 0; r < n_rows; ++r) store_bits(to[r] + done, pending[r]);
    else
      for (int r = 0; r < n_rows; ++r) std::memcpy(to[r] + done, &pending[r], size);
    done += size, n = 0;
  };
  for (int64_t o = lo; o < hi; o += G) {
    Words sum[G * C];
    for (int g = 0; g < G; ++g) {
      const int64_t at = std::min(o + g, hi - 1);
      sum_quads<C, Q>(tile + (t.first[at] - begin) * C, t.quads, t.weight.data() + at * t.quads * weight_words,
                      sum + g * C);
    }
    for (int k = 0; k < G * C; k += 4) {
      const Bytes four = narrowed(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
      pending[n++] = (Words)shuffled(four, four, [](int i) { return i / 16 * 16 + i % 4 * 4 + i % 16 / 4; });
      if (n == rows_at_once) flush();
    }
  }
  if (done < n_bytes) flush();
}

// Outputs whose windows are too long for a tile: each quad of a few outputs is added as tiles of the row come by.
template <int C, bool alpha>
void sum_long_columns(const uint8_t* const* rows, int n_rows, int64_t n, const QuadTable& t, int64_t n_out,
                      uint8_t* const* to, int64_t most, Lease& lease) {
  Words* const tile = lease->tile.get<Words>(tile_room<C>(most));
  for (int64_t o = 0; o < n_out; ++o) {
    Sums s[C] = {};
    for (int64_t q = 0; q < t.quads; q += most) {
      const int64_t end = std::min(t.quads, q + most);
      load_quads<C, alpha>(rows, n, t.first[o] + q, t.first[o] + end, tile);
      for (int64_t k = q; k < end; ++k)
        for (int c = 0; c < C; ++c)
          add_quads(s[c], (Bytes)tile[(k - q) * C + c], t.weight.data() + (o * t.quads + k) * weight_words);
    }
    for (int c = 0; c < C; ++c) {
      const Words sum = total(s[c]);
      for (int r = 0; r < n_rows; ++r) to[r][o * C + c] = uint8_t(std::clamp(sum[r], 0, 255));
    }
  }
}

// Rows of n bytes, packed: all outputs of each, at to[row]. rows: rows_at_once pointers, of which n_rows count.
template <int C, bool alpha>
void sum_columns(const uint8_t* const* rows, int n_rows, int64_t n, const QuadTable& t, int64_t n_out,
                 uint8_t* const* to, Lease& lease) {
  const int64_t most = std::max<int64_t>(1, tuning.byte_tile_bytes / int64_t(C * sizeof(Words)));
  if (4 * t.quads > most) return sum_long_columns<C, alpha>(rows, n_rows, n, t, n_out, to, most, lease);
  Words* const tile = lease->tile.get<Words>(tile_room<C>(most));
  for (int64_t lo = 0; lo < n_out;) {
    const int64_t begin = t.first[lo];
    int64_t hi = lo + 1;  // the end of the most outputs whose quads fit
    for (int64_t end = n_out; hi < end;) {
      const int64_t middle = hi + (end - hi) / 2;
      if (t.first[middle] - begin + t.quads <= most) hi = middle + 1;
      else end = middle;
    }
    if (hi < n_out && hi - lo > vector_bytes) hi -= (hi - lo) % vector_bytes;  // so that stores are whole vectors
    load_quads<C, alpha>(rows, n, begin, t.first[hi - 1] + t.quads, tile);
    uint8_t* at[rows_at_once];
    for (int r = 0; r < n_rows; ++r) at[r] = to[r] + lo * C;
    const bool found =
        with_constant<1, 2, 3, 4>(t.quads, [&]<int Q>() { sum_tile<C, Q>(tile, begin, t, lo, hi, at, n_rows); });
    if (!found) sum_tile<C, 0>(tile, begin, t, lo, hi, at, n_rows);
    lo = hi;
  }
}

// ---- rows

template <bool whole>
inline Bytes load_bytes(const uint8_t* p, int64_t n) {
  if constexpr (whole) return load_unaligned<Bytes>(p);
  Bytes x{};
  std::memcpy(&x, p, n);
  return x;
}

// Four rows as quads, which `narrowed` puts in order again.
inline void add_rows(Sums* s, Bytes x0, Bytes x1, Bytes x2, Bytes x3, const int32_t* w) {
  constexpr int V = vector_bytes;
  auto low8 = [](int i) { return i / 16 * 16 + i % 16 / 2 + i % 2 * V; };
  auto high8 = [](int i) { return i / 16 * 16 + 8 + i % 16 / 2 + i % 2 * V; };
  auto low16 = [](int i) { return i / 16 * 16 + i % 16 / 4 * 2 + i % 2 + i % 4 / 2 * V; };
  auto high16 = [](int i) { return i / 16 * 16 + 8 + i % 16 / 4 * 2 + i % 2 + i % 4 / 2 * V; };
  const Bytes a = shuffled(x0, x1, low8), b = shuffled(x0, x1, high8);
  const Bytes c = shuffled(x2, x3, low8), d = shuffled(x2, x3, high8);
  add_quads(s[0], shuffled(a, c, low16), w), add_quads(s[1], shuffled(a, c, high16), w);
  add_quads(s[2], shuffled(b, d, low16), w), add_quads(s[3], shuffled(b, d, high16), w);
}

// A vector of sums over `count` rows, from column j on. Without `whole` it ends after n columns.
template <bool whole>
inline Bytes sum_rows(const uint8_t* const* rows, int64_t count, const int32_t* w, int64_t j, int64_t n = 0) {
  Sums s[4] = {};
  int64_t k = 0;
  auto row = [&](int64_t r) { return load_bytes<whole>(rows[r] + j, n); };
  for (; k + 4 <= count; k += 4, w += weight_words) add_rows(s, row(k), row(k + 1), row(k + 2), row(k + 3), w);
  const Bytes none{};
  if (count - k == 3) add_rows(s, row(k), row(k + 1), row(k + 2), none, w);
  if (count - k == 2) add_rows(s, row(k), row(k + 1), none, none, w);
  if (count - k == 1) add_rows(s, row(k), none, none, none, w);
  return narrowed(total(s[0]), total(s[1]), total(s[2]), total(s[3]));
}

// n columns of the sum over `count` rows.
inline void sum_row(const uint8_t* const* rows, int64_t count, const int32_t* w, uint8_t* dst, int64_t n) {
  int64_t j = 0;
  for (; j + vector_bytes <= n; j += vector_bytes) store_bits(dst + j, sum_rows<true>(rows, count, w, j));
  if (j == n) return;
  if (n >= vector_bytes) {  // one more vector, ending at n: it overlaps the last one and stores the same sums
    j = n - vector_bytes;
    store_bits(dst + j, sum_rows<true>(rows, count, w, j));
  } else {
    const Bytes sums = sum_rows<false>(rows, count, w, j, n);
    std::memcpy(dst, &sums, n);
  }
}

// ---- tasks

inline bool packed(const ByteTask& t) {
  return (t.inner <= 1 || t.inner_stride == 1) && (t.n_column <= 1 || t.column_stride == t.inner);
}

// A row's values, side by side.
inline void pack_row(const ByteTask& t, const uint8_t* src, uint8_t* dst) {
  if (packed(t)) {
    std::memcpy(dst, src, t.n_column * t.inner);
    return;
  }
  for (int64_t j = 0; j < t.n_column; ++j)
    for (int64_t c = 0; c < t.inner; ++c) *dst++ = uint8_t(src[j * t.column_stride + c * t.inner_stride]);
}

template <int C>
void multiply_alpha(uint8_t* p, int64_t n) {
  int64_t i = 0;
  for (; i + vector_bytes <= n; i += vector_bytes) store_bits(p + i, multiply_alpha<C>(load_unaligned<Bytes>(p + i)));
  Bytes end{};
  std::memcpy(&end, p + i, n - i);
  end = multiply_alpha<C>(end);
  std::memcpy(p + i, &end, n - i);
}

// All columns of n_rows rows, at to[row]. rows: rows_at_once pointers. alpha: multiplied first.
inline void columns(const ByteTask& t, const uint8_t* (&rows)[rows_at_once], int n_rows, uint8_t* const* to, bool alpha,
                    bool are_packed, Lease& lease) {
  const int64_t n = t.n_column * t.inner;
  if (!are_packed) {
    uint8_t* const room = lease->gathered.get<uint8_t>(n * n_rows);
    for (int r = 0; r < n_rows; ++r) {
      pack_row(t, rows[r], room + r * n);
      rows[r] = room + r * n;
    }
  }
  std::fill(rows + n_rows, rows + rows_at_once, rows[n_rows - 1]);
  const ByteMap& m = *t.column;
  if (t.inner > max_byte_inner) {  // each output's inner values are a sum of rows
    const uint8_t** const taps = lease->taps.get<const uint8_t*>(std::max<int64_t>(1, m.longest));
    const int64_t words = t.column_quads->quads * weight_words;
    for (int r = 0; r < n_rows; ++r)
      for (int64_t o = 0; o < m.n_out; ++o) {
        for (int64_t k = 0; k < m.count(o); ++k) taps[k] = rows[r] + (m.first(o) + k) * t.inner;
        sum_row(taps, m.count(o), t.column_quads->weight.data() + o * words, to[r] + o * t.inner, t.inner);
      }
    return;
  }
  with_constant<1, 2, 3, 4>(t.inner, [&]<int C>() {
    if constexpr (C == 2 || C == 4)
      if (alpha) return sum_columns<C, true>(rows, n_rows, n, *t.column_quads, m.n_out, to, lease);
    sum_columns<C, false>(rows, n_rows, n, *t.column_quads, m.n_out, to, lease);
  });
}

// Rows of results on their way out: divided by alpha, past the caches.
inline void finish(const ByteTask& t, uint8_t* made, uint8_t* dst, int64_t n) {
  if (t.alpha) divide_alpha(made, n, t.inner);
  if (made != dst) stream_store(dst, made, n);
}

// Columns alone: input rows [lo, hi) of a plane are output rows.
inline void columns_alone(const ByteTask& t, const uint8_t* src, uint8_t* dst, int64_t lo, int64_t hi, Lease& lease) {
  const int64_t n_out = t.column->n_out * t.inner;
  uint8_t* const staging = t.stream ? lease->staging.get<uint8_t>(rows_at_once * n_out) : nullptr;
  for (; lo < hi; lo += rows_at_once) {
    const int n_rows = int(std::min<int64_t>(rows_at_once, hi - lo));
    const uint8_t* rows[rows_at_once];
    uint8_t* to[rows_at_once];
    for (int r = 0; r < n_rows; ++r) {
      rows[r] = src + (lo + r) * t.row_stride;
      to[r] = staging ? staging + r * n_out : dst + (lo + r) * n_out;
    }
    columns(t, rows, n_rows, to, t.alpha, packed(t), lease);
    for (int r = 0; r < n_rows; ++r) finish(t, to[r], dst + (lo + r) * n_out, n_out);
  }
}

// Output rows [lo, hi) of a plane. Input rows that some output reads are made ready in groups: resampled along the
// columns, or multiplied by alpha, into a ring of rows that stays in cache; or they are read where they are. An output
// row is summed as soon as its inputs are ready.
inline void rows_of(const ByteTask& t, const uint8_t* src, uint8_t* dst, int64_t lo, int64_t hi, Lease& lease) {
  const ByteMap& m = *t.row;
  const bool columns_first = t.column && !t.rows_first, in_place = !columns_first && !t.alpha;
  const int64_t n_in = t.n_column * t.inner, n_out = t.column ? t.column->n_out * t.inner : n_in;
  const int64_t n = columns_first ? n_out : n_in, pitch = round_up(n, vector_bytes);
  const int64_t capacity = m.longest + rows_at_once, base = m.first(lo), words = t.row_quads->quads * weight_words;
  uint8_t* const ring = in_place ? nullptr : lease->row.get<uint8_t>(capacity * pitch);
  // Of each input row, its number among those that are read, which is its place in the ring.
  int64_t* const number = lease->plane.get<int64_t>(in_place ? 1 : std::max<int64_t>(1, m.stop(hi - 1) - base));
  const uint8_t** const taps = lease->row_taps.get<const uint8_t*>(std::max<int64_t>(1, m.longest));
  int64_t ready = base, made = 0;
  auto prepare = [&](int64_t o) {
    const uint8_t* from[rows_at_once];
    uint8_t* to[rows_at_once];
    int group = 0;
    int64_t i = std::max(ready, m.first(o));
    for (; group < rows_at_once; ++group, ++i, ++made) {
      while (o < hi && m.stop(o) <= i) ++o;
      if (o == hi) break;
      i = std::max(i, m.first(o));
      number[i - base] = made;
      from[group] = src + i * t.row_stride, to[group] = ring + made % capacity * pitch;
    }
    ready = i;
    if (columns_first) return columns(t, from, group, to, t.alpha, packed(t), lease);
    for (int r = 0; r < group; ++r) {
      pack_row(t, from[r], to[r]);
      if (t.inner == 2) multiply_alpha<2>(to[r], n);
      else multiply_alpha<4>(to[r], n);
    }
  };
  // Sums of rows that are resampled along the columns afterwards, or that are streamed.
  const int64_t held = t.column && t.rows_first ? rows_at_once : 1;
  const bool staged = held > 1 || t.stream;
  uint8_t* const sums =
      staged ? lease->staging.get<uint8_t>(held * pitch + (held > 1 && t.stream ? held * n_out : 0)) : nullptr;
  for (int64_t group = lo; group < hi; group += held) {
    const int64_t end = std::min(hi, group + held);
    for (int64_t o = group; o < end; ++o) {
      if (!in_place)
        while (m.count(o) && ready < m.stop(o)) prepare(o);
      for (int64_t k = 0; k < m.count(o); ++k) {
        const int64_t i = m.first(o) + k;
        taps[k] = in_place ? src + i * t.row_stride : ring + number[i - base] % capacity * pitch;
      }
      uint8_t* const to = staged ? sums + (o - group) * pitch : dst + o * n_out;
      sum_row(taps, m.count(o), t.row_quads->weight.data() + o * words, to, n);
      if (held == 1) finish(t, to, dst + o * n_out, n_out);
    }
    if (held == 1) continue;
    const uint8_t* from[rows_at_once];
    uint8_t* to[rows_at_once];
    for (int64_t o = group; o < end; ++o) {
      from[o - group] = sums + (o - group) * pitch;
      to[o - group] = t.stream ? sums + held * pitch + (o - group) * n_out : dst + o * n_out;
    }
    columns(t, from, int(end - group), to, false, true, lease);
    for (int64_t o = group; o < end; ++o) finish(t, to[o - group], dst + o * n_out, n_out);
  }
}

inline void bytes(const ByteTask& t, int threads) {
  int64_t outer = 1;
  for (int d = 0; d < t.n_outer; ++d) outer *= t.outer_shape[d];
  const int64_t n_rows = t.row ? t.row->n_out : t.n_row, n_in = t.n_column * t.inner;
  const int64_t n_out = t.column ? t.column->n_out * t.inner : n_in;
  const int64_t read = t.n_row * n_in, n_bytes = outer * std::max(read, n_rows * n_out);
  const Team team = team_for(8 * n_bytes, threads);
  // Bands of output rows: neighbors make the rows that both read, so bands are no more than what threads need.
  const int64_t wanted = std::max(ceil_div(team.threads > 1 ? 4 * team.threads : 1, outer),
                                  ceil_div(n_bytes / std::max<int64_t>(1, outer), tuning.byte_band_bytes));
  int64_t least = rows_at_once;
  if (t.row) least = std::max(least, 4 * t.row->longest * n_rows / std::max<int64_t>(1, t.n_row));
  const int64_t height = round_up(std::max(least, ceil_div(n_rows, wanted)), rows_at_once);
  const int64_t n_bands = ceil_div(n_rows, height);
  parallel(outer * n_bands, team, [&](int64_t p) {
    int64_t index = p / n_bands, offset = 0;
    const int64_t lo = p % n_bands * height, hi = std::min(n_rows, lo + height);
    uint8_t* const dst = t.dst + index * n_rows * n_out;
    for (int d = t.n_outer - 1; d >= 0; --d) {
      offset += index % t.outer_shape[d] * t.outer_stride[d];
      index /= t.outer_shape[d];
    }
    Lease lease;
    if (t.row) rows_of(t, t.src + offset, dst, lo, hi, lease);
    else columns_alone(t, t.src + offset, dst, lo, hi, lease);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
