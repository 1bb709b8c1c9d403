// repeat_interleave of a contiguous array (outer, n, inner) by counts that are used once, without a map or a plan.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kernels.hpp"
#include "maps/offsets.hpp"
#include "maps/ragged.hpp"
#include "rules/verify.hpp"
#include "system/integers.hpp"
#include "system/tuning.hpp"

namespace tenter {

// Counts of many scalars of 1 to 8 bytes, in a contiguous array of int32 or int64. A table of all offsets, as in
// `Counts`, would be much of the memory traffic. Runs stores one offset per chunk instead, and reads the counts again
// in each task.
struct Runs {
  const void* counts;
  bool int32_counts;
  int64_t n, chunk = tuning.runs_chunk;
  std::vector<int64_t> chunk_offset;  // as chunk_offsets returns it

  Runs(const void* counts, bool int32_counts, int64_t n, int threads)
      : counts(counts), int32_counts(int32_counts), n(n) {
    chunk_offset = chunk_offsets(counts, int32_counts, n, chunk, threads);
  }
  // The number of outputs; -1 if counts are wrong, or differ so much that threads would not be balanced.
  int64_t total() const { return chunk_offset.empty() ? -1 : chunk_offset.back(); }
  void copy(const char* src, char* dst, int itemsize, int threads, bool stream) const {
    const RunsTask task{chunk, src, dst, itemsize, counts, int32_counts, n, chunk_offset.data(), stream};
    if constexpr (verifies) verify(task, int64_t(chunk_offset.size()));
    kernels().runs(task, threads);
  }
};

// Counts as n + 1 offsets. The transpose (segment sums, for gradients) and Python read the offsets too.
struct Counts {
  std::vector<int64_t> offset;
  int64_t total = 0;  // the number of outputs, or an error, as prefix_sum returns it

  Counts() = default;
  Counts(uintptr_t counts, int dtype, int64_t stride, int64_t n, int threads = 1)
      : offset(size_t(n) + 1),
        total(prefix_sum(reinterpret_cast<const char*>(counts), Dtype(dtype), stride, n, offset.data(), threads)) {}
  int64_t n() const { return int64_t(offset.size()) - 1; }
  // Repeats (outer, n, inner) to (outer, total, inner). inner_bytes: bytes of the inner dims together.
  void copy(const char* src, char* dst, int64_t outer, int64_t inner_bytes, int threads, bool stream) const {
    CopyTask task;  // not zeroed, as its axes are kilobytes: those in use are set
    task.src = src, task.dst = dst, task.run = inner_bytes, task.n_axes = 0, task.stream = stream;
    const int64_t bytes[3] = {outer * total * inner_bytes, total * inner_bytes, inner_bytes};
    if (outer > 1) task.axis[task.n_axes++] = {CopyAxis::affine, outer, outer, n() * inner_bytes, 1, nullptr};
    task.axis[task.n_axes++] = {CopyAxis::runs, n(), total, inner_bytes, 1, offset.data()};
    for (int k = 0; k <= task.n_axes; ++k) task.bytes[k] = bytes[k + 2 - task.n_axes];
    if constexpr (verifies) verify(task);
    kernels().copy(task, threads);
  }
  // The transpose: segment sums from (outer, total, inner) to (outer, n, inner).
  void sum(const char* src, char* dst, Dtype dtype, int64_t outer, int64_t inner, int threads, bool stream) const {
    if (outer == 1 && inner == 1 && total <= few_scalars) {
      if (dtype == Dtype::f32) return sum_few<float>(src, dst);
      if (dtype == Dtype::f64) return sum_few<double>(src, dst);
    }
    sum_rows({src, dst, dtype, offset.data(), n(), outer, inner, stream}, threads);
  }

 private:
  // The same sums in the same order as the kernel's. For so few values, choosing a kernel would take longer.
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
