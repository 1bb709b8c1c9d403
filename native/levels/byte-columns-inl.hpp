// Sums of 8-bit values along columns. A tile of `lanes` rows is transposed in words of four adjacent inputs of one
// channel (a quad), so that a vector holds one quad of each row. An output is a sum of such vectors. All lanes share
// its weights, whatever the number of channels.
#pragma once
#include "levels/byte-alpha-inl.hpp"
#include "system/tuning.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

// How many words a vector of a row's bytes gives for four pixels. With three channels every fourth word is unused.
template <int C>
constexpr int words_of_pixels = C == 3 ? 4 : C;
template <int C>
constexpr int quads_at_once = rows_at_once / words_of_pixels<C>;
constexpr int64_t prefetched_bytes = 512;  // of each row, ahead

// Loads 16 bytes from each of p, p + step, ... through registers: a vector load of bytes that were just stored in
// pieces would wait for the stores.
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

// The quads of a row from p on. Word d holds pixels 4 (d / words) .. + 3 of channel d % words. Reads vector_bytes.
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

// Loads quads [lo, hi) of rows of n bytes as vectors over the rows: tile[(q - lo) * C + c]. It fills whole vectors of a
// row, so `tile` needs tile_room. Bytes after the end of a row are zeros. Prefetches what is loaded next, from these
// rows or from those `after` them, because hardware prefetchers do not follow so many rows.
template <int C, bool alpha>
void load_quads(const uint8_t* const* rows, const uint8_t* const* after, int64_t n, int64_t lo, int64_t hi,
                Words* tile) {
  constexpr int W = words_of_pixels<C>;
  for (int64_t q = lo; q < hi; q += quads_at_once<C>) {
    Words square[rows_at_once];
    const int64_t at = q * 4 * C;
    if (at + vector_bytes <= n) {
      const int64_t later = at + prefetched_bytes;
      const uint8_t* const* const next = later < n ? rows : after;
      const int64_t place = later < n ? later : later - n;
      for (int r = 0; r < rows_at_once; ++r) {
        __builtin_prefetch(next[r] + place);
        square[r] = row_quads<C, alpha>(rows[r] + at);
      }
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

// Sums the channels of one output, in every row.
template <int C, int Q>
inline void sum_quads(const Words* tile, int64_t quads, const int32_t* w, Words* found) {
  Sums s[C] = {};
  const int64_t n = Q ? Q : quads;
  for (int64_t q = 0; q < n; ++q)
    for (int c = 0; c < C; ++c) add_quads(s[c], (Bytes)tile[q * C + c], w + q * weight_words);
  for (int c = 0; c < C; ++c) found[c] = total(s[c]);
}

// Stores outputs [lo, hi) of n_rows rows at to[row]. tile: the inputs from quad `begin` on.
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

// Computes outputs whose windows are longer than a tile: the quads of an output are added tile by tile.
template <int C, bool alpha>
void sum_long_columns(const uint8_t* const* rows, int n_rows, int64_t n, const QuadTable& t, int64_t n_out,
                      uint8_t* const* to, int64_t most, Lease& lease) {
  Words* const tile = lease->tile.get<Words>(tile_room<C>(most));
  for (int64_t o = 0; o < n_out; ++o) {
    Sums s[C] = {};
    for (int64_t q = 0; q < t.quads; q += most) {
      const int64_t end = std::min(t.quads, q + most);
      load_quads<C, alpha>(rows, rows, n, t.first[o] + q, t.first[o] + end, tile);
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

// Computes all outputs of contiguous rows of n bytes, and stores them at to[row]. rows: rows_at_once pointers, the
// first n_rows of which are used. after: as many pointers to the rows that are read next, to prefetch them.
template <int C, bool alpha>
void sum_columns(const uint8_t* const* rows, const uint8_t* const* after, int n_rows, int64_t n, const QuadTable& t,
                 int64_t n_out, uint8_t* const* to, Lease& lease) {
  const int64_t most = std::max<int64_t>(1, tuning.byte_tile_bytes / int64_t(C * sizeof(Words)));
  if (4 * t.quads > most) return sum_long_columns<C, alpha>(rows, n_rows, n, t, n_out, to, most, lease);
  Words* const tile = lease->tile.get<Words>(tile_room<C>(most));
  for (int64_t lo = 0; lo < n_out;) {
    const int64_t begin = t.first[lo];
    int64_t hi = lo + 1;  // outputs [lo, hi) are as many as have their quads in the tile
    for (int64_t end = n_out; hi < end;) {
      const int64_t middle = hi + (end - hi) / 2;
      if (t.first[middle] - begin + t.quads <= most) hi = middle + 1;
      else end = middle;
    }
    if (hi < n_out && hi - lo > vector_bytes) hi -= (hi - lo) % vector_bytes;  // so that stores are whole vectors
    load_quads<C, alpha>(rows, after, n, begin, t.first[hi - 1] + t.quads, tile);
    uint8_t* at[rows_at_once];
    for (int r = 0; r < n_rows; ++r) at[r] = to[r] + lo * C;
    const bool found =
        with_constant<1, 2, 3, 4>(t.quads, [&]<int Q>() { sum_tile<C, Q>(tile, begin, t, lo, hi, at, n_rows); });
    if (!found) sum_tile<C, 0>(tile, begin, t, lo, hi, at, n_rows);
    lo = hi;
  }
}

}  // namespace
}  // namespace tenter
