// The dims of a task before its rows.
#pragma once
#include <cstdint>

namespace tenter {
namespace {

template <class Task>
inline int64_t outer_offset(const Task& t, int64_t index) {
  int64_t offset = 0;
  for (int d = t.n_outer - 1; d >= 0; --d) {
    offset += index % t.outer_shape[d] * t.outer_stride[d];
    index /= t.outer_shape[d];
  }
  return offset;
}
template <class Task>
inline int64_t outer_count(const Task& t) {
  int64_t n = 1;
  for (int d = 0; d < t.n_outer; ++d) n *= t.outer_shape[d];
  return n;
}

}  // namespace
}  // namespace tenter
