// Sums along the fastest axis if it grows or shrinks little: permuted inputs * weights, one vector of outputs at a
// time.
#pragma once
#include <algorithm>

#include "kernels/kernels.hpp"
#include "kernels/permute_tables.hpp"
#include "levels/stream-inl.hpp"

namespace tenter {
namespace {

// Computes vectors [lo, hi) of a run, for permuted_rows rows of n outputs each; output `from` is stored at dst.
// stream: uses streaming stores; dst is then aligned to a cache line.
template <class Acc, class In, PermuteTables::Reach reach, bool ragged>
void permuted_run(const char* const* rows, const PermuteTables& p, const PermuteTables::Run& run, int64_t lo,
                  int64_t hi, int64_t n, int64_t from, Acc* const* dst, bool stream) {
  constexpr int64_t N = lanes<Acc>;
  const int taps = run.taps;
  // Copies of what p points to: the compiler must assume that stores change it.
  const char* weight = p.weight.data() + (run.weight + (lo - run.lo) * taps * N) * int64_t(sizeof(Acc));
  const int64_t* const bases = p.base.data();
  const char *const indices = p.index.data(), *const counts = p.count.data();
  const char* const src[permuted_rows] = {rows[0], rows[1]};
  Acc* const to[permuted_rows] = {dst[0] - from, dst[1] - from};
  const int64_t inner = p.inner, last_load = p.row - 2 * N, n_whole = n / N;
  Acc values[permuted_rows][N];
  // Whole vectors, then the last vector of the row. That one ends with the row, and may begin before output `from`.
  for (int64_t v = lo, end = std::min(hi, n_whole); v < hi; end = hi) {
    const bool last = v >= n_whole, partly = last && n - N < from;
    Acc* at[permuted_rows];
    for (int r = 0; r < permuted_rows; ++r) at[r] = partly ? values[r] : to[r] + (last ? n - N : v * N);
    for (; v < end; ++v, weight += taps * vector_bytes) {
      const int64_t base = bases[v];
      const Places<Acc> index = {load_unaligned<Index<Acc>>(indices + v * vector_bytes)};
      Vec<Acc> a[permuted_rows], b[permuted_rows], sum[permuted_rows];
      for (int r = 0; r < permuted_rows; ++r) {
        a[r] = load<Acc, In>(src[r] + base * int64_t(sizeof(In)));
        if constexpr (reach == PermuteTables::two) b[r] = load<Acc, In>(src[r] + (base + N) * int64_t(sizeof(In)));
      }
      Index<Acc> count;
      if constexpr (ragged) count = load_unaligned<Index<Acc>>(counts + v * vector_bytes);
      auto add_tap = [&](int k) __attribute__((always_inline)) {
        const Vec<Acc> w = load_unaligned<Vec<Acc>>(weight + k * vector_bytes);
        const int64_t first = reach == PermuteTables::moving ? std::min(base + k * inner, last_load) : base;
        const Places<Acc> places = moved<Acc>(index, base + k * inner - first);
        for (int r = 0; r < permuted_rows; ++r) {
          if constexpr (reach == PermuteTables::moving) {
            const char* const s = src[r] + first * int64_t(sizeof(In));
            a[r] = load<Acc, In>(s), b[r] = load<Acc, In>(s + N * sizeof(In));
          }
          const Vec<Acc> x =
              reach == PermuteTables::one ? permute<Acc>(a[r], places) : permute<Acc>(a[r], b[r], places);
          const Vec<Acc> more = k ? multiply_add<Acc>(x, w, sum[r]) : x * w;
          // Lanes without a tap k keep their sum. A weight of zero would not do, because zero times infinity is NaN.
          if constexpr (ragged) sum[r] = count > k ? more : k ? sum[r] : Vec<Acc>{};
          else sum[r] = more;
        }
      };
      add_tap(0);
      for (int k = 1; k < taps; ++k) add_tap(k);
      for (int r = 0; r < permuted_rows; ++r, at[r - 1] += N)
        store_columns<Acc, Acc, 1>(at[r], sum + r, stream && !last);
    }
    for (int r = 0; r < permuted_rows && partly; ++r)
      std::memcpy(dst[r], values[r] + (from - (n - N)), (N - (from - (n - N))) * sizeof(Acc));
  }
}

// Outputs [lo, hi) of n_rows rows of contiguous values. lo is a multiple of the lanes; so is hi, or it is the end.
template <class Acc, class In>
void horizontal_permuted(const char* const* rows, int n_rows, const PermuteTables& p, int64_t n_out, char* const* dst,
                         int64_t lo, int64_t hi, bool stream) {
  constexpr int64_t N = lanes<Acc>;
  const int64_t n = n_out * p.inner, from = lo * p.inner, first = from / N, last = ceil_div(hi * p.inner, N);
  for (int r = 0; r < n_rows; r += permuted_rows) {
    const int other = std::min(r + 1, n_rows - 1);
    const char* const src[permuted_rows] = {rows[r], rows[other]};
    Acc* const to[permuted_rows] = {reinterpret_cast<Acc*>(dst[r]), reinterpret_cast<Acc*>(dst[other])};
    for (const PermuteTables::Run& run : p.run) {
      const int64_t v = std::max(run.lo, first), end = std::min(run.hi, last);
      if (v >= end) continue;
      auto call = [&]<PermuteTables::Reach reach>() {
        auto* const sums = run.ragged ? permuted_run<Acc, In, reach, true> : permuted_run<Acc, In, reach, false>;
        sums(src, p, run, v, end, n, from, to, stream);
      };
      switch (run.reach) {
        case PermuteTables::one: call.template operator()<PermuteTables::one>(); break;
        case PermuteTables::two: call.template operator()<PermuteTables::two>(); break;
        default: call.template operator()<PermuteTables::moving>();
      }
    }
  }
}

// Gathers B bytes from each of the elements `index` of a row, which are `size` bytes apart. Moves whole registers; the
// next store overwrites their extra bytes, and `to` has space for those of the last. end: the end of the row, which no
// load passes.
template <int size, int B>
inline void gather_bytes(const char* row, const char* end, const int64_t* index, int64_t n, char* to) {
  constexpr int whole = B <= 2 ? B : B <= 4 ? 4 : B <= 8 ? 8 : B <= 16 ? 16 : B <= 32 ? 32 : 64;
  for (int64_t o = 0; o < n; ++o, to += B) {
    const char* const from = row + index[o] * size;
    if (end - from >= whole) std::memcpy(to, from, whole);
    else std::memcpy(to, from, B);
  }
}
template <int size>
[[gnu::noinline]] void gather_elements(const char* row, const char* end, const int64_t* index, int64_t n, int64_t bytes,
                                       char* to) {
  const bool done = with_constant<1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64>(bytes, [&]<int B>() {
    if constexpr (B % size == 0) gather_bytes<size, B>(row, end, index, n, to);
  });
  if (done) return;
  for (int64_t o = 0; o < n; ++o, to += bytes) std::memcpy(to, row + index[o] * size, bytes);
}

// Maps that leave most inputs unread. The inputs that are read are gathered into a buffer, tap by tap, then summed as
// rows. Scalar moves and vector loads cost less than vector gathers.
template <class Acc, class In>
void horizontal_gathered(const char* const* rows, int n_rows, int64_t row_bytes, const PermuteTables& p, int64_t n_out,
                         char* const* dst, int64_t lo, int64_t hi, bool stream, Lease& lease) {
  constexpr int64_t N = lanes<Acc>;
  constexpr int64_t size = sizeof(In), slack = 64;  // for the last register of gather_bytes
  const int64_t inner = p.inner, n = (hi - lo) * inner, pitch = n + N + slack;
  auto gather = [&](const char* row, const int64_t* index, int64_t bytes, In* to) {
    gather_elements<size>(row, row + row_bytes, index, hi - lo, bytes, reinterpret_cast<char*>(to));
  };
  if (p.pairs) {
    In* const gathered = lease->gathered.get<In>(permuted_rows * (p.row + slack));
    const char* pairs[permuted_rows];
    for (int r = 0; r < n_rows; r += permuted_rows) {
      const int n_pairs = std::min(permuted_rows, n_rows - r);
      for (int k = 0; k < permuted_rows; ++k) {
        In* const to = gathered + k * (p.row + slack);
        pairs[k] = reinterpret_cast<const char*>(to);
        if (k < n_pairs) gather(rows[r + k], p.gather.data() + lo, 2 * inner * size, to + lo * 2 * inner);
      }
      horizontal_permuted<Acc, In>(pairs, n_pairs, p, n_out, dst + r, lo, hi, stream);
    }
    return;
  }
  In* const gathered = lease->gathered.get<In>(p.taps * pitch);
  const Acc* const weight = reinterpret_cast<const Acc*>(p.weight.data()) + lo * inner;
  const Index<Acc>* const counts = reinterpret_cast<const Index<Acc>*>(p.count.data());
  for (int r = 0; r < n_rows; ++r) {
    Acc* const to = reinterpret_cast<Acc*>(dst[r]);
    for (int k = 0; k < p.taps; ++k)
      gather(rows[r], p.gather.data() + k * n_out + lo, inner * size, gathered + k * pitch);
    for (int64_t e = 0; e < n; e += N) {
      Index<Acc> count;
      if (p.ragged) count = load_unaligned<Index<Acc>>(counts + (lo * inner + e) / N);
      Vec<Acc> sum = load<Acc, In>(gathered + e) * load_unaligned<Vec<Acc>>(weight + e);
      if (p.ragged) sum = count > 0 ? sum : Vec<Acc>{};
      for (int k = 1; k < p.taps; ++k) {
        const Vec<Acc> more = multiply_add<Acc>(load<Acc, In>(gathered + k * pitch + e),
                                                load_unaligned<Vec<Acc>>(weight + k * p.pitch + e), sum);
        if (p.ragged) sum = count > k ? more : sum;
        else sum = more;
      }
      if (e + N <= n) store<Acc, Acc>(to + e, sum);
      else store_masked<Acc, Acc>(to + e, sum, n - e);
    }
  }
}

// Chooses between the two by the tables of a map.
template <class Acc, class In>
void horizontal_by_tables(const char* const* rows, int n_rows, int64_t row_bytes, const PermuteTables& p, int64_t n_out,
                          char* const* dst, int64_t lo, int64_t hi, bool stream, Lease& lease) {
  if (p.gather.empty()) horizontal_permuted<Acc, In>(rows, n_rows, p, n_out, dst, lo, hi, stream);
  else horizontal_gathered<Acc, In>(rows, n_rows, row_bytes, p, n_out, dst, lo, hi, stream, lease);
}

}  // namespace
}  // namespace tenter
