// Interpolates 8-bit values along two axes, with two or four taps along each. Input rows are first summed along the
// columns into rows of 16 bits (byte-tap-columns-inl.hpp), as many as an output row has taps. These stay in cache, and
// output rows are sums of them.
#pragma once
#include <algorithm>

#include "levels/byte-tap-columns-inl.hpp"
#include "levels/stream-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// Stores n bytes; four(k) makes vector k.
template <class F>
inline void store_row(uint8_t* dst, int64_t n, F&& four) {
  int64_t k = 0;
  for (; (k + 1) * vector_bytes <= n; ++k) store_bits(dst + k * vector_bytes, four(k));
  if (k * vector_bytes == n) return;
  const Bytes last = four(k);
  std::memcpy(dst + k * vector_bytes, &last, size_t(n - k * vector_bytes));
}

// Interpolates between two rows of sums. Each product is rounded, as in OpenCV.
inline void stepped_row(const Halves* const* row, const int16_t* weight, uint8_t* dst, int64_t n) {
  const Halves w0 = splat(weight[0]), w1 = splat(weight[1]);
  store_row(dst, n, [&](int64_t k) {
    auto between = [&](int64_t h) {
      return (multiply_high(row[0][h], w0) + multiply_high(row[1][h], w1) + int16_t(2)) >> 2;
    };
    return in_order(bytes_of(between(2 * k), between(2 * k + 1)));
  });
}

// Sums P pairs of rows and rounds half to even.
template <int P>
void tap_row(const Halves* const* row, const int16_t* weight, uint8_t* dst, int64_t n) {
  constexpr int shift = 2 * tap_bits - 8;
  Words w[P];
  for (int p = 0; p < P; ++p) w[p] = splat(int32_t(uint16_t(weight[2 * p])) | weight[2 * p + 1] * (1 << 16));
  auto low = [](int i) { return i / 16 * 16 + i % 16 / 4 * 2 + i % 2 + i % 4 / 2 * vector_bytes; };
  auto high = [](int i) { return i / 16 * 16 + 8 + i % 16 / 4 * 2 + i % 2 + i % 4 / 2 * vector_bytes; };
  // Rounding: almost a half is added first, then 1 if the result is odd. A sum that is exactly between two integers is
  // therefore rounded to the even one.
  const Words below_half = splat((1 << (shift - 1)) - 1);
  auto rounded = [](Words s) { return (s + (s >> shift & 1)) >> shift; };
  store_row(dst, n, [&](int64_t k) {
    auto sums = [&](int64_t h) {
      Words s[] = {below_half, below_half};
      for (int p = 0; p < P; ++p) {
        const auto a = (Bytes)row[2 * p][h], b = (Bytes)row[2 * p + 1][h];
        s[0] = add_pairs(s[0], (Words)shuffled(a, b, low), w[p]);
        s[1] = add_pairs(s[1], (Words)shuffled(a, b, high), w[p]);
      }
      return halves_of(rounded(s[0]), rounded(s[1]));
    };
    return in_order(bytes_of(sums(2 * k), sums(2 * k + 1)));
  });
}

// Whether each output is the mean of a square of two by two adjacent inputs.
inline bool halves(const TapsTask& t) {
  auto of = [](const TapsAxis& m) {
    for (size_t o = 0; o < size_t(m.n_out) && m.taps == 2; ++o)
      if (m.weight[2 * o] != m.weight[2 * o + 1] || m.input[2 * o] != m.input[0] + 2 * int64_t(o) ||
          m.input[2 * o + 1] != m.input[2 * o] + 1)
        return false;
    return m.taps == 2;
  };
  const bool together = t.inner == 1 || (t.inner == 4 && t.inner_stride == 1);
  return together && t.column_stride == t.inner && of(*t.column) && of(*t.row);
}

// Averages squares of two rows into n outputs of C channels. even: rounds halves to even, else up.
template <int C, bool even>
void halve_rows(const uint8_t* a, const uint8_t* b, uint8_t* dst, int64_t n) {
  typedef Vec<uint16_t> Pairs;
  auto mean = [](auto sum) {
    if constexpr (even) return (sum + 1 + (sum >> 2 & 1)) >> 2;
    else return (sum + 2) >> 2;
  };
  auto means = [&](int64_t at) {
    auto pairs = [](Bytes x) {
      if constexpr (C == 4) x = shuffled(x, x, [](int i) { return i / 8 * 8 + i % 2 * 4 + i % 8 / 2; });
      return ((Pairs)x & 255) + ((Pairs)x >> 8);
    };
    return (Halves)mean(pairs(load_unaligned<Bytes>(a + at)) + pairs(load_unaligned<Bytes>(b + at)));
  };
  int64_t j = 0;
  for (; j + vector_bytes <= n; j += vector_bytes) {
    const Bytes mixed = bytes_of(means(2 * j), means(2 * j + vector_bytes));
    store_bits(dst + j, in_order(mixed));
  }
  for (; j < n; ++j) {
    const int64_t at = j / C * 2 * C + j % C;
    dst[j] = uint8_t(mean(a[at] + a[at + C] + b[at] + b[at + C]));
  }
}

// Computes output rows [lo, hi) of a plane. The sums of input row i are cached in slot i % taps. The taps of an output
// row are adjacent, so they never need the same slot.
template <int P>
void tap_rows(const TapsTask& t, const TapColumns& c, const uint8_t* src, uint8_t* dst, int64_t lo, int64_t hi,
              Lease& lease) {
  const TapsAxis& m = *t.row;
  const int64_t n = t.column->n_out * t.inner;
  Halves* const room = lease->row.get<Halves>(c.pitch * m.taps);
  uint8_t* const staging = t.stream ? lease->staging.get<uint8_t>(n) : nullptr;
  int64_t held[max_byte_taps];
  std::fill_n(held, max_byte_taps, -1);
  for (int64_t o = lo; o < hi; ++o) {
    const int32_t *const inputs = m.input.data() + o * m.taps, *const later = inputs + (o + 1 < hi ? m.taps : 0);
    const uint8_t *from[max_byte_taps], *next[max_byte_taps];
    Halves* to[max_byte_taps];
    const Halves* sums[max_byte_taps];
    int missing = 0;
    for (int k = 0; k < m.taps; ++k) {
      const int64_t i = inputs[k], place = i % m.taps;
      sums[k] = room + place * c.pitch;
      if (held[place] == i) continue;
      next[missing] = src + later[k] * t.row_stride;
      from[missing] = src + i * t.row_stride, to[missing] = room + place * c.pitch, held[place] = i, ++missing;
    }
    int made = 0;
    for (; made + 2 <= missing; made += 2) tap_columns<P, 2>(c, from + made, next + made, to + made);
    if (made < missing) tap_columns<P, 1>(c, from + made, next + made, to + made);
    uint8_t* const row = staging ? staging : dst + o * n;
    const int16_t* const weight = m.weight.data() + o * m.taps;
    if (t.rounds_products) stepped_row(sums, weight, row, n);
    else if (m.taps == 2) tap_row<1>(sums, weight, row, n);
    else tap_row<2>(sums, weight, row, n);
    if (staging) stream_store(dst + o * n, staging, n);
  }
}

inline void halved_rows(const TapsTask& t, const uint8_t* src, uint8_t* dst, int64_t lo, int64_t hi, Lease& lease) {
  const int64_t n = t.column->n_out * t.inner;
  uint8_t* const staging = t.stream ? lease->staging.get<uint8_t>(n) : nullptr;
  auto* const halve = t.inner == 1        ? t.rounds_products ? halve_rows<1, false> : halve_rows<1, true>
                      : t.rounds_products ? halve_rows<4, false>
                                          : halve_rows<4, true>;
  src += t.column->input[0] * t.column_stride;
  for (int64_t o = lo; o < hi; ++o) {
    uint8_t* const row = staging ? staging : dst + o * n;
    const uint8_t* const first = src + t.row->input[size_t(2 * o)] * t.row_stride;
    halve(first, first + t.row_stride, row, n);
    if (staging) stream_store(dst + o * n, staging, n);
  }
}

inline void byte_taps(const TapsTask& t, int threads) {
  int64_t outer = 1;
  for (int d = 0; d < t.n_outer; ++d) outer *= t.outer_shape[d];
  const TapsAxis& m = *t.row;
  const int64_t n = t.column->n_out * t.inner, n_bytes = outer * m.n_out * n;
  if (!n_bytes) return;
  const bool halved = halves(t);
  Lease tables;
  const TapColumns c = halved ? TapColumns{} : tap_columns_of(t, tables);
  const Team team = team_for(8 * n_bytes, threads);
  constexpr int64_t least_rows = 16;  // two tasks compute the rows that both read
  const int64_t wanted = std::max(ceil_div(team.threads > 1 ? 4 * team.threads : 1, outer),
                                  ceil_div(n_bytes / outer, tuning.byte_chunk_bytes));
  const int64_t height = std::max(least_rows, ceil_div(m.n_out, wanted)), n_chunks = ceil_div(m.n_out, height);
  parallel(outer * n_chunks, team, [&](int64_t p) {
    int64_t index = p / n_chunks, offset = 0;
    const int64_t lo = p % n_chunks * height, hi = std::min(m.n_out, lo + height);
    uint8_t* const dst = t.dst + index * m.n_out * n;
    for (int d = t.n_outer - 1; d >= 0; --d) {
      offset += index % t.outer_shape[d] * t.outer_stride[d];
      index /= t.outer_shape[d];
    }
    Lease lease;
    if (halved) halved_rows(t, t.src + offset, dst, lo, hi, lease);
    else if (t.column->taps == 2) tap_rows<1>(t, c, t.src + offset, dst, lo, hi, lease);
    else tap_rows<2>(t, c, t.src + offset, dst, lo, hi, lease);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
