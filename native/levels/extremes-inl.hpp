// The largest or smallest value of each row of a ragged array.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "levels/simd-inl.hpp"
#include "maps/ragged.hpp"
#include "system/integers.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

// Keys: signed integers that are ordered like the values. -0 is less than +0, and NaN is the largest. For the smallest
// value the order is reversed, but NaN is still the largest. infinity: the bits of a float's infinity. turn: keys are
// XORed with it. It has all bits set for the smallest value, and the highest bit for unsigned integers.
//
// Dtypes of one size share their loops, as the compiler's time goes into the number of loops. Short rows of floats do
// not (float_extreme): with constants that are loaded for each row they would take a tenth longer.
template <class Key, bool floating>
struct Order {
  static constexpr Key most = std::numeric_limits<Key>::max(), least = std::numeric_limits<Key>::min();
  Key turn, infinity = 0;

  Key none() const { return floating ? Key(~infinity) : least; }  // the key of an empty row
  // The key of a value, or of a vector of values.
  template <class V>
  V key(V bits) const {
    if constexpr (floating) {
      const V ascending = bits ^ ((bits >> (sizeof(Key) * 8 - 1)) & most);
      return V(bits & most) > infinity ? most - V{} : V(ascending ^ turn);
    }
    return V(bits ^ turn);
  }
  Key bits(Key key) const {
    if constexpr (floating) {
      if (key == most) return most;  // NaN
      const Key ascending = key ^ turn;
      return ascending ^ ((ascending >> (sizeof(Key) * 8 - 1)) & most);
    }
    return key ^ turn;
  }
};

constexpr int64_t extreme_columns = 256;  // columns at a time: their best keys are in cache while rows are read
constexpr int vectors_of_block = 4;       // several, as consecutive maxima of one vector wait for each other
constexpr int64_t look_ahead = 64;        // values that are compared before each branch

template <class V>
inline V larger(V a, V b) {
  return a > b ? a : b;
}

// The larger of each value and the value `half` places further, cyclically.
template <int half, class V, int... k>
inline V folded(V v, std::integer_sequence<int, k...>) {
  return larger(v, __builtin_shufflevector(v, v, (k + half) % int(sizeof...(k))...));
}
template <int half, int W, class V>
inline V largest_everywhere(V v) {
  if constexpr (half == 0) return v;
  else return largest_everywhere<half / 2, W>(folded<half>(v, std::make_integer_sequence<int, W>{}));
}

// The largest key of a long row's whole blocks. Advances src and n past these blocks; at least one value is left.
template <class Key, bool floating>
[[gnu::noinline]] Key extreme_of_blocks(Order<Key, floating> order, const Loose<Key>*& src, int64_t& n) {
  constexpr int W = lanes<Key>, block = vectors_of_block * W;
  Vec<Key> best[vectors_of_block];
  std::fill_n(best, vectors_of_block, order.none() - Vec<Key>{});
  for (; n > block; n -= block, src += block)
    for (int k = 0; k < vectors_of_block; ++k)
      best[k] = larger(best[k], order.key(load_unaligned<Vec<Key>>(src + k * W)));
  return largest_everywhere<W / 2, W>(larger(larger(best[0], best[1]), larger(best[2], best[3])))[0];
}

// The largest of n contiguous keys. Most rows are one vector, masked to its length without a branch on that. room: how
// many values may be read. Without room for a whole last vector, that one ends with the row and overlaps the one
// before.
template <class Key, bool floating>
TENTER_ALWAYS_INLINE Key extreme_of(Order<Key, floating> order, const Loose<Key>* src, int64_t n, int64_t room) {
  // At most one register, as GCC shuffles wider vectors in memory; and no more values than most rows have.
  constexpr int W = std::min<int>(lanes<Key>, sizeof(Key) == 8 ? 8 : 16);
  typedef VecN<Key, W> Wide;
  const bool cut = room >= round_up(n, W);
  if (n == 0 || (n < W && !cut)) {
    Key best = order.none();
    for (int64_t r = 0; r < n; ++r) best = std::max(best, order.key(src[r]));
    return best;
  }
  const Wide place = [&]<int... k>(std::integer_sequence<int, k...>) {
    return Wide{Key(k)...};
  }(std::make_integer_sequence<int, W>{});
  const Key first = n > 2 * vectors_of_block * lanes<Key> ? extreme_of_blocks(order, src, n) : order.none();
  Wide best = first - Wide{};
  for (; n > W; n -= W, src += W) best = larger(best, order.key(load_unaligned<Wide>(src)));
  if (!cut) src -= W - n, n = W;
  const Wide last = order.key(load_unaligned<Wide>(src));
  best = larger(best, place < Key(n) - Wide{} ? last : best);
  return largest_everywhere<W / 2, W>(best)[0];
}

// Pointers to extreme_of: one function for each order of floats, and one for all integers.
template <class Key>
using ExtremeOf = Key (*)(Key turn, const Loose<Key>* src, int64_t n, int64_t room);
template <class Key, int64_t infinity, Key turn>
Key float_extreme(Key, const Loose<Key>* src, int64_t n, int64_t room) {
  return extreme_of(Order<Key, true>{turn, Key(infinity)}, src, n, room);
}
template <class Key>
Key integer_extreme(Key turn, const Loose<Key>* src, int64_t n, int64_t room) {
  return extreme_of(Order<Key, false>{turn}, src, n, room);
}

// The first place in [first, stop) of a key, which must be there. Several values are compared before each branch, so
// that the compiler vectorizes the comparisons.
template <class Key, bool floating>
int64_t place_of(Order<Key, floating> order, const Loose<Key>* src, int64_t first, int64_t stop, Key key) {
  auto holds = [&](const Loose<Key>* some) {
    Key found = 0;
    for (int64_t k = 0; k < look_ahead; ++k) found |= Key(order.key(some[k]) == key);
    return found != 0;
  };
  int64_t r = first;
  while (r + look_ahead <= stop && !holds(src + r)) r += look_ahead;
  while (order.key(src[r]) != key) ++r;
  return r;
}

// The extremes of rows [first, stop), for each of t.inner columns.
template <class Key, bool floating, bool placed>
void extremes_of_columns(const ExtremesTask& t, Order<Key, floating> order, const Loose<Key>* src, int64_t first,
                         int64_t stop, Loose<Key>* dst, int64_t* at) {
  Key best[extreme_columns];
  int64_t where[placed ? extreme_columns : 1];
  for (int64_t lo = 0; lo < t.inner; lo += extreme_columns) {
    const int64_t n = std::min(extreme_columns, t.inner - lo);
    if (first < stop) {
      const Loose<Key>* const row = src + first * t.inner + lo;
      for (int64_t j = 0; j < n; ++j) best[j] = order.key(row[j]);
    } else {
      std::fill_n(best, n, order.none());
    }
    if constexpr (placed) std::fill_n(where, n, first < stop ? first : -1);
    for (int64_t r = first + 1; r < stop; ++r) {
      const Loose<Key>* const row = src + r * t.inner + lo;
      for (int64_t j = 0; j < n; ++j) {
        const Key key = order.key(row[j]);
        if constexpr (placed) where[j] = key > best[j] ? r : where[j];
        best[j] = std::max(best[j], key);
      }
    }
    for (int64_t j = 0; j < n; ++j) dst[lo + j] = order.bits(best[j]);
    if constexpr (placed) std::copy_n(where, n, at + lo);
  }
}

template <class Key, bool floating>
void extremes_in(const ExtremesTask& t, Order<Key, floating> order, ExtremeOf<Key> extreme, int threads) {
  const int64_t total = t.offset[t.n], bytes = t.outer * total * t.inner * int64_t(sizeof(Key));
  const int64_t chunk = bytes < tuning.parallel_bytes ? std::max<int64_t>(1, t.n) : std::max<int64_t>(1, t.n / 64);
  const int64_t chunks = ceil_div(t.n, chunk);
  parallel(t.outer * chunks, team_for(bytes, threads), [&](int64_t task) {
    const int64_t o = task / chunks, lo = task % chunks * chunk, hi = std::min(t.n, lo + chunk);
    const Loose<Key>* const src = reinterpret_cast<const Loose<Key>*>(t.src) + o * total * t.inner;
    Loose<Key>* const dst = reinterpret_cast<Loose<Key>*>(t.dst) + o * t.n * t.inner;
    int64_t* const at = t.at ? t.at + o * t.n * t.inner : nullptr;
    for (int64_t i = lo; i < hi; ++i) {
      const int64_t first = t.offset[i], stop = t.offset[i + 1], to = i * t.inner;
      if (t.inner == 1) {
        const Key best = extreme(order.turn, src + first, stop - first, total - first);
        dst[i] = order.bits(best);
        if (at) at[i] = first < stop ? place_of(order, src, first, stop, best) : -1;
      } else if (at) {
        extremes_of_columns<Key, floating, true>(t, order, src, first, stop, dst + to, at + to);
      } else {
        extremes_of_columns<Key, floating, false>(t, order, src, first, stop, dst + to, nullptr);
      }
    }
  });
}

template <class Key, int64_t infinity>
void float_extremes(const ExtremesTask& t, int threads) {
  const Order<Key, true> order{Key(t.largest ? 0 : -1), Key(infinity)};
  extremes_in(t, order, t.largest ? float_extreme<Key, infinity, 0> : float_extreme<Key, infinity, -1>, threads);
}
template <class Key>
void integer_extremes(const ExtremesTask& t, bool has_sign, int threads) {
  const Key turn = Key((t.largest ? 0 : -1) ^ (has_sign ? Key(0) : std::numeric_limits<Key>::min()));
  extremes_in(t, Order<Key, false>{turn}, integer_extreme<Key>, threads);
}

void extremes(const ExtremesTask& t, int threads) {
  const bool has_sign = dtype_rows[int(t.dtype)].kind == 'i';
  switch (t.dtype) {
    case Dtype::f32: return float_extremes<int32_t, 0x7f800000>(t, threads);
    case Dtype::f64: return float_extremes<int64_t, 0x7ff0000000000000>(t, threads);
    case Dtype::f16: return float_extremes<int16_t, 0x7c00>(t, threads);
    case Dtype::bf16: return float_extremes<int16_t, 0x7f80>(t, threads);
    case Dtype::u8:
    case Dtype::i8: return integer_extremes<int8_t>(t, has_sign, threads);
    case Dtype::u16:
    case Dtype::i16: return integer_extremes<int16_t>(t, has_sign, threads);
    case Dtype::u32:
    case Dtype::i32: return integer_extremes<int32_t>(t, has_sign, threads);
    case Dtype::u64:
    case Dtype::i64: return integer_extremes<int64_t>(t, has_sign, threads);
  }
}

}  // namespace
}  // namespace tenter
