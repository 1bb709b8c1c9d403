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
// The bytes to outer positions from `index` on, one after the other, without a division for each.
template <class Task>
class OuterWalk {
 public:
  OuterWalk(const Task& t, int64_t index) : t_(t), index_(index) { begin(); }
  int64_t offset() const { return offset_; }
  void next() {
    ++index_;
    if (--left_) offset_ += t_.outer_stride[t_.n_outer - 1];
    else begin();
  }

 private:
  void begin() {
    offset_ = outer_offset(t_, index_);
    left_ = t_.n_outer ? t_.outer_shape[t_.n_outer - 1] - index_ % t_.outer_shape[t_.n_outer - 1] : 1;
  }
  const Task& t_;
  int64_t index_, offset_, left_;
};
template <class Task>
inline int64_t outer_count(const Task& t) {
  int64_t n = 1;
  for (int d = 0; d < t.n_outer; ++d) n *= t.outer_shape[d];
  return n;
}

}  // namespace
}  // namespace tenter
