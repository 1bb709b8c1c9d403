// Rounds weights to multiples of 2^-22, half away from zero, as Pillow does.
#pragma once
#include <cmath>

#include "rules/bytes.hpp"
#include "rules/sampling.hpp"

namespace tenter {

inline void round_weights(Rows& rows) {
  constexpr double unit = 1 << weight_bits;
  for (double& w : rows.weight) w = std::trunc(w * unit + (w < 0 ? -0.5 : 0.5)) / unit;
}

}  // namespace tenter
