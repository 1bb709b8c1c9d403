// Weights as integers have them: multiples of 2^-22, rounded half away from zero, as Pillow does.
#pragma once
#include <cmath>

#include "bytes.hpp"
#include "sampling.hpp"

namespace tenter {

inline void round_weights(Rows& rows) {
  constexpr double unit = 1 << weight_bits;
  for (double& w : rows.weight) w = std::trunc(w * unit + (w < 0 ? -0.5 : 0.5)) / unit;
}

}  // namespace tenter
