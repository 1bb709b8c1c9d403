// The window kernel: each output is a weighted sum of adjacent inputs. Passes over one axis, or two or three at once.
//
// All of them use one inner loop, sums of weighted rows (rows-inl.hpp); columns become rows in transposed tiles
// (tile-inl.hpp). Every output adds its own taps and no others, in ascending order of input: there is no padding that
// could spread inf or NaN, and threads, tiles and memory layout change no bit. Sums of many taps come in parts, each an
// output of a task (long_sums.hpp). Acc is the type of sums; In and Out are
// the dtypes of inputs and outputs.
#pragma once
#include "levels/dtypes-inl.hpp"
#include "levels/planes-inl.hpp"
#include "levels/small-images-inl.hpp"
#include "levels/premultiply-inl.hpp"

namespace tenter {
namespace {

// Sums along an axis of images, whose values are lanes.
template <class Acc>
void sum_lanes(const ImageSums<WindowMap>::Axis& a, int64_t blocks, const Vec<Acc>* from, Vec<Acc>* to) {
  const WindowMap& m = *a.map;
  const Acc* const w = weights<Acc>(m);
  auto sum = [&]<bool ones>() {
    for (int64_t b = 0; b < blocks * a.before; ++b, from += m.n_in * a.after)
      for (int64_t o = 0; o < m.n_out; ++o)
        for (int64_t i = 0; i < a.after; ++i)
          *to++ =
              dot<Acc, ones>(from + m.first(o) * a.after + i, a.after, m.count(o), ones ? nullptr : w + m.offset[o]);
  };
  if (w) sum.template operator()<false>();
  else sum.template operator()<true>();
}

template <class Acc>
void small_images_of(const CallSums<Acc>& sums, const WindowTask& t, Team team) {
  const bool several = t.row && t.column;
  const Sums<Acc>&first = several ? *sums.first : *sums.whole, &last = several ? *sums.last : *sums.whole;
  const TaskImages<WindowMap> of = images_of(t);
  SmallImages<WindowMap> images;
  image_sums(of.axes, t.planes_first, t.rows_first, of.most, images);
  locate_images(t, of.axes, t.row ? 1 : t.n_row, of.most, first.in_size, images);
  small_images_pass<Acc>({first.in_size, last.out_size, first.widen, last.narrow, sum_lanes<Acc>}, t, images, team);
}

template <class Acc>
void window_by(const CallSums<Acc>& sums, const WindowTask& t, Team team) {
  switch (t.kernel) {
    case Kernel::planes: return planes_pass(sums, t, team);
    case Kernel::rows_and_columns: return both_pass(sums, t, team);
    case Kernel::wide_column: return wide_column_pass(sums, t, team);
    case Kernel::rows: return rows_pass(*sums.whole, t, team);
    case Kernel::columns: return columns_pass(*sums.whole, t, team);
    default: break;
  }
  if constexpr (std::is_floating_point_v<Acc>) {
    if (t.kernel == Kernel::small_images) return small_images_of<Acc>(sums, t, team);
    if (t.kernel == Kernel::equal_sums) return equal_sums_pass(*sums.whole, t, team);
  }
  no_kernel("no window kernel of this name");
}

// The loops for dtypes that are equal, or of which one is the accumulator: the first and last of several passes. Null
// for others.
template <class Acc, class T>
const Sums<Acc>* sums_of(Dtype in, Dtype out) {
  const bool from = in == dtype_of<T>, to = out == dtype_of<T>;
  return from && to                     ? &sums_as<Acc, T, T>
         : from && out == dtype_of<Acc> ? &sums_as<Acc, T, Acc>
         : to && in == dtype_of<Acc>    ? &sums_as<Acc, Acc, T>
                                        : nullptr;
}
template <class Acc, class... T>
const Sums<Acc>* sums_of_any(Dtype in, Dtype out, Types<T...>) {
  const Sums<Acc>* found = nullptr;
  (void)((found = sums_of<Acc, T>(in, out)) || ...);
  return found;
}
template <class Acc, class Value, int C>
constexpr Premultiply<Acc> premultiply_loops{
    [](const char* src, Acc* dst, int64_t n) { multiply<Acc, Value, C>(reinterpret_cast<const Value*>(src), dst, n); },
    [](const Acc* src, char* dst, int64_t n, Acc unseen) {
      divide<Acc, Value, C>(src, reinterpret_cast<Value*>(dst), n, unseen);
    }};
template <class Acc>
const Premultiply<Acc>* premultiply_loops_of(const WindowTask& t) {
  auto as = [&]<class Value>() {
    return t.alpha == 2   ? &premultiply_loops<Acc, Value, 2>
           : t.alpha == 4 ? &premultiply_loops<Acc, Value, 4>
                          : nullptr;
  };
  if constexpr (std::is_same_v<Acc, float>) {
    if (t.in == Dtype::u8) return as.template operator()<uint8_t>();
    if (t.in == Dtype::u16) return as.template operator()<uint16_t>();
    if (t.in == Dtype::f16) return as.template operator()<f16>();
    if (t.in == Dtype::f32) return as.template operator()<float>();
  } else if constexpr (std::is_same_v<Acc, double>) {
    if (t.in == Dtype::f64) return as.template operator()<double>();
  }
  return nullptr;
}

template <class Acc>
bool window_summed_in(const WindowTask& t, Team team) {
  auto sums = [](Dtype in, Dtype out) { return sums_of_any<Acc>(in, out, typename SummedIn<Acc>::types{}); };
  constexpr Dtype acc = dtype_of<Acc>;
  if (t.alpha) {
    const Sums<Acc>* const all = sums(acc, acc);
    const CallSums<Acc> call{all, all, all, all, premultiply_loops_of<Acc>(t)};
    if (call.premultiply) both_pass(call, t, team);
    return call.premultiply;
  }
  const CallSums<Acc> call{sums(t.in, t.out), sums(t.in, acc), sums(acc, acc), sums(acc, t.out)};
  if (call.whole) window_by(call, t, team);
  return call.whole;
}

void window(const WindowTask& t, int threads) {
  const int64_t rows = outer_count(t) * (t.row ? t.row->n_out : t.n_row);
  const int64_t planes_in = t.plane ? t.plane->n_in : 1, planes_out = t.plane ? t.plane->n_out : 1;
  const int64_t values = std::max(outer_count(t) * planes_in * t.n_row * t.n_column,
                                  planes_out * rows * (t.column ? t.column->n_out : t.n_column));
  const Team team = team_for(values * t.inner * 8, threads);
  const bool found = t.acc == Accumulate::f32   ? window_summed_in<float>(t, team)
                     : t.acc == Accumulate::f64 ? window_summed_in<double>(t, team)
                                                : window_summed_in<int64_t>(t, team);
  if (!found) no_kernel("no window kernel for these dtypes");
}

}  // namespace
}  // namespace tenter
