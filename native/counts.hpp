// repeat_interleave by counts that are used once, without a map or a plan, of a contiguous array (outer, n, inner).
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "integers.hpp"
#include "kernels.hpp"
#include "offsets.hpp"
#include "ragged.hpp"
#include "tuning.hpp"
#include "verify.hpp"

namespace tenter {

// It stores all n + 1 offsets, which its transpose (segment sums, for gradients) and Python read too. Of many scalars a
// table of offsets would be a large part of the memory traffic: `Runs` (bind.cpp) has none.
struct Counts {
  std::vector<int64_t> offset;
  int64_t total = 0;  // or an error, as prefix_sum returns it

  Counts() = default;
  Counts(uintptr_t counts, int dtype, int64_t stride, int64_t n, int threads = 1)
      : offset(size_t(n) + 1),
        total(prefix_sum(reinterpret_cast<const char*>(counts), Dtype(dtype), stride, n, offset.data(), threads)) {}
  int64_t n() const { return int64_t(offset.size()) - 1; }
  void copy(const char* src, char* dst, int64_t outer, int64_t inner_bytes, int threads, bool stream) const {
    CopyTask task;  // its axes are kilobytes, and set as far as they are used
    task.src = src, task.dst = dst, task.run = inner_bytes, task.n_axes = 0, task.stream = stream;
    const int64_t bytes[3] = {outer * total * inner_bytes, total * inner_bytes, inner_bytes};
    if (outer > 1) task.axis[task.n_axes++] = {CopyAxis::affine, outer, outer, n() * inner_bytes, 1, nullptr};
    task.axis[task.n_axes++] = {CopyAxis::runs, n(), total, inner_bytes, 1, offset.data()};
    for (int k = 0; k <= task.n_axes; ++k) task.bytes[k] = bytes[k + 2 - task.n_axes];
    if constexpr (verifies) verify(task);
    kernels().copy(task, threads);
  }
  // The transpose: segment sums of (outer, total, inner).
  void sum(const char* src, char* dst, Dtype dtype, int64_t outer, int64_t inner, int threads, bool stream) const {
    if (outer == 1 && inner == 1 && total <= few_scalars) {
      if (dtype == Dtype::f32) return sum_few<float>(src, dst);
      if (dtype == Dtype::f64) return sum_few<double>(src, dst);
    }
    sum_rows({src, dst, dtype, offset.data(), n(), outer, inner, stream}, threads);
  }

 private:
  // In the kernel's order. So few that choosing a kernel takes longer.
  template <class T>
  void sum_few(const char* src, char* dst) const {
    for (int64_t i = 0; i < n(); ++i) {
      T sum{};
      for (int64_t k = offset[i]; k < offset[i + 1]; ++k) {
        const T x = load_unaligned<T>(src + k * int64_t(sizeof(T)));
        sum = k == offset[i] ? x : sum + x;
      }
      std::memcpy(dst + i * int64_t(sizeof(T)), &sum, sizeof(T));
    }
  }
};

}  // namespace tenter
