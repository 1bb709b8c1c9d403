// Sums along rows and columns with few taps each, over pixels of 2 to 4 values. Each output pixel is made of the input
// pixels that it reads, and of no others: most are not read if a picture is shrunk much without antialiasing.
//
// A vector holds a few pixels, each in four lanes. Adjacent taps are loaded together and summed over the rows. They are
// then separated into one vector for each tap, and summed in the order of the taps. Sums and their bits equal those of
// the other kernels for two axes. Columns may ascend or descend in memory.
#pragma once
#include <algorithm>
#include <limits>

#include "kernels/window_kernels.hpp"
#include "levels/axis-inl.hpp"
#include "levels/dtypes-inl.hpp"
#include "rules/bytes.hpp"

namespace tenter {
namespace {

constexpr int slots = lanes<float> / pixel_lanes;  // pixels of a vector, and outputs of a block
constexpr int64_t pixel_task_rows = 32;

// How many of K taps one load reads.
template <int K>
constexpr int loaded = std::min(K, slots);

// How the columns of a call are loaded. Positions are in bytes from a row's first pixel.
struct PixelColumns {
  int64_t n_blocks, whole_lo, whole_hi;  // blocks of outputs; those in [whole_lo, whole_hi) load only inside the row
  int64_t* at;                           // the first load of each output
  int64_t step;                          // from one load of an output to the next
  float* weight;                         // K vectors for each block; see no_tap
  // spread: the lane of a loaded vector that goes to each lane of pixels of four; packed: back, as they are stored.
  // spread_at_ends: the same for loads that begin earlier because a row ends; K vectors for each block that is not
  // whole.
  Index<float> spread, packed;
  int32_t* spread_at_ends;
  bool ragged;  // whether some outputs have fewer than K taps
};
// The weight of a tap that an output does not have. Integers are finite, so adding zero times an integer changes
// nothing. For floats it is NaN, which sum_taps skips.
template <class In>
constexpr float no_tap = std::is_same_v<In, float> ? std::numeric_limits<float>::quiet_NaN() : 0;

template <int... s>
inline Vec<float> slots_of(Vec<float> a, Vec<float> b) {
  constexpr int from[] = {s...};
  return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, (from[l / pixel_lanes] * pixel_lanes + l % pixel_lanes)...);
  }(std::make_integer_sequence<int, lanes<float>>{});
}

// Transposes: from vectors that hold the taps of an output next to each other, to vectors that hold the same tap of all
// outputs.
template <int K>
inline void part_taps(Vec<float> (&v)[K]) {
  if constexpr (slots == 2) {
    constexpr int H = K / 2;
    for (int k = 0; k < H; ++k) {
      const Vec<float> a = v[k], b = v[k + H];
      v[k] = slots_of<0, 2>(a, b), v[k + H] = slots_of<1, 3>(a, b);
    }
    if constexpr (K == 4) std::swap(v[1], v[2]);
  } else if constexpr (slots == 4) {
    for (int k = 0; k < K; k += 2) {
      const Vec<float> a = v[k], b = v[k + 1];
      v[k] = slots_of<0, 2, 4, 6>(a, b), v[k + 1] = slots_of<1, 3, 5, 7>(a, b);
    }
    if constexpr (K == 4) {
      const Vec<float> even[] = {v[0], v[2]}, odd[] = {v[1], v[3]};
      v[0] = slots_of<0, 2, 4, 6>(even[0], even[1]), v[2] = slots_of<1, 3, 5, 7>(even[0], even[1]);
      v[1] = slots_of<0, 2, 4, 6>(odd[0], odd[1]), v[3] = slots_of<1, 3, 5, 7>(odd[0], odd[1]);
    }
  }
}

// Loads vector k of a block's taps.
template <class In, int K>
inline Vec<float> load_taps(const char* const (&p)[slots], int k, int64_t step) {
  constexpr int Q = loaded<K>, n = slots / Q;  // loads of a vector
  auto from = [&](int part) { return p[(k * slots + part * Q) / K] + (k * slots + part * Q) % K / Q * step; };
  if constexpr (n == 1) return load<float, In>(from(0));
  else {
    static_assert(n == 2);
    typedef VecN<In, lanes<float> / 2> Half;
    const Half a = load_unaligned<Half>(from(0)), b = load_unaligned<Half>(from(1));
    const auto both = [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
      return __builtin_shufflevector(a, b, l...);
    }(std::make_integer_sequence<int, lanes<float>>{});
    return load<float, In>(&both);
  }
}

inline Vec<float> spread(Vec<float> v, Index<float> from) {
  if constexpr (slots > 1) return permute<float>(v, places<float>(from));
  Vec<float> spread{};
  for (int l = 0; l < lanes<float>; ++l) spread[l] = v[from[l]];
  return spread;
}

// The sum over an output's taps. ragged: skips the taps that it does not have, because zero times infinity is NaN.
template <int K, bool ragged>
inline Vec<float> sum_taps(const Vec<float> (&v)[K], const float* weight) {
  Vec<float> sum = ragged ? -0.0f - Vec<float>{} : Vec<float>{};  // -0.0 leaves the first product unchanged
  for (int k = 0; k < K; ++k) {
    const Vec<float> w = load_unaligned<Vec<float>>(weight + k * lanes<float>);
    if constexpr (ragged) sum = w == w ? multiply_add<float>(v[k], w, sum) : sum;
    else sum = k ? multiply_add<float>(v[k], w, sum) : v[k] * w;
  }
  return sum;
}

// The input rows of an output row, and those of the next output row, to prefetch them.
struct PixelRows {
  const char *row[max_pixel_taps], *next[max_pixel_taps];
  const float* weight;
  int64_t n;
};

// Computes blocks [lo, hi) of a row. Either all of them are whole or none is. Stores spill over the end of a
// block, and the next block overwrites that.
template <class In, int K, bool rows_first, bool ragged, bool whole>
[[gnu::noinline]] void pixel_blocks(const PixelRows& rows, const PixelColumns& c, int64_t lo, int64_t hi, int64_t inner,
                                    In* dst) {
  const int64_t step = c.step, n_rows = rows.n, pitch = slots * inner;
  const Index<float> everywhere = c.spread, packed = c.packed;
  const float* const w = rows.weight;
  const float* weight = c.weight + lo * K * lanes<float>;
  const int32_t* at_end = c.spread_at_ends;
  if constexpr (!whole) at_end += (lo < c.whole_lo ? lo : lo - c.whole_hi + c.whole_lo) * K * lanes<float>;
  const int64_t *at = c.at + lo * slots, *const end = c.at + hi * slots;
  dst += lo * pitch;
  for (; at < end; at += slots, weight += K * lanes<float>, at_end += K * lanes<float>, dst += pitch) {
    for (int64_t r = 0; r < n_rows; ++r)  // prefetches nearly every line, as the next output row reads other rows
      for (int i = 0; i < slots; i += 2) __builtin_prefetch(rows.next[r] + at[i]);
    Vec<float> v[K], sum{};
    auto part = [&] {
      for (int k = 0; k < K; ++k)
        if constexpr (!whole) v[k] = spread(v[k], load_unaligned<Index<float>>(at_end + k * lanes<float>));
        else if constexpr (slots > 1) v[k] = spread(v[k], everywhere);
      part_taps<K>(v);
    };
#pragma GCC unroll 4
    for (int64_t r = 0; r < n_rows; ++r) {
      const char* p[slots];
      for (int i = 0; i < slots; ++i) p[i] = rows.row[r] + at[i];
      for (int k = 0; k < K; ++k) {
        const Vec<float> x = load_taps<In, K>(p, k, step);
        if constexpr (!rows_first) v[k] = x;
        else v[k] = r ? multiply_add<float>(x, w[r], v[k]) : x * w[0];
      }
      if constexpr (rows_first) continue;
      part();
      const Vec<float> taps = sum_taps<K, ragged>(v, weight);
      sum = r ? multiply_add<float>(taps, w[r], sum) : taps * w[0];
    }
    if constexpr (rows_first) {
      part();
      sum = sum_taps<K, ragged>(v, weight);
    }
    if constexpr (slots > 1) sum = permute<float>(sum, places<float>(packed));
    store<float, In>(dst, sum);
  }
}

// Computes one row of outputs. room: how many values may be stored from there to the end of the task's outputs.
template <class In, int K, bool rows_first, bool ragged>
void pixel_row(const PixelRows& rows, const PixelColumns& c, int64_t inner, In* dst, int64_t room) {
  auto blocks = [&](int64_t lo, int64_t hi, In* to) {
    const int64_t before = std::min(hi, c.whole_lo), from = std::max(lo, before), whole = std::min(hi, c.whole_hi);
    if (lo < before) pixel_blocks<In, K, rows_first, ragged, false>(rows, c, lo, before, inner, to);
    if (from < whole) pixel_blocks<In, K, rows_first, ragged, true>(rows, c, from, whole, inner, to);
    const int64_t after = std::max(from, whole);
    if (after < hi) pixel_blocks<In, K, rows_first, ragged, false>(rows, c, after, hi, inner, to);
  };
  const int64_t pitch = slots * inner;
  int64_t b = room < lanes<float> ? 0 : std::min(c.n_blocks, (room - lanes<float>) / pitch + 1);
  blocks(0, b, dst);
  for (; b < c.n_blocks; ++b) {
    In last[lanes<float>];
    blocks(b, b + 1, last - b * pitch);
    std::memcpy(dst + b * pitch, last, std::min(pitch, room - b * pitch) * sizeof(In));
  }
}

template <class In, int K>
PixelColumns pixel_columns(const WindowTask& t, Lease& lease) {
  constexpr int Q = loaded<K>;
  constexpr int64_t size = sizeof(In), N = lanes<float>;
  const WindowMap& m = *t.column;
  const int64_t n = m.n_out, n_blocks = ceil_div(n, slots), stride = t.column_stride, distance = std::abs(stride);
  PixelColumns c{};
  c.n_blocks = n_blocks;
  c.at = lease->index.get<int64_t>(n_blocks * slots);
  c.weight = lease->table.get<float>(n_blocks * K * N);
  c.step = stride < 0 ? -Q * distance : Q * distance;
  // Relative to an output's lowest tap: its first load, and the end of its loads.
  const int64_t first_load = stride < 0 ? (K - Q) * distance : 0, reach = (K - Q) * distance + Q * pixel_lanes * size;
  const int64_t end = std::max<int64_t>(0, (m.n_in - 1) * stride) + t.inner * size;
  // The lane of a loaded vector that goes to lane l. earlier: how many values earlier the loads begin, because the row
  // ends.
  auto lane = [&](int l, int64_t earlier) {
    const int slot = l / pixel_lanes % Q, part = l / pixel_lanes / Q * Q, value = l % pixel_lanes;
    const int64_t tap = stride < 0 ? Q - 1 - slot : slot;
    return int32_t(value < t.inner ? part * pixel_lanes + tap * (distance / size) + value + earlier : 0);
  };
  for (int l = 0; l < N; ++l) {
    c.spread[l] = lane(l, 0);
    c.packed[l] = int32_t(l < slots * t.inner ? l / t.inner * pixel_lanes + l % t.inner : 0);
  }
  int64_t n_ends = 0;
  auto read_past = [&](int64_t b, int i) {
    return std::max<int64_t>(0, c.at[b * slots + i] - first_load + reach - end);
  };
  for (int64_t b = 0; b < n_blocks; ++b) {
    bool whole = true;
    for (int i = 0; i < slots; ++i) {
      const int64_t o = std::min(b * slots + i, n - 1), first = m.first(o), count = m.count(o);
      const int64_t from = std::min(first, m.n_in - K);  // an output with fewer taps ignores some
      c.at[b * slots + i] = std::min(from * stride, (from + K - 1) * stride) + first_load;
      whole = whole && !read_past(b, i), c.ragged |= count < K;
      for (int k = 0; k < K; ++k) {
        const int64_t tap = from + k - first;
        const float w = tap < 0 || tap >= count ? no_tap<In> : m.weight32[m.offset[o] + tap];
        std::fill_n(c.weight + (b * K + k) * N + i * pixel_lanes, pixel_lanes, w);
      }
    }
    if (whole) c.whole_hi = b + 1;
    else ++n_ends, c.whole_lo += c.whole_hi == 0;
  }
  c.whole_hi = std::max(c.whole_hi, c.whole_lo);
  c.spread_at_ends = lease->row.get<int32_t>(n_ends * K * N);
  for (int64_t e = 0; e < n_ends; ++e) {
    const int64_t b = e < c.whole_lo ? e : e - c.whole_lo + c.whole_hi;
    for (int k = 0; k < K; ++k)
      for (int l = 0; l < N; ++l)
        c.spread_at_ends[(e * K + k) * N + l] = lane(l, read_past(b, (k * slots + l / pixel_lanes) / K) / size);
    for (int i = 0; i < slots; ++i) c.at[b * slots + i] -= read_past(b, i);
  }
  return c;
}

// A task is some output rows.
template <class In, int K>
void pixels_of(const WindowTask& t, Team team) {
  const WindowMap& m = *t.row;
  Lease tables;
  const PixelColumns c = pixel_columns<In, K>(t, tables);
  constexpr bool masks = std::is_same_v<In, float>;
  auto* const make = t.rows_first ? masks && c.ragged ? pixel_row<In, K, true, masks> : pixel_row<In, K, true, false>
                     : masks && c.ragged ? pixel_row<In, K, false, masks>
                                         : pixel_row<In, K, false, false>;
  const int64_t n = t.column->n_out * t.inner, n_tasks = ceil_div(m.n_out, pixel_task_rows);
  parallel(outer_count(t) * n_tasks, team, [&](int64_t p) {
    const int64_t outer = p / n_tasks, lo = p % n_tasks * pixel_task_rows, hi = std::min(m.n_out, lo + pixel_task_rows);
    const char* const src = t.src + outer_offset(t, outer);
    In* const dst = reinterpret_cast<In*>(t.dst) + outer * m.n_out * n;
    Lease lease;
    In* const staging = t.stream || t.floats ? lease->staging.get<In>(n + lanes<float>) : nullptr;
    for (int64_t o = lo; o < hi; ++o) {
      const int64_t next = std::min(o + 1, m.n_out - 1);
      PixelRows rows;
      rows.n = m.count(o), rows.weight = m.weight32 + m.offset[o];
      for (int64_t r = 0; r < rows.n; ++r) {
        rows.row[r] = src + (m.first(o) + r) * t.row_stride;
        rows.next[r] = src + (m.first(next) + std::min(r, m.count(next) - 1)) * t.row_stride;
      }
      if (staging) make(rows, c, t.inner, staging, n + lanes<float>);
      else make(rows, c, t.inner, dst + o * n, (hi - o) * n);
      if (t.floats)
        kernels().bytes->store_rows(*t.floats, Dtype::f32, staging, outer * m.n_out + o, outer * m.n_out + o + 1);
      else if (staging) stream_store(dst + o * n, staging, n * int64_t(sizeof(In)));
    }
    store_fence(t.stream);
  });
}

void pixels(const WindowTask& t, int threads) {
  const int64_t values = outer_count(t) * t.row->n_out * t.column->n_out * t.inner;
  const Team team = team_for(values * 16, threads);
  auto of = [&]<class In>(In) {
    if (most_taps(*t.column) <= 2) pixels_of<In, 2>(t, team);
    else pixels_of<In, max_pixel_taps>(t, team);
  };
  switch (t.in) {
    case Dtype::u16: return of(uint16_t{});
    case Dtype::i16: return of(int16_t{});
    default: of(float{});
  }
}

}  // namespace
}  // namespace tenter
