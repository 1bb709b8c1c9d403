// Pillow's weights, computed for a vector of outputs at a time, and weights in the groups that kernels read.
#pragma once
#include <algorithm>

#include "levels/tap-groups-inl.hpp"
#include "rules/bytes.hpp"
#include "rules/filters.hpp"
#include "rules/pillow_rows.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

typedef Vec<double> Reals;

// Pillow's filters where they differ from filters.hpp. Pillow rounds positions, which decides whether an input half a
// pixel away counts. The constants of its Hamming window are float32, and their sum is not 1; yet the weight at
// distance 0 is 1.
inline Reals pillow_box(Reals x) { return ((x > -0.5) & (x <= 0.5)) ? Reals{} + 1 : Reals{}; }
inline Reals pillow_hamming(Reals x) {
  constexpr double pi = 3.14159265358979323846;
  for (int l = 0; l < lanes<double>; ++l) {
    const double bell = x[l] == 0 ? 1 : sinc(x[l]) * (double(0.54f) + double(0.46f) * std::cos(x[l] * pi));
    x[l] = std::fabs(x[l]) < 1 ? bell : 0;
  }
  return x;
}
inline Reals pillow_lanczos(Reals x) { return ((x >= -3) & (x < 3)) ? sinc(x) * sinc(x / 3) : Reals{}; }

// Each lane does what Pillow does for its output, in the same order. Rows shorter than the longest one end with zeros.
template <class F>
PillowFit pillow_weights_by(F filter, const PillowTask& t, Lease& lease) {
  constexpr int N = lanes<double>;
  typedef VecN<int32_t, N> Units;
  // Limits of weights: the highest of three signed bytes is at least -127. Sums have 32 bits: one for the sign, and
  // half a unit for rounding.
  constexpr double largest = 127 << 16, most = (0x1p31 - (1 << weight_bits)) / 255;
  Reals weight_of_largest{}, weight_of_all{};
  for (int64_t lo = 0; lo < t.n_out; lo += N) {
    const int n = int(std::min<int64_t>(N, t.n_out - lo));
    Reals center, first, count;
    int64_t longest = 0;
    for (int l = 0; l < N; ++l) {
      const int64_t o = lo + std::min(l, n - 1), taps = t.offset[o + 1] - t.offset[o];
      center[l] = t.begin + (double(o) + 0.5) * t.step, first[l] = double(t.start[o]), count[l] = double(taps);
      longest = std::max(longest, taps);
    }
    Reals* const w = lease->table.get<Reals>(std::max<int64_t>(1, longest));
    Units* const units = lease->index.get<Units>(std::max<int64_t>(1, longest));
    Reals sum{}, magnitudes{};
    for (int64_t k = 0; k < longest; ++k) {
      const double tap = double(k);
      const Reals found = filter((first + tap - center + 0.5) * t.unit);
      w[k] = count > tap ? found : Reals{};
      sum += w[k];
    }
    const Reals divisor = sum != 0 ? sum : Reals{} + 1;
    for (int64_t k = 0; k < longest; ++k) {
      const Reals scaled = w[k] / divisor * double(1 << weight_bits);
      w[k] = scaled + (scaled < 0 ? Reals{} - 0.5 : Reals{} + 0.5);
      if (!t.units) continue;
      if (any(!(magnitude(w[k]) < 0x1p31))) return PillowFit::none;  // a sum was only a rounding error
      units[k] = __builtin_convertvector(w[k], Units);
      const Reals size = magnitude(__builtin_convertvector(units[k], Reals));
      magnitudes += size;
      weight_of_largest = size > weight_of_largest ? size : weight_of_largest;
    }
    weight_of_all = magnitudes > weight_of_all ? magnitudes : weight_of_all;
    for (int l = 0; l < n; ++l) {
      const int64_t at = t.offset[lo + l], taps = t.offset[lo + l + 1] - at;
      for (int64_t k = 0; k < taps && t.units; ++k) t.units[at + k] = units[k][l];
      for (int64_t k = 0; k < taps && !t.units; ++k) t.weights[at + k] = std::trunc(w[k][l]) / (1 << weight_bits);
    }
  }
  return any(weight_of_largest > largest) || any(weight_of_all > most) ? PillowFit::integers : PillowFit::bytes;
}

inline PillowFit pillow_weights(const PillowTask& t) {
  Lease lease;
  switch (t.filter) {
    case FilterKind::box: return pillow_weights_by(pillow_box, t, lease);
    case FilterKind::triangle: return pillow_weights_by([](Reals x) { return triangle(x); }, t, lease);
    case FilterKind::hamming: return pillow_weights_by(pillow_hamming, t, lease);
    case FilterKind::cubic: return pillow_weights_by([](Reals x) { return cubic(x, -0.5); }, t, lease);
    default: return pillow_weights_by(pillow_lanczos, t, lease);
  }
}

// ---- groups

// The words of four weights: of one group, or of two. Words after the last one of an output are never read.
inline VecN<int32_t, 4> words_of_four(VecN<int32_t, 4> k) {
  if constexpr (weight_form == WeightForm::pieces) {
    typedef VecN<uint8_t, 16> B;
    const B b = (B)((k + 0x8080) ^ 0x8080);  // pieces of each weight, of signed digits
    return (VecN<int32_t, 4>)__builtin_shufflevector(b, b, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  } else if constexpr (weight_form == WeightForm::whole) {
    return k;
  } else {
    typedef VecN<uint16_t, 8> H;
    const H low = (H)(k & 2047), high = (H)(k >> 11);
    return (VecN<int32_t, 4>)__builtin_shufflevector(low, high, 0, 2, 8, 10, 4, 6, 12, 14);
  }
}

inline TapGroups make_groups(const ByteMap& m, bool aligned) {
  TapGroups t{weight_form, aligned, 1, {}, {}};
  t.first.resize(size_t(m.n_out));
  for (int64_t o = 0; o < m.n_out; ++o) {
    const int64_t before = aligned ? m.first(o) % group_taps : 0;
    t.first[size_t(o)] = aligned ? m.first(o) / group_taps : m.first(o);
    t.groups = std::max(t.groups, ceil_div(before + m.count(o), group_taps));
  }
  t.weight.resize(size_t(m.n_out * t.groups * weight_words + 4));
  // Loads of four weights may begin before a row's first weight and end after its last. A mask removes the excess.
  const int64_t n = int64_t(m.weight.size()), beyond = group_taps * t.groups + 4;
  Lease lease;
  int32_t* const weight = lease->table.get<int32_t>(4 + n + beyond) + 4;
  std::fill_n(weight - 4, 4, 0);
  std::fill_n(std::copy_n(m.weight.data(), n, weight), beyond, 0);
  int32_t* to = t.weight.data();
  for (int64_t o = 0; o < m.n_out; ++o) {
    const int32_t before = aligned ? int32_t(m.first(o) % group_taps) : 0;
    const auto count = uint32_t(m.count(o));
    const int32_t* const from = weight + m.offset[size_t(o)] - before;
    VecN<int32_t, 4> tap = VecN<int32_t, 4>{0, 1, 2, 3} - before;
    int32_t* const end = to + t.groups * weight_words;
    for (int64_t k = 0; to + k / group_taps * weight_words < end; k += 4, tap += 4) {
      const auto four = load_unaligned<VecN<int32_t, 4>>(from + k) & ((VecN<uint32_t, 4>)tap < count);
      store_bits(to + k / group_taps * weight_words, words_of_four(four));
    }
    to = end;
  }
  return t;
}

}  // namespace
}  // namespace tenter
