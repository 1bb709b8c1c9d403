#include "call_key.hpp"

#include <algorithm>
#include <cstdlib>

namespace tenter {

bool LayoutClass::of(const ArrayView& x) {
  int64_t step[max_read_dims];
  for (int d = 0; d < x.ndim; ++d) {
    from_slow[d] = uint8_t(d), step[d] = std::abs(x.stride[d]);
    ones |= (x.shape[d] == 1) << d, zeros |= (step[d] == 0) << d, negative |= (x.stride[d] < 0) << d;
    if (x.shape[d] == 0 || (x.shape[d] > 1 && step[d] == 0)) return false;
  }
  std::stable_sort(from_slow, from_slow + x.ndim, [&](int a, int b) { return step[a] > step[b]; });
  int before = -1;  // of those that are stepped over
  for (int k = 0; k < x.ndim; ++k) {
    const int d = from_slow[k];
    if (k) equal |= (step[from_slow[k - 1]] == step[d]) << k;
    for (int e = 0; e < x.ndim; ++e) below |= uint64_t(step[d] / x.shape[e] < step[e]) << (8 * d + e);
    if (x.shape[d] == 1) continue;
    if (before >= 0 && step[before] / x.shape[d] < step[d]) return false;
    before = d;
  }
  return true;
}

}  // namespace tenter
