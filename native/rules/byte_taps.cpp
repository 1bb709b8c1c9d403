#include "rules/byte_taps.hpp"

#include <algorithm>
#include <cmath>

namespace tenter {

TapsAxis::TapsAxis(const LinearSteps& of, int64_t n_in, int64_t n_out) : n_in(n_in), n_out(n_out), taps(2) {
  constexpr int one = 1 << step_bits;
  input.reserve(size_t(2 * n_out)), weight.reserve(size_t(2 * n_out));
  for (int64_t o = 0; o < n_out; ++o) {
    const auto at = float((double(of.first_output + o) + 0.5) * of.step - 0.5);
    const float whole = std::floor(at);
    for (int64_t k = 0; k < 2; ++k) {
      // A part of the inputs may end before one whose weight is zero.
      const int64_t of_all = std::clamp<int64_t>(int64_t(whole) + k, 0, of.length - 1);
      input.push_back(int32_t(std::clamp<int64_t>(of_all - of.first_input, 0, n_in - 1)));
    }
    const auto second = int16_t(std::nearbyint((at - whole) * float(one)));
    weight.push_back(int16_t(one - second)), weight.push_back(second);
  }
}

// The integer weights of an output sum to the rounded sum of its exact weights, so that equal inputs give the same
// value. The largest weight takes the difference.
TapsAxis::TapsAxis(const WindowMap& of) : n_in(of.n_in), n_out(of.n_out), taps(2) {
  for (int64_t o = 0; o < n_out; ++o)
    if (of.count(o) > 2) taps = 4;
  input.reserve(size_t(taps * n_out)), weight.reserve(size_t(taps * n_out));
  for (int64_t o = 0; o < n_out; ++o) {
    const int64_t n = of.count(o);
    const double* const w = of.weight64 + of.offset[o];
    double sum = 0;
    int units[max_byte_taps] = {}, rest = 0, largest = 0;
    for (int64_t k = 0; k < n; ++k) {
      units[k] = int(std::nearbyint(w[k] * (1 << tap_bits)));
      sum += w[k], rest -= units[k];
      if (units[k] > units[largest]) largest = int(k);
    }
    units[largest] += rest + int(std::nearbyint(sum * (1 << tap_bits)));
    for (int64_t k = 0; k < taps; ++k) {
      input.push_back(int32_t(of.first(o) + std::min(k, n - 1)));
      weight.push_back(int16_t(units[k]));
    }
  }
}

bool TapsAxis::fits(const WindowMap& of) {
  for (int64_t o = 0; o < of.n_out; ++o) {
    double sum = 0;
    for (int64_t k = 0; k < of.count(o); ++k) sum += std::fabs(of.weight64[of.offset[o] + k]);
    if (of.count(o) < 1 || of.count(o) > max_byte_taps || !(sum <= 1.75)) return false;
  }
  return true;
}

}  // namespace tenter
