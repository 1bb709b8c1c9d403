// Sums of 8-bit values along columns. A tile of `lanes` rows is transposed in words of four adjacent inputs of one
// channel (a quad). Each gives one or two vectors of groups, with a group of each row. An output is a sum of such
// vectors. All lanes share its weights, whatever the number of channels.
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

constexpr int quad_groups = 4 / group_taps;
// The pixel of byte i of a quad. Of pairs, one is in the even bytes and one in the odd ones.
constexpr int pixel_of(int i) { return group_taps == 2 ? i % 2 * 2 + i % 4 / 2 : i % 4; }

// The quads of a row from p on. Word d holds pixels 4 (d / words) .. + 3 of channel d % words. Reads vector_bytes.
template <int C, bool alpha>
inline Words row_quads(const uint8_t* p) {
  Bytes x;
  if constexpr (C == 3) {
#if defined(__AVX512VBMI__)
    x = load_unaligned<Bytes>(p);
    return (Words)shuffled(x, x, [](int i) { return i % 16 < 12 ? i / 16 * 12 + pixel_of(i) * 3 + i % 16 / 4 : 0; });
#else
    x = sixteens<vector_bytes>(p, 12);
    return (Words)shuffled(
        x, x, [](int i) { return i % 16 < 12 ? i / 16 * 16 + pixel_of(i) * 3 + i % 16 / 4 : i / 16 * 16; });
#endif
  } else {
    x = load_unaligned<Bytes>(p);
    if constexpr (alpha) x = multiply_alpha<C>(x);
    return (Words)shuffled(x, x, [](int i) { return i / (4 * C) * (4 * C) + pixel_of(i) * C + i % (4 * C) / 4; });
  }
}

// Loads quads [lo, hi) of rows of n bytes as vectors over the rows: group g is at tile[(g - lo * quad_groups) * C + c].
// It fills whole vectors of a row, so `tile` needs tile_room. Bytes after the end of a row are zeros. Prefetches what
// is loaded next, from these rows or from those `after` them, because hardware prefetchers do not follow so many rows.
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
    for (int d = 0; d < rows_at_once; ++d) {
      if (d % W >= C) continue;
      Words* const to = tile + (q - lo + d / W) * quad_groups * C + d % W;
      if constexpr (quad_groups == 1) to[0] = square[d];
      else to[0] = square[d] & 0x00ff00ff, to[C] = (Words)((Vec<uint16_t>)square[d] >> 8);
    }
  }
}
template <int C>
int64_t tile_room(int64_t groups) {
  return round_up(ceil_div(groups, quad_groups) + 1, quads_at_once<C>) * quad_groups * C;
}

// Stores outputs [lo, hi) of n_rows rows at to[row]. tile: the inputs from group `begin` on.
template <int C>
void sum_tile(const Words* tile, int64_t begin, const TapGroups& t, int64_t lo, int64_t hi, uint8_t* const* to,
              int n_rows) {
  constexpr int G = C == 4 ? 1 : C == 2 ? 2 : 4;  // outputs whose channels fill words
  constexpr int U = C == 3 ? 1 : G;               // outputs that are summed together
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
    for (int g = 0; g < G; g += U) {
      const Words* from[U];
      const int32_t* w[U];
      for (int u = 0; u < U; ++u) {
        const int64_t at = std::min(o + g + u, hi - 1);
        from[u] = tile + (t.first[at] - begin) * C, w[u] = t.weight.data() + at * t.groups * weight_words;
      }
      auto inputs = [&](int64_t k, Words* x) __attribute__((always_inline)) {
        for (int i = 0; i < U * C; ++i) x[i] = from[i / C][k * C + i % C];
      };
      sum_groups<U * C, C>(t.groups, w, inputs, sum + g * C);
    }
    for (int k = 0; k < G * C; k += 4) {
      const Bytes four = narrowed(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
      pending[n++] = (Words)shuffled(four, four, [](int i) { return i / 16 * 16 + i % 4 * 4 + i % 16 / 4; });
      if (n == rows_at_once) flush();
    }
  }
  if (done < n_bytes) flush();
}

// Computes outputs whose windows are longer than a tile: the groups of an output are added tile by tile.
template <int C, bool alpha>
void sum_long_columns(const uint8_t* const* rows, int n_rows, int64_t n, const TapGroups& t, int64_t n_out,
                      uint8_t* const* to, int64_t most, Lease& lease) {
  Words* const tile = lease->tile.get<Words>(tile_room<C>(most));
  for (int64_t o = 0; o < n_out; ++o) {
    Sums s[C] = {};
    for (int64_t g = 0; g < t.groups; g += most) {
      const int64_t end = std::min(t.groups, g + most), lo = (t.first[o] + g) / quad_groups;
      load_quads<C, alpha>(rows, rows, n, lo, ceil_div(t.first[o] + end, quad_groups), tile);
      for (int64_t k = g; k < end; ++k)
        for (int c = 0; c < C; ++c)
          add_group(s[c], tile[(t.first[o] + k - lo * quad_groups) * C + c],
                    t.weight.data() + (o * t.groups + k) * weight_words);
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
void sum_columns(const uint8_t* const* rows, const uint8_t* const* after, int n_rows, int64_t n, const TapGroups& t,
                 int64_t n_out, uint8_t* const* to, Lease& lease) {
  // Groups in a tile. It holds as many inputs where each takes two bytes.
  const int64_t most = std::max<int64_t>(1, quad_groups * tuning.byte_tile_bytes / int64_t(C * sizeof(Words)));
  if (4 * t.groups > most) return sum_long_columns<C, alpha>(rows, n_rows, n, t, n_out, to, most, lease);
  Words* const tile = lease->tile.get<Words>(tile_room<C>(most));
  for (int64_t lo = 0; lo < n_out;) {
    const int64_t begin = t.first[lo] / quad_groups * quad_groups;
    int64_t hi = lo + 1;  // outputs [lo, hi) are as many as have their groups in the tile
    for (int64_t end = n_out; hi < end;) {
      const int64_t middle = hi + (end - hi) / 2;
      if (t.first[middle] - begin + t.groups <= most) hi = middle + 1;
      else end = middle;
    }
    if (hi < n_out && hi - lo > vector_bytes) hi -= (hi - lo) % vector_bytes;  // so that stores are whole vectors
    load_quads<C, alpha>(rows, after, n, begin / quad_groups, ceil_div(t.first[hi - 1] + t.groups, quad_groups), tile);
    uint8_t* at[rows_at_once];
    for (int r = 0; r < n_rows; ++r) at[r] = to[r] + lo * C;
    sum_tile<C>(tile, begin, t, lo, hi, at, n_rows);
    lo = hi;
  }
}

}  // namespace
}  // namespace tenter
