// The largest or smallest value of each row of a ragged array.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "integers.hpp"
#include "ragged.hpp"
#include "simd-inl.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

enum class Kind { floating, with_sign, without_sign };

// Values as signed integers of their size, in ascending order: -0 is less than 0, NaN is the largest. Of the smallest
// value the order is the reverse, with NaN the largest still. infinity: the bits of a float's.
template <class Key, Kind kind, bool largest, int64_t infinity>
struct Order {
  static constexpr Key most = std::numeric_limits<Key>::max(), least = std::numeric_limits<Key>::min();
  // Of the empty row.
  static constexpr Key none = kind == Kind::floating ? Key(~Key(infinity)) : least;

  static Key turned(Key k) { return largest ? k : Key(~k); }
  static Key key(Key bits) {
    if constexpr (kind == Kind::floating) {
      const Key ascending = bits ^ ((bits >> (sizeof(Key) * 8 - 1)) & most);
      return Key(bits & most) > Key(infinity) ? most : turned(ascending);
    }
    return turned(kind == Kind::with_sign ? bits : Key(bits ^ least));
  }
  // Of a vector.
  template <class V>
  static V keys(V bits) {
    if constexpr (kind == Kind::floating) {
      const V ascending = bits ^ ((bits >> (sizeof(Key) * 8 - 1)) & most);
      return (bits & most) > Key(infinity) ? most - V{} : largest ? ascending : ~ascending;
    }
    const V ascending = kind == Kind::with_sign ? bits : bits ^ least;
    return largest ? ascending : ~ascending;
  }
  static Key bits(Key key) {
    if constexpr (kind == Kind::floating) {
      if (key == most) return most;  // NaN
      const Key ascending = turned(key);
      return ascending ^ ((ascending >> (sizeof(Key) * 8 - 1)) & most);
    }
    return kind == Kind::with_sign ? turned(key) : Key(turned(key) ^ least);
  }
};

constexpr int64_t extreme_columns = 256;  // whose best are kept while a row is read

template <class V>
inline V larger(V a, V b) {
  return a > b ? a : b;
}

// The larger of each value and the one `half` places on, around.
template <int half, class V, int... k>
inline V folded(V v, std::integer_sequence<int, k...>) {
  return larger(v, __builtin_shufflevector(v, v, (k + half) % int(sizeof...(k))...));
}
template <int half, int W, class V>
inline V largest_everywhere(V v) {
  if constexpr (half == 0) return v;
  else return largest_everywhere<half / 2, W>(folded<half>(v, std::make_integer_sequence<int, W>{}));
}

// The largest of contiguous keys. Mostly a row is one vector, cut to its length, and there is no branch on that. room:
// values that may be read.
template <class Key, class Ordered>
Key extreme_of(const Key* src, int64_t n, int64_t room) {
  constexpr int W = sizeof(Key) == 8 ? 8 : 16;
  typedef VecN<Key, W> Wide;
  if (n == 0 || room < round_up(n, W)) {
    Key best = Ordered::none;
    for (int64_t r = 0; r < n; ++r) best = std::max(best, Ordered::key(src[r]));
    return best;
  }
  const Wide place = [&]<int... k>(std::integer_sequence<int, k...>) {
    return Wide{Key(k)...};
  }(std::make_integer_sequence<int, W>{});
  Wide best = Ordered::none - Wide{};
  for (; n > W; n -= W, src += W) best = larger(best, Ordered::keys(load_unaligned<Wide>(src)));
  const Wide last = Ordered::keys(load_unaligned<Wide>(src));
  best = larger(best, place < Key(n) - Wide{} ? last : best);
  return largest_everywhere<W / 2, W>(best)[0];
}

template <class Key, class Ordered, bool placed>
void extremes_of_row(const ExtremesTask& t, const Key* src, int64_t first, int64_t stop, Key* dst, int64_t* at) {
  if (t.inner == 1) {
    const Key best = extreme_of<Key, Ordered>(src + first, stop - first, t.offset[t.n] - first);
    *dst = Ordered::bits(best);
    if constexpr (placed) {
      int64_t r = first;
      while (r < stop && Ordered::key(src[r]) != best) ++r;
      *at = first < stop ? r : -1;
    }
    return;
  }
  Key best[extreme_columns];
  int64_t where[placed ? extreme_columns : 1];
  for (int64_t lo = 0; lo < t.inner; lo += extreme_columns) {
    const int64_t n = std::min(extreme_columns, t.inner - lo);
    if (first < stop) {
      const Key* const row = src + first * t.inner + lo;
      for (int64_t j = 0; j < n; ++j) best[j] = Ordered::key(row[j]);
    } else {
      std::fill_n(best, n, Ordered::none);
    }
    if constexpr (placed) std::fill_n(where, n, first < stop ? first : -1);
    for (int64_t r = first + 1; r < stop; ++r) {
      const Key* const row = src + r * t.inner + lo;
      for (int64_t j = 0; j < n; ++j) {
        const Key key = Ordered::key(row[j]);
        if constexpr (placed) where[j] = key > best[j] ? r : where[j];
        best[j] = std::max(best[j], key);
      }
    }
    for (int64_t j = 0; j < n; ++j) dst[lo + j] = Ordered::bits(best[j]);
    if constexpr (placed) std::copy_n(where, n, at + lo);
  }
}

template <class Key, Kind kind, bool largest, int64_t infinity>
void extremes_in(const ExtremesTask& t, int threads) {
  typedef Order<Key, kind, largest, infinity> Ordered;
  const int64_t total = t.offset[t.n], bytes = t.outer * total * t.inner * int64_t(sizeof(Key));
  const int64_t chunk = bytes < tuning.parallel_bytes ? std::max<int64_t>(1, t.n) : std::max<int64_t>(1, t.n / 64);
  const int64_t chunks = ceil_div(t.n, chunk);
  parallel(t.outer * chunks, team_for(bytes, threads), [&](int64_t task) {
    const int64_t o = task / chunks, lo = task % chunks * chunk, hi = std::min(t.n, lo + chunk);
    const Key* const src = reinterpret_cast<const Key*>(t.src) + o * total * t.inner;
    Key* const dst = reinterpret_cast<Key*>(t.dst) + o * t.n * t.inner;
    int64_t* const at = t.at ? t.at + o * t.n * t.inner : nullptr;
    for (int64_t i = lo; i < hi; ++i) {
      const int64_t first = t.offset[i], stop = t.offset[i + 1], to = i * t.inner;
      if (at) extremes_of_row<Key, Ordered, true>(t, src, first, stop, dst + to, at + to);
      else extremes_of_row<Key, Ordered, false>(t, src, first, stop, dst + to, nullptr);
    }
  });
}

template <class Key, Kind kind, int64_t infinity = 0>
void extremes_of(const ExtremesTask& t, int threads) {
  if (t.largest) extremes_in<Key, kind, true, infinity>(t, threads);
  else extremes_in<Key, kind, false, infinity>(t, threads);
}

void extremes(const ExtremesTask& t, int threads) {
  switch (t.dtype) {
    case Dtype::f32: return extremes_of<int32_t, Kind::floating, 0x7f800000>(t, threads);
    case Dtype::f64: return extremes_of<int64_t, Kind::floating, 0x7ff0000000000000>(t, threads);
    case Dtype::f16: return extremes_of<int16_t, Kind::floating, 0x7c00>(t, threads);
    case Dtype::bf16: return extremes_of<int16_t, Kind::floating, 0x7f80>(t, threads);
    case Dtype::u8: return extremes_of<int8_t, Kind::without_sign>(t, threads);
    case Dtype::i8: return extremes_of<int8_t, Kind::with_sign>(t, threads);
    case Dtype::u16: return extremes_of<int16_t, Kind::without_sign>(t, threads);
    case Dtype::i16: return extremes_of<int16_t, Kind::with_sign>(t, threads);
    case Dtype::u32: return extremes_of<int32_t, Kind::without_sign>(t, threads);
    case Dtype::i32: return extremes_of<int32_t, Kind::with_sign>(t, threads);
    case Dtype::u64: return extremes_of<int64_t, Kind::without_sign>(t, threads);
    case Dtype::i64: return extremes_of<int64_t, Kind::with_sign>(t, threads);
  }
}

}  // namespace
}  // namespace tenter
