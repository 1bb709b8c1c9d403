// Positions of a signal's targets, one vector at a time, and the weights that follow from them. A target is what a row
// of the map computes; its candidates are the adjacent sources that may have a weight.
#pragma once
#include "levels/convert-inl.hpp"
#include "maps/signals.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

template <class Acc>
using IndexOf = std::conditional_t<sizeof(Acc) == 4, int32_t, int64_t>;

// The rows of up to `room` adjacent targets, without the values that they are multiplied by. Candidate j of target t is
// source `origin` + index[t] + j, with weight[j * room + t], which is 0 if it does not count. Indices ascend from 0.
// Entries from n on, up to a whole vector, belong to the targets that follow.
template <class Acc>
struct Block {
  int64_t room, n, origin, count;
  IndexOf<Acc>* index;
  Acc* weight;
};

constexpr int double_lanes = lanes<double>;
constexpr int64_t exact_quotients = int64_t(1) << 50;

// a / b, correctly rounded, for whole numbers a and b below 2^50. reciprocal: 1 / b. The product differs from a / b by
// less than two units in its last place, so `error` is exact. The corrected sum is within 2^-52 such units of a / b
// before it is rounded. a / b is further than that from any tie: at least 1 / 2b of a unit.
inline Vec<double> quotient(Vec<double> a, Vec<double> b, Vec<double> reciprocal) {
  if constexpr (!fused) return a / b;
  const Vec<double> product = a * reciprocal, error = multiply_add<double>(-product, b, a);
  return multiply_add<double>(error, reciprocal, product);
}
inline Vec<double> magnitude(Vec<double> x) {
  return (Vec<double>)((Vec<int64_t>)x & splat(std::numeric_limits<int64_t>::max()));
}
// Whole numbers as doubles, correctly rounded. SSE and AVX2 have no such conversion of vectors: there the halves of a
// number are put behind the exponents of 2^52 and 2^84.
inline Vec<double> doubles_of(Vec<int64_t> x) {
#if defined(__SSE2__) && !defined(__AVX512DQ__)
  typedef Vec<uint64_t> U;
  constexpr uint64_t low_bits = 0x4330000000000000, high_bits = 0x4530000080000000;  // the upper half has a sign
  constexpr double both = 0x1p84 + 0x1p63 + 0x1p52;
  const auto low = (Vec<double>)(((U)x & 0xffffffff) | low_bits), high = (Vec<double>)((U)x >> 32 ^ high_bits);
  return high - both + low;
#else
  return __builtin_convertvector(x, Vec<double>);
#endif
}
template <class Acc>
inline void store_weights(Acc* to, Vec<double> w) {
  if constexpr (std::is_same_v<Acc, double>) store_bits(to, w);
  else store_bits(to, __builtin_convertvector(w, VecN<float, double_lanes>));
}

// Walks a line of positions. Rest: double if whole numbers of rests are exact in it, which is faster; else int64_t.
template <class Rest>
class Walk {
 public:
  Walk(const Positions& p, int64_t at) : unit_(splat(Rest(p.unit))) {
    const __int128 total = p.rest + __int128(at) * p.step_rest;
    int64_t whole = p.whole + at * p.step_whole + int64_t(total / p.unit), rest = int64_t(total % p.unit);
    const __int128 step = __int128(double_lanes) * p.step_rest;
    step_whole_ = splat(double_lanes * p.step_whole + int64_t(step / p.unit));
    step_rest_ = splat(Rest(int64_t(step % p.unit)));
    for (int l = 0; l < double_lanes; ++l) {
      this->whole[l] = whole, this->rest[l] = Rest(rest);
      whole += p.step_whole, rest += p.step_rest;
      if (rest >= p.unit) rest -= p.unit, ++whole;
    }
  }
  void advance() {
    rest += step_rest_;
    const Vec<int64_t> carries = (Vec<int64_t>)(rest >= unit_);  // -1 where it does
    rest = carries ? rest - unit_ : rest;
    whole += step_whole_ - carries;
  }
  Vec<int64_t> whole;
  Vec<Rest> rest;

 private:
  Vec<int64_t> step_whole_;
  Vec<Rest> step_rest_, unit_;
};

// Stores the next n targets of a walk: the indices of their candidates from `first` on, and by `make_weights(rest, k)`
// their weights. A walk advances by whole vectors, so n is a multiple of the lanes except in the last block.
template <class Acc, class Rest, class MakeWeights>
inline void fill_block(int64_t first, Walk<Rest>& walk, int64_t n, Block<Acc>& b, MakeWeights&& make_weights) {
  b.n = n, b.origin = walk.whole[0] + first;
  Walk<Rest> next = walk;  // a copy in registers: the compiler must assume that stores of weights change a reference
  const Vec<int64_t> origin = splat(walk.whole[0]);
  IndexOf<Acc>* const to = b.index;
  for (int64_t at = 0; at < round_up(n, lanes<Acc>); at += double_lanes, next.advance()) {
    const Vec<int64_t> index = next.whole - origin;
    if constexpr (sizeof(Acc) == 8) store_bits(to + at, index);
    else store_bits(to + at, __builtin_convertvector(index, VecN<int32_t, double_lanes>));
    make_weights(next.rest, at);
  }
  walk = next;
}

template <class Acc>
void triangle_block(const SignalTask& t, Walk<double>& walk, int64_t n, Block<Acc>& b) {
  const Vec<double> pixel = splat(double(t.pixel)), reciprocal = splat(1 / double(t.pixel));
  const double unit = double(t.at.unit), first = double(t.first) * unit;
  Acc* const to = b.weight;
  const int64_t room = b.room;
  auto make_weights = [=](Vec<double> rest, int64_t at, int64_t j) __attribute__((always_inline)) {
    const Vec<double> distance = magnitude(rest - splat(first + double(j) * unit));
    const Vec<double> w = 1.0 - quotient(distance, pixel, reciprocal);
    store_weights(to + j * room + at, w > 0.0 ? w : Vec<double>{});
  };
  if (b.count == 2) {
    fill_block(t.first, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
      make_weights(rest, at, 0), make_weights(rest, at, 1);
    });
  } else {
    fill_block(t.first, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
      for (int64_t j = 0; j < b.count; ++j) make_weights(rest, at, j);
    });
  }
}

// The same for large units. If distances are too large to be exact, the distance of an output's first input is its rest
// divided, and that of its second input is a rounded difference.
template <class Acc>
void triangle_block(const SignalTask& t, Walk<int64_t>& walk, int64_t n, Block<Acc>& b) {
  const Vec<double> pixel = splat(double(t.pixel));
  fill_block(t.first, walk, n, b, [&](Vec<int64_t> rest, int64_t at) __attribute__((always_inline)) {
    for (int64_t j = 0; j < b.count; ++j) {
      const int64_t k = t.first + j;
      const Vec<int64_t> distance = k <= 0 ? rest - k * t.at.unit : k * t.at.unit - rest;
      const bool second = !t.exact && (k <= 0) == t.transposed;
      const Vec<int64_t> numerator = second ? t.pixel - distance : distance;
      const Vec<double> part = doubles_of(numerator) / pixel;
      const Vec<double> w = 1.0 - (second ? magnitude(1.0 - part) : part);
      store_weights(b.weight + j * b.room + at, distance < t.pixel ? w : Vec<double>{});
    }
  });
}

// 1 / count for each target of a line, whose counts are `count` or `count - 1`.
template <class Acc>
struct Means {
  Means(const Positions& p, int64_t count)
      : limit(splat(double(p.unit - p.step_rest))),
        fewer(splat(1 / double(count - 1))),
        more(splat(1 / double(count))) {}
  Vec<int64_t> has_more(Vec<double> rest) const { return (Vec<int64_t>)(rest > limit); }
  Vec<double> limit, fewer, more;
};

// together: the weights of all candidates before the last are equal, so they are stored once, followed by those of the
// last.
template <class Acc>
void touched_block(const SignalTask& t, Walk<double>& walk, int64_t n, Block<Acc>& b, bool together) {
  const Means<Acc> means(t.at, t.count);
  const int64_t last = together ? 1 : t.count - 1;
  fill_block(t.first, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
    const Vec<int64_t> more = means.has_more(rest);
    const Vec<double> w = more ? means.more : means.fewer;
    for (int64_t j = 0; j < last; ++j) store_weights(b.weight + j * b.room + at, w);
    store_weights(b.weight + last * b.room + at, more ? w : Vec<double>{});
  });
}

// Ones for candidates that count. Their weights are those of the sources, which are targets of `forward`.
template <class Acc>
void touched_transposed_block(const SignalTask& t, Walk<double>& walk, int64_t n, Block<Acc>& b) {
  const Vec<double> pixel = splat(double(t.pixel)), one = splat(1.0);
  fill_block(t.first, walk, n, b, [&](Vec<double> rest, int64_t at) __attribute__((always_inline)) {
    store_weights(b.weight + at, one);
    for (int64_t j = 1; j < b.count; ++j)
      store_weights(b.weight + j * b.room + at, splat(double(j * t.at.unit)) - rest < pixel ? one : Vec<double>{});
  });
}
// The weights of n targets of `forward`, from `origin` on, and some more, up to a whole vector.
template <class Acc>
void forward_weights(const SignalTask& t, int64_t origin, int64_t n, Acc* to) {
  const Means<Acc> means(t.forward, t.forward_count);
  Walk<double> walk(t.forward, origin);
  for (int64_t at = 0; at < n; at += double_lanes, walk.advance())
    store_weights(to + at, means.has_more(walk.rest) ? means.more : means.fewer);
}

}  // namespace
}  // namespace tenter
