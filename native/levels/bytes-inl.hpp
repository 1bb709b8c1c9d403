// The kernel of antialiased 8-bit values. Sums along rows add whole rows; sums along columns use tiles
// (byte-columns-inl.hpp); along both axes, a chunk of rows at a time.
#pragma once
#include "levels/byte-columns-inl.hpp"
#include "levels/normalize-inl.hpp"
#include "levels/pixels-inl.hpp"
#include "levels/small-images-inl.hpp"
#include "levels/stream-inl.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// ---- rows

// Interleaves the rows of a group, so that `narrowed` puts values in order again.
template <class F>
inline void interleaved(F&& row, Words* x) {
  constexpr int V = vector_bytes;
  auto low8 = [](int i) { return i / 16 * 16 + i % 16 / 2 + i % 2 * V; };
  auto high8 = [](int i) { return i / 16 * 16 + 8 + i % 16 / 2 + i % 2 * V; };
  auto low16 = [](int i) { return i / 16 * 16 + i % 16 / 4 * 2 + i % 2 + i % 4 / 2 * V; };
  auto high16 = [](int i) { return i / 16 * 16 + 8 + i % 16 / 4 * 2 + i % 2 + i % 4 / 2 * V; };
  const Bytes x0 = row(0), x1 = row(1), a = shuffled(x0, x1, low8), b = shuffled(x0, x1, high8);
  if constexpr (group_taps == 2) {
    x[0] = (Words)shuffled(a, Bytes{}, low8), x[1] = (Words)shuffled(a, Bytes{}, high8);
    x[2] = (Words)shuffled(b, Bytes{}, low8), x[3] = (Words)shuffled(b, Bytes{}, high8);
  } else {
    const Bytes x2 = row(2), x3 = row(3), c = shuffled(x2, x3, low8), d = shuffled(x2, x3, high8);
    x[0] = (Words)shuffled(a, c, low16), x[1] = (Words)shuffled(a, c, high16);
    x[2] = (Words)shuffled(b, d, low16), x[3] = (Words)shuffled(b, d, high16);
  }
}

// A vector of sums over the rows of some groups, from column j on.
inline Bytes sum_rows(const uint8_t* const* rows, int64_t groups, const int32_t* w, int64_t j) {
  Words s[4];
  auto inputs = [&](int64_t g, Words* x) __attribute__((always_inline)) {
    interleaved([&](int r) { return load_unaligned<Bytes>(rows[g * group_taps + r] + j); }, x);
  };
  sum_groups<4, 4>(groups, &w, inputs, s);
  return narrowed(s[0], s[1], s[2], s[3]);
}

typedef VecN<uint8_t, rows_at_once> Block;  // a byte for each word

inline Words widened(Block x) {
#if defined(__AVX512BW__)
  return (Words)_mm512_cvtepu8_epi32((__m128i)x);
#elif defined(__AVX2__)
  return (Words)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)x));
#else
  return __builtin_convertvector(x, Words);
#endif
}

// Computes n columns of an output, fewer than a vector has bytes, in blocks. Tap k is read from tap(k) on. Blocks
// overlap, so that none passes the end of a row of at least a block. whole: whether blocks are read and stored whole.
template <int blocks, bool whole, class Tap>
inline void sum_blocks(int64_t groups, const int32_t* w, Tap&& tap, uint8_t* dst, int64_t n) {
  constexpr int64_t L = rows_at_once;
  int64_t at[blocks];
  for (int b = 0; b < blocks; ++b) at[b] = std::max<int64_t>(0, std::min(b * L, n - L));
  auto inputs = [&](int64_t g, Words* x) __attribute__((always_inline)) {
    for (int b = 0; b < blocks; ++b) x[b] = Words{};
    for (int r = 0; r < group_taps; ++r) {
      const uint8_t* const from = tap(g * group_taps + r);
      for (int b = 0; b < blocks; ++b) {
        Block bytes{};
        if constexpr (whole) bytes = load_unaligned<Block>(from + at[b]);
        else std::memcpy(&bytes, from, n);
        x[b] |= widened(bytes) << 32 / group_taps * r;
      }
    }
  };
  Words s[blocks];
  sum_groups<blocks, blocks>(groups, &w, inputs, s);
  const Words last = s[blocks - 1];
  const Bytes mixed = narrowed(s[0], blocks > 1 ? s[1] : last, blocks > 2 ? s[2] : last, last);
  const Bytes sums = shuffled(mixed, mixed, [](int i) { return i % L / 4 * 16 + i / L * 4 + i % 4; });
  Block block[4];
  std::memcpy(block, &sums, vector_bytes);
  if constexpr (!whole) std::memcpy(dst, block, n);
  else
    for (int b = 0; b < blocks; ++b) store_bits(dst + at[b], block[b]);
}
// beyond: whether a whole block may be read and stored where a row has fewer bytes.
template <class Tap>
inline void sum_narrow_row(const TapGroups& t, int64_t o, Tap&& tap, int64_t count, uint8_t* dst, int64_t n,
                           bool beyond) {
  if (!count) return (void)std::memset(dst, 0, n);
  const int32_t* const w = t.weight.data() + o * t.groups * weight_words;
  auto in_group = [&](int64_t k) __attribute__((always_inline)) { return tap(std::min(k, count - 1)); };
  // All outputs have as many groups, as a number that changes is predicted badly.
  if (n < rows_at_once && !beyond) return sum_blocks<1, false>(t.groups, w, in_group, dst, n);
  with_constant<1, 2, 3, 4>(ceil_div(n, rows_at_once),
                            [&]<int blocks>() { sum_blocks<blocks, true>(t.groups, w, in_group, dst, n); });
}

// Computes n columns of output o, a sum over `count` rows. `rows` has room to fill the last group, with rows that have
// weight zero. beyond: as for sum_narrow_row.
inline void sum_row(const TapGroups& t, int64_t o, const uint8_t** rows, int64_t count, uint8_t* dst, int64_t n,
                    bool beyond) {
  if (n < vector_bytes) return sum_narrow_row(t, o, [&](int64_t k) { return rows[k]; }, count, dst, n, beyond);
  const int32_t* const w = t.weight.data() + o * t.groups * weight_words;
  const int64_t groups = ceil_div(count, group_taps);
  for (int64_t k = count; k < groups * group_taps; ++k) rows[k] = rows[count - 1];
  int64_t j = 0;
  for (; j + vector_bytes <= n; j += vector_bytes) store_bits(dst + j, sum_rows(rows, groups, w, j));
  if (j == n) return;
  j = n - vector_bytes;  // the last vector ends at n. It overlaps the one before, and stores the same sums
  store_bits(dst + j, sum_rows(rows, groups, w, j));
}

// ---- tasks

inline bool packed(const ByteTask& t) {
  return (t.inner <= 1 || t.inner_stride == 1) && (t.n_column <= 1 || t.column_stride == t.inner);
}

// Copies the values of a row into contiguous memory.
inline void pack_row(const ByteTask& t, const uint8_t* src, uint8_t* dst) {
  if (t.inner <= 1 || t.inner_stride == 1) {
    pack_pixels(reinterpret_cast<const char*>(src), t.n_column > 1 ? t.column_stride : t.inner, t.inner,
                reinterpret_cast<char*>(dst), t.n_column);
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

// Sums n_rows rows along the columns, into to[row]. rows: rows_at_once pointers. after: as many pointers, to the rows
// that are read next. alpha: premultiplies colors first.
inline void columns(const ByteTask& t, const uint8_t* (&rows)[rows_at_once], const uint8_t* const* after, int n_rows,
                    uint8_t* const* to, bool alpha, bool are_packed, Lease& lease) {
  const int64_t n = t.n_column * t.inner;
  if (!are_packed) {
    uint8_t* const room = lease->gathered.get<uint8_t>(n * n_rows);
    for (int r = 0; r < n_rows; ++r) {
      pack_row(t, rows[r], room + r * n);
      rows[r] = room + r * n;
    }
    after = rows;
  }
  std::fill(rows + n_rows, rows + rows_at_once, rows[n_rows - 1]);
  const ByteMap& m = *t.column;
  if (t.inner > max_byte_inner) {  // the inner values of an output are a sum of rows
    const uint8_t** const taps = lease->taps.get<const uint8_t*>(m.longest + group_taps);
    for (int r = 0; r < n_rows; ++r)
      for (int64_t o = 0; o < m.n_out; ++o) {
        const uint8_t* const from = rows[r] + m.first(o) * t.inner;
        uint8_t* const dst = to[r] + o * t.inner;
        if (t.inner < vector_bytes) {
          const bool beyond =
              (m.n_out - o) * t.inner >= rows_at_once && (m.n_in - m.stop(o) + 1) * t.inner >= rows_at_once;
          sum_narrow_row(
              *t.column_groups, o, [&](int64_t k) { return from + k * t.inner; }, m.count(o), dst, t.inner, beyond);
          continue;
        }
        for (int64_t k = 0; k < m.count(o); ++k) taps[k] = from + k * t.inner;
        sum_row(*t.column_groups, o, taps, m.count(o), dst, t.inner, true);
      }
    return;
  }
  with_constant<1, 2, 3, 4>(t.inner, [&]<int C>() {
    if constexpr (C == 2 || C == 4)
      if (alpha) return sum_columns<C, true>(rows, after, n_rows, n, *t.column_groups, m.n_out, to, lease);
    sum_columns<C, false>(rows, after, n_rows, n, *t.column_groups, m.n_out, to, lease);
  });
}

// Where a row of n values of the result is made: in its place, or in `staging`, from which `finish` moves it.
inline uint8_t* room_of_row(const ByteTask& t, int64_t row, int64_t n, uint8_t* staging) {
  return staging ? staging : t.dst + row * n;
}
// Finishes adjacent rows of results: divides colors by alpha, and moves staged values to the result, as floats or with
// streaming stores.
inline void finish(const ByteTask& t, uint8_t* made, int64_t row, int64_t n_rows, int64_t n) {
  if (t.alpha) divide_alpha(made, n_rows * n, t.inner);
  if (t.floats) store_floats(*t.floats, made, row, row + n_rows);
  else if (uint8_t* const to = t.dst + row * n; made != to) stream_store(to, made, n_rows * n);
}

// Sums along columns only: row i of the input gives row i of the output, here [lo, hi). first: the number of the
// plane's first row in the result.
inline void columns_alone(const ByteTask& t, const uint8_t* src, int64_t first, int64_t lo, int64_t hi, Lease& lease) {
  const int64_t n_out = t.column->n_out * t.inner;
  uint8_t* const staging = t.stream || t.floats ? lease->staging.get<uint8_t>(rows_at_once * n_out) : nullptr;
  for (; lo < hi; lo += rows_at_once) {
    const int n_rows = int(std::min<int64_t>(rows_at_once, hi - lo));
    const uint8_t *rows[rows_at_once], *after[rows_at_once];
    uint8_t* to[rows_at_once];
    for (int r = 0; r < rows_at_once; ++r) after[r] = src + std::min(lo + rows_at_once + r, t.n_row - 1) * t.row_stride;
    for (int r = 0; r < n_rows; ++r) {
      rows[r] = src + (lo + r) * t.row_stride;
      to[r] = room_of_row(t, first + lo + r, n_out, staging ? staging + r * n_out : nullptr);
    }
    columns(t, rows, after, n_rows, to, t.alpha, packed(t), lease);
    finish(t, to[0], first + lo, n_rows, n_out);
  }
}

// Computes output rows [lo, hi) of a plane. Input rows are prepared in groups: they are summed along the columns, or
// premultiplied by alpha, into a ring buffer of rows that stays in cache. If neither is needed, they are read in place.
// An output row is summed as soon as its inputs are prepared.
inline void rows_of(const ByteTask& t, const uint8_t* src, int64_t first, int64_t lo, int64_t hi, Lease& lease) {
  const ByteMap& m = *t.row;
  const bool columns_first = t.column && !t.rows_first, in_place = !columns_first && !t.alpha;
  // If columns are reversed in memory, rows are summed in memory order, and the sums are flipped afterwards.
  const bool reversed = in_place && t.n_column > 1 && t.column_stride < 0;
  if (reversed) src += (t.n_column - 1) * t.column_stride;
  const int64_t n_in = t.n_column * t.inner, n_out = t.column ? t.column->n_out * t.inner : n_in;
  const int64_t n = columns_first ? n_out : n_in, pitch = round_up(n, vector_bytes);
  const int64_t capacity = m.longest + rows_at_once, base = m.first(lo);
  uint8_t* const ring = in_place ? nullptr : lease->row.get<uint8_t>(capacity * pitch);
  // prepared[i - base]: where in the ring input row i is.
  uint8_t** const prepared = lease->plane.get<uint8_t*>(in_place ? 1 : std::max<int64_t>(1, m.stop(hi - 1) - base));
  const uint8_t** const taps = lease->row_taps.get<const uint8_t*>(m.longest + group_taps);
  int64_t ready = base, next = 0;  // next: the place of the next row in the ring
  auto prepare = [&](int64_t o) {
    const uint8_t *from[rows_at_once], *after[rows_at_once];
    uint8_t* to[rows_at_once];
    int group = 0;
    int64_t i = std::max(ready, m.first(o));
    for (; group < rows_at_once; ++group, ++i) {
      while (o < hi && m.stop(o) <= i) ++o;
      if (o == hi) break;
      i = std::max(i, m.first(o));
      from[group] = src + i * t.row_stride, to[group] = prepared[i - base] = ring + next * pitch;
      next = next + 1 < capacity ? next + 1 : 0;
    }
    ready = i;
    for (int r = 0; r < rows_at_once; ++r) after[r] = src + std::min(ready + r, t.n_row - 1) * t.row_stride;
    if (columns_first) return columns(t, from, after, group, to, t.alpha, packed(t), lease);
    for (int r = 0; r < group; ++r) {
      pack_row(t, from[r], to[r]);
      if (t.inner == 2) multiply_alpha<2>(to[r], n);
      else multiply_alpha<4>(to[r], n);
    }
  };
  // Sums that are resampled along the columns afterwards, streamed, or converted to floats, go to a buffer.
  const bool columns_last = t.column && t.rows_first, leaves = t.stream || t.floats;
  const int64_t held = columns_last || t.floats ? rows_at_once : 1;
  const int64_t summed = columns_last ? held * pitch : 0, made_there = leaves ? held * n_out : 0;
  uint8_t* const sums =
      summed || made_there ? lease->staging.get<uint8_t>(summed + made_there + rows_at_once) : nullptr;
  uint8_t* const staging = leaves ? sums + summed : nullptr;
  // Whether the bytes of a block can be read from the last tap of output o, and stored. Rows in the ring have room.
  auto beyond = [&](int64_t o) {
    if (!m.count(o)) return false;
    const int64_t after = t.row_stride < 0 ? m.first(o) : t.n_row - m.stop(o);
    const bool reads = !in_place || after * std::abs(t.row_stride) + n >= rows_at_once;
    return reads && (columns_last || (hi - o) * n_out >= rows_at_once);
  };
  auto room = [&](int64_t o, int64_t group) {
    return room_of_row(t, first + o, n_out, staging ? staging + (o - group) * n_out : nullptr);
  };
  for (int64_t group = lo; group < hi; group += held) {
    const int64_t end = std::min(hi, group + held);
    for (int64_t o = group; o < end; ++o) {
      const int64_t count = m.count(o);
      uint8_t* const to = columns_last ? sums + (o - group) * pitch : room(o, group);
      if (in_place && n < vector_bytes) {
        const uint8_t* const from = src + m.first(o) * t.row_stride;
        sum_narrow_row(*t.row_groups, o, [&](int64_t k) { return from + k * t.row_stride; }, count, to, n, beyond(o));
        continue;
      }
      if (!in_place)
        while (count && ready < m.stop(o)) prepare(o);
      for (int64_t k = 0; k < count; ++k) {
        const int64_t i = m.first(o) + k;
        taps[k] = in_place ? src + i * t.row_stride : prepared[i - base];
      }
      sum_row(*t.row_groups, o, taps, count, to, n, beyond(o));
    }
    if (!columns_last) {
      finish(t, room(group, group), first + group, end - group, n_out);
      continue;
    }
    const uint8_t* from[rows_at_once];
    uint8_t* to[rows_at_once];
    for (int64_t o = group; o < end; ++o) {
      from[o - group] = sums + (o - group) * pitch;
      to[o - group] = room(o, group);
    }
    uint8_t* const flipped = reversed ? lease->gathered.get<uint8_t>(held * n) : nullptr;
    for (int64_t r = 0; r < end - group && reversed; ++r) {
      pack_pixels(reinterpret_cast<const char*>(from[r]) + n - t.inner, -t.inner, t.inner,
                  reinterpret_cast<char*>(flipped + r * n), t.n_column);
      from[r] = flipped + r * n;
    }
    columns(t, from, from, int(end - group), to, false, true, lease);
    finish(t, to[0], first + group, end - group, n_out);
  }
}

// ---- small images

// Sums along an axis of images, whose values are lanes.
inline void sum_byte_lanes(const ImageSums<ByteMap>::Axis& a, int64_t blocks, const Words* from, Words* to) {
  typedef Vec<uint32_t> U;  // as partial sums may wrap
  const ByteMap& m = *a.map;
  for (int64_t b = 0; b < blocks * a.before; ++b, from += m.n_in * a.after)
    for (int64_t o = 0; o < m.n_out; ++o) {
      const int32_t* const w = m.weight.data() + m.offset[size_t(o)];
      const Words* const inputs = from + m.first(o) * a.after;
      for (int64_t i = 0; i < a.after; ++i) {
        U sum = U{} + (1u << (weight_bits - 1));
        for (int64_t k = 0; k < m.count(o); ++k) sum += (U)inputs[k * a.after + i] * uint32_t(w[k]);
        const Words rounded = (Words)sum >> weight_bits, positive = rounded < 0 ? Words{} : rounded;
        *to++ = positive > 255 ? splat(255) : positive;
      }
    }
}

inline void small_byte_images(const ByteTask& t, Team team) {
  SmallImages<ByteMap> images;
  const TaskImages<ByteMap> of = images_of(t);
  image_sums(of.axes, false, t.rows_first, of.most, images);
  locate_images(t, of.axes, t.column && !t.row ? t.n_row : 1, of.most, 1, images);
  auto to_bytes = [](const void* from, void* to, int64_t n) {
    const int32_t* const values = static_cast<const int32_t*>(from);
    for (int64_t i = 0; i < n; ++i) static_cast<uint8_t*>(to)[i] = uint8_t(values[i]);
  };
  small_images_pass<int32_t>({1, 1, convert<int32_t, uint8_t, int32_t>, to_bytes, sum_byte_lanes}, t, images, team);
}

inline void bytes(const ByteTask& t, int threads) {
  const int64_t outer = outer_count(t);
  const int64_t n_rows = t.row ? t.row->n_out : t.n_row, n_in = t.n_column * t.inner;
  const int64_t n_out = t.column ? t.column->n_out * t.inner : n_in;
  const int64_t read = t.n_row * n_in, n_bytes = outer * std::max(read, n_rows * n_out);
  const Team team = team_for(8 * n_bytes, threads);
  if (t.kernel == Kernel::small_images) return small_byte_images(t, team);
  // Chunks of output rows. Two neighboring chunks both prepare the rows that both read, so there are no more chunks
  // than threads need.
  const int64_t wanted = std::max(ceil_div(team.threads > 1 ? 4 * team.threads : 1, outer),
                                  ceil_div(n_bytes / std::max<int64_t>(1, outer), tuning.byte_chunk_bytes));
  int64_t least = rows_at_once;
  if (t.row) least = std::max(least, 4 * t.row->longest * n_rows / std::max<int64_t>(1, t.n_row));
  const int64_t height = round_up(std::max(least, ceil_div(n_rows, wanted)), rows_at_once);
  const int64_t n_chunks = ceil_div(n_rows, height);
  parallel(outer * n_chunks, team, [&](int64_t p) {
    const int64_t index = p / n_chunks, offset = outer_offset(t, index);
    const int64_t lo = p % n_chunks * height, hi = std::min(n_rows, lo + height);
    const int64_t first = index * n_rows;
    Lease lease;
    if (t.row) rows_of(t, t.src + offset, first, lo, hi, lease);
    else columns_alone(t, t.src + offset, first, lo, hi, lease);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
