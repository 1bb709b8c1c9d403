// Sums of weighted rows: the inner loop of the window kernel, a vector of columns at a time.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernels/kernels.hpp"
#include "levels/stream-inl.hpp"

namespace tenter {
namespace {

template <class Acc>
inline const Acc* weights(const WindowMap& m) {
  if constexpr (std::is_same_v<Acc, float>) return m.weight32;
  else if constexpr (std::is_same_v<Acc, double>) return m.weight64;
  else return nullptr;
}

// Whether T is resized so often that it gets code of its own. Sums of other dtypes share code, because compile time
// grows with the number of pairs of dtypes. 16-bit dtypes have none of their own on x86 with 128-bit vectors only, that
// is on processors from before 2013.
template <class Acc, class T>
constexpr bool frequent =
    std::is_same_v<Acc, T> || (std::is_same_v<Acc, float> &&
                               (std::is_same_v<T, uint8_t> || (sizeof(T) == 2 && !(can_stream && vector_bytes == 16))));

// Computes U vectors of output columns.
template <class Acc, class In, class Out, bool ones, int U>
inline void sum_columns(const char* src, int64_t stride, int64_t count, const Acc* w, Out* dst, bool stream) {
  Vec<Acc> sum[U];
  for (int u = 0; u < U; ++u) {
    sum[u] = load<Acc, In>(src + u * lanes<Acc> * sizeof(In));
    if constexpr (!ones) sum[u] *= w[0];
  }
  for (int64_t k = 1; k < count; ++k) {
    const char* row = src + k * stride;
    for (int u = 0; u < U; ++u) {
      const Vec<Acc> x = load<Acc, In>(row + u * lanes<Acc> * sizeof(In));
      if constexpr (ones) sum[u] = add<Acc>(sum[u], x);
      else sum[u] = multiply_add<Acc>(x, w[k], sum[u]);
    }
  }
  store_columns<Acc, Out, U>(dst, sum, stream);
}

// Computes n columns, at least a vector. The last vector ends at n; it may overlap the one before, and stores the same
// sums.
template <class Acc, class In, class Out, bool ones>
inline void vertical_taps(const char* src, int64_t stride, int64_t count, const Acc* w, Out* dst, int64_t n,
                          bool stream) {
  constexpr int N = lanes<Acc>;
  int64_t j = 0;
  for (; j + 4 * N <= n; j += 4 * N)
    sum_columns<Acc, In, Out, ones, 4>(src + j * sizeof(In), stride, count, w, dst + j, stream);
  for (; j < n; j += N) {
    const int64_t at = std::min(j, n - N);
    sum_columns<Acc, In, Out, ones, 1>(src + at * sizeof(In), stride, count, w, dst + at, stream && at == j);
  }
}

// Computes less than a vector of columns.
template <class Acc, class In, class Out, bool ones>
inline void vertical_narrow(const char* src, int64_t stride, int64_t count, const Acc* w, Out* dst, int64_t n) {
  Vec<Acc> sum{};
  for (int64_t k = 0; k < count; ++k) {
    const Vec<Acc> x = load_masked<Acc, In>(src + k * stride, n);
    if (k == 0) sum = ones ? x : x * (ones ? Acc(1) : w[0]);
    else if constexpr (ones) sum = add<Acc>(sum, x);
    else sum = multiply_add<Acc>(x, w[k], sum);
  }
  store_masked<Acc, Out>(dst, sum, n);
}

// dst[j] = sum over k < count of w[k] * row k [j], for n contiguous columns; rows are `stride` bytes apart.
// stream: with streaming stores; dst is then aligned to a cache line.
template <class Acc, class In, class Out>
TENTER_ALWAYS_INLINE void vertical_here(const char* src, int64_t stride, int64_t count, const Acc* w, Out* dst,
                                        int64_t n, bool stream = false) {
  const bool narrow = n < lanes<Acc>;
  if (count == 0) {
    std::memset(dst, 0, n * sizeof(Out));  // an array's memory need not be aligned
  } else if (!w) {
    if (narrow) return vertical_narrow<Acc, In, Out, true>(src, stride, count, w, dst, n);
    vertical_taps<Acc, In, Out, true>(src, stride, count, w, dst, n, stream);
  } else if constexpr (std::is_floating_point_v<Acc>) {
    if (narrow) return vertical_narrow<Acc, In, Out, false>(src, stride, count, w, dst, n);
    vertical_taps<Acc, In, Out, false>(src, stride, count, w, dst, n, stream);
  }
}
// The same, not inlined: for loops over rows, whose registers it would take.
template <class Acc, class In, class Out>
[[gnu::noinline]] void vertical(const char* src, int64_t stride, int64_t count, const Acc* w, Out* dst, int64_t n,
                                bool stream) {
  vertical_here<Acc, In, Out>(src, stride, count, w, dst, n, stream);
}

// Computes two output rows whose windows overlap. Inputs that both read are loaded and converted once. Sums start from
// -0.0: adding the first product to it leaves that unchanged, the sign of a zero included.
template <class Acc, class In, class Out, int U>
inline void sum_columns_of_two(const char* src, int64_t stride, const WindowMap& m, int64_t o, const Acc* w, Out* dst0,
                               Out* dst1, bool stream) {
  Vec<Acc> sum0[U], sum1[U];
  for (int u = 0; u < U; ++u) sum0[u] = sum1[u] = Acc(-0.0) - Vec<Acc>{};
  const Acc *w0 = w + m.offset[o], *w1 = w + m.offset[o + 1];
  const int64_t shared = m.first(o + 1) - m.first(o), end0 = m.count(o), end1 = shared + m.count(o + 1);
  const char* row = src + m.first(o) * stride;
  int64_t k = 0;
  for (; k < shared; ++k, row += stride)
    for (int u = 0; u < U; ++u)
      sum0[u] = multiply_add<Acc>(load<Acc, In>(row + u * lanes<Acc> * sizeof(In)), w0[k], sum0[u]);
  for (; k < end0; ++k, row += stride)
    for (int u = 0; u < U; ++u) {
      const Vec<Acc> x = load<Acc, In>(row + u * lanes<Acc> * sizeof(In));
      sum0[u] = multiply_add<Acc>(x, w0[k], sum0[u]);
      sum1[u] = multiply_add<Acc>(x, w1[k - shared], sum1[u]);
    }
  for (; k < end1; ++k, row += stride)
    for (int u = 0; u < U; ++u)
      sum1[u] = multiply_add<Acc>(load<Acc, In>(row + u * lanes<Acc> * sizeof(In)), w1[k - shared], sum1[u]);
  store_columns<Acc, Out, U>(dst0, sum0, stream);
  store_columns<Acc, Out, U>(dst1, sum1, stream);
}

// Computes output rows [lo, hi) of a map, n columns of each. src: input row 0. Output row o is stored at dst + (o - lo)
// * pitch.
template <class Acc, class In, class Out>
void vertical_rows(const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, Out* dst, int64_t pitch,
                   int64_t n, bool stream = false) {
  constexpr int wide = 4 * lanes<Acc>;
  constexpr bool shares = std::is_floating_point_v<Acc> && frequent<Acc, In>;
  const Acc* const w = weights<Acc>(m);
  auto one = [&](int64_t o, int64_t j) {
    vertical<Acc, In, Out>(src + m.first(o) * stride + j * int64_t(sizeof(In)), stride, m.count(o),
                           w ? w + m.offset[o] : nullptr, dst + (o - lo) * pitch + j, n - j, stream);
  };
  for (int64_t o = lo; o < hi; ++o) {
    const bool two = shares && w && o + 1 < hi && n >= wide && m.count(o) >= 4 && m.count(o + 1) >= 4 &&
                     m.first(o + 1) < m.first(o) + m.count(o);
    if (!two) {
      one(o, 0);
      continue;
    }
    Out* const to = dst + (o - lo) * pitch;
    // Prefetches the rows that the next two outputs read first: hardware does not predict steps from row to row.
    const int64_t next_row = m.first(o + 1) + m.count(o + 1), next_o = std::min(m.n_out - 1, o + 3);
    const int64_t end_row = m.first(next_o) + m.count(next_o);
    int64_t j = 0;
    for (; j + wide <= n; j += wide) {
      const char* const at = src + j * int64_t(sizeof(In));
      for (int64_t r = next_row; r < end_row; ++r) prefetch(at + r * stride, wide * int64_t(sizeof(In)));
      if constexpr (shares) sum_columns_of_two<Acc, In, Out, 4>(at, stride, m, o, w, to + j, to + pitch + j, stream);
    }
    if (j < n) one(o, j), one(o + 1, j);
    ++o;
  }
}

}  // namespace
}  // namespace tenter
