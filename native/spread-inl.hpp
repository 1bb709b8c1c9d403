// The transpose of means over areas of two inputs and more: a gradient is mostly runs of equal values, each an output's
// weighed once; where two areas share an input, their sum stands.
#pragma once
#include "positions-inl.hpp"

namespace tenter {
namespace {

// The runs of targets [lo, hi): of source origin + t the run begins at index[t], less lo. weight[t] is the source's,
// and weight[room + t] the same if the first target of its run is shared with the run before it, else 0.
template <class Acc>
void fill_runs(const SignalTask& t, int64_t lo, int64_t hi, Block<Acc>& b) {
  const __int128 first = t.at.rest + __int128(lo) * t.at.step_rest;
  b.origin = t.at.whole + lo * t.at.step_whole + int64_t(first / t.at.unit);
  const Means<Acc> means(t.forward, t.forward_count);
  Walk<double> walk(t.forward, b.origin);
  int64_t n = 0;
  for (; walk.whole[0] < hi; n += double_lanes, walk.advance()) {
    const Vec<int64_t> index = walk.whole - splat(lo);
    if constexpr (sizeof(Acc) == 8) store_bits(b.index + n, index);
    else store_bits(b.index + n, __builtin_convertvector(index, VecN<int32_t, double_lanes>));
    const Vec<double> w = means.has_more(walk.rest) ? means.more : means.fewer;
    store_weights(b.weight + n, w);
    store_weights(b.weight + b.room + n, walk.rest > 0.0 ? w : Vec<double>{});
  }
  while (b.index[n - 1] >= hi - lo) --n;
  b.n = n, b.index[0] = 0;  // the first run may begin before lo
}

// x: the sources, of which those past `end` are not read. sums has room for a vector past the n targets, and weighed
// for one past the runs, and one before.
template <class Acc>
void write_runs(const Block<Acc>& b, const Acc* x, const Acc* end, Acc* weighed, Acc* sums, int64_t n,
                int64_t longest) {
  constexpr int N = lanes<Acc>;
  Acc* const first = weighed + b.room + N;
  auto source = [&](int64_t t) __attribute__((always_inline)) {
    return x + t + N <= end ? load_unaligned<Vec<Acc>>(x + t)
                            : load_masked<Acc, Acc>(x + t, std::max<int64_t>(0, end - x - t));
  };
  weighed[-1] = Acc{};
  for (int64_t t = 0; t < b.n; t += N) store_bits(weighed + t, source(t) * load_unaligned<Vec<Acc>>(b.weight + t));
  for (int64_t t = 0; t < b.n; t += N) {
    const Vec<Acc> w = load_unaligned<Vec<Acc>>(b.weight + b.room + t);
    const Vec<Acc> both = multiply_add<Acc>(source(t), w, load_unaligned<Vec<Acc>>(weighed + t - 1));
    store_bits(first + t, w != Vec<Acc>{} ? both : load_unaligned<Vec<Acc>>(weighed + t));
  }
  first[0] = weighed[0];
  for (int64_t t = 0; t < b.n; ++t) {
    const Vec<Acc> value = splat(weighed[t]);
    Acc* const from = sums + b.index[t];
    Acc* const to = std::min(from + longest, sums + n);
    for (Acc* at = from; at < to; at += N) store_bits(at, value);
    *from = first[t];
  }
}

}  // namespace
}  // namespace tenter
