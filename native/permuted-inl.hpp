// Along the fastest axis where it grows or shrinks little: permuted inputs * weights, a vector of outputs at a time.
#pragma once
#include <algorithm>

#include "kernels.hpp"
#include "permutes.hpp"
#include "stream-inl.hpp"

namespace tenter {
namespace {

// Rows at once: they share what is loaded for a vector. More would be too many streams, and rows a power of two apart
// share their place in cache.
constexpr int few = 2;

// Vectors [lo, hi) of a run, of n outputs a row, in few rows; output `from` goes to dst. K: taps, 0 where only known
// now. stream: past the caches; dst begins a line then.
template <class Acc, class In, class Out, int K, Permutes::Reach reach, bool ragged>
void permuted_run(const char* const* rows, const Permutes& p, const Permutes::Run& run, int64_t lo, int64_t hi,
                  int64_t n, int64_t from, Out* const* dst, bool stream) {
  constexpr int64_t N = lanes<Acc>;
  const int taps = K ? K : run.taps;
  const char* weight = p.weight.data() + (run.weight + (lo - run.lo) * taps * N) * int64_t(sizeof(Acc));
  const char* const src[few] = {rows[0], rows[1]};
  Out* const to[few] = {dst[0] - from, dst[1] - from};
  const int64_t inner = p.inner, end = p.row - 2 * N;  // where the last loads of the row begin
  for (int64_t v = lo; v < hi; ++v, weight += taps * vector_bytes) {
    const int64_t base = p.base[v], at = std::min(v * N, n - N);
    const Index<Acc> index = load_bits<Index<Acc>>(p.index.data() + v * vector_bytes);
    Vec<Acc> a[few], b[few], sum[few];
    for (int r = 0; r < few; ++r) {
      a[r] = load<Acc, In>(src[r] + base * int64_t(sizeof(In)));
      if constexpr (reach == Permutes::two) b[r] = load<Acc, In>(src[r] + (base + N) * int64_t(sizeof(In)));
    }
    auto tap = [&](int k, int r) __attribute__((always_inline)) {
      if constexpr (reach == Permutes::one) return permute<Acc>(a[r], index + int(k * inner));
      if constexpr (reach == Permutes::two) return permute<Acc>(a[r], b[r], index + int(k * inner));
      const int64_t now = std::min(base + k * inner, end);
      const char* const s = src[r] + now * int64_t(sizeof(In));
      return permute<Acc>(load<Acc, In>(s), load<Acc, In>(s + N * sizeof(In)), index + int(base + k * inner - now));
    };
    Index<Acc> count;
    if constexpr (ragged) count = load_bits<Index<Acc>>(p.count.data() + v * vector_bytes);
    Vec<Acc> w = load_bits<Vec<Acc>>(weight);
    for (int r = 0; r < few; ++r) {
      sum[r] = tap(0, r) * w;
      if constexpr (ragged) sum[r] = count > 0 ? sum[r] : Vec<Acc>{};
    }
    for (int k = 1; k < taps; ++k) {
      w = load_bits<Vec<Acc>>(weight + k * vector_bytes);
      for (int r = 0; r < few; ++r) {
        const Vec<Acc> more = multiply_add<Acc>(tap(k, r), w, sum[r]);
        // A lane without a tap must not see what the permutation gives it: zero times infinity is not zero.
        if constexpr (ragged) sum[r] = count > k ? more : sum[r];
        else sum[r] = more;
      }
    }
    for (int r = 0; r < few; ++r) {
      if (at == v * N) {
        store_columns<Acc, Out, 1>(to[r] + at, sum + r, stream);
      } else if (at >= from) {
        store<Acc, Out>(to[r] + at, sum[r]);
      } else {  // a last vector that begins before what was asked for
        Out values[N];
        store<Acc, Out>(values, sum[r]);
        std::memcpy(dst[r], values + (from - at), (N - (from - at)) * sizeof(Out));
      }
    }
  }
}

// Outputs [lo, hi) of n_rows rows whose values lie together; lo is a multiple of the lanes, hi too or the end.
template <class Acc, class In, class Out>
void horizontal_permuted(const char* const* rows, int n_rows, const Permutes& p, int64_t n_out, Out* const* dst,
                         int64_t lo, int64_t hi, bool stream) {
  constexpr int64_t N = lanes<Acc>;
  const int64_t n = n_out * p.inner, from = lo * p.inner, first = from / N, last = (hi * p.inner + N - 1) / N;
  for (int r = 0; r < n_rows; r += few) {
    const int other = std::min(r + 1, n_rows - 1);
    const char* const src[few] = {rows[r], rows[other]};
    Out* const to[few] = {dst[r], dst[other]};
    for (const Permutes::Run& run : p.run) {
      const int64_t v = std::max(run.lo, first), end = std::min(run.hi, last);
      if (v >= end) continue;
      auto go = [&]<Permutes::Reach reach>() {
        if (run.ragged) return permuted_run<Acc, In, Out, 0, reach, true>(src, p, run, v, end, n, from, to, stream);
        switch (run.taps) {
          case 2: return permuted_run<Acc, In, Out, 2, reach, false>(src, p, run, v, end, n, from, to, stream);
          case 4: return permuted_run<Acc, In, Out, 4, reach, false>(src, p, run, v, end, n, from, to, stream);
          default: return permuted_run<Acc, In, Out, 0, reach, false>(src, p, run, v, end, n, from, to, stream);
        }
      };
      switch (run.reach) {
        case Permutes::one: go.template operator()<Permutes::one>(); break;
        case Permutes::two: go.template operator()<Permutes::two>(); break;
        default: go.template operator()<Permutes::moving>();
      }
    }
  }
}

// What lies at elements `at` of a row, B bytes each, one after another. Moved as whole registers, whose spare bytes are
// written over by the next; `to` has room for them. end: of the row, past which nothing may be read.
template <int B>
inline void pick_each(const char* row, const char* end, const int64_t* at, int64_t n, int64_t size, char* to) {
  constexpr int whole = B <= 2 ? B : B <= 4 ? 4 : B <= 8 ? 8 : B <= 16 ? 16 : B <= 32 ? 32 : 64;
  for (int64_t o = 0; o < n; ++o, to += B) {
    const char* const from = row + at[o] * size;
    if (end - from >= whole) std::memcpy(to, from, whole);
    else std::memcpy(to, from, B);
  }
}
inline void pick_elements(const char* row, const char* end, const int64_t* at, int64_t n, int64_t size, int64_t bytes,
                          char* to) {
  switch (bytes) {
    case 1: return pick_each<1>(row, end, at, n, size, to);
    case 2: return pick_each<2>(row, end, at, n, size, to);
    case 3: return pick_each<3>(row, end, at, n, size, to);
    case 4: return pick_each<4>(row, end, at, n, size, to);
    case 6: return pick_each<6>(row, end, at, n, size, to);
    case 8: return pick_each<8>(row, end, at, n, size, to);
    case 12: return pick_each<12>(row, end, at, n, size, to);
    case 16: return pick_each<16>(row, end, at, n, size, to);
    case 24: return pick_each<24>(row, end, at, n, size, to);
    case 32: return pick_each<32>(row, end, at, n, size, to);
    case 48: return pick_each<48>(row, end, at, n, size, to);
    case 64: return pick_each<64>(row, end, at, n, size, to);
    default:
      for (int64_t o = 0; o < n; ++o, to += bytes) std::memcpy(to, row + at[o] * size, bytes);
  }
}

// Where most inputs are read by nobody: those that are read are picked, tap by tap, and summed as rows are. Scalar
// moves and then vectors, as gathers of vectors cost more than both.
template <class Acc, class In, class Out>
void horizontal_picked(const char* const* rows, int n_rows, int64_t row_bytes, const Permutes& p, int64_t n_out,
                       Out* const* dst, int64_t lo, int64_t hi, bool stream, Lease& lease) {
  constexpr int64_t N = lanes<Acc>;
  constexpr int64_t spare = 64 / int64_t(sizeof(In));
  const int64_t inner = p.inner, n = (hi - lo) * inner, pitch = n + N + spare;
  if (p.pairs) {
    In* const picked = lease->pick.get<In>(few * (p.row + spare));
    const char* pairs[few];
    for (int r = 0; r < n_rows; r += few) {
      const int some = std::min(few, n_rows - r);
      for (int k = 0; k < few; ++k) {
        In* const to = picked + k * (p.row + spare);
        pairs[k] = reinterpret_cast<const char*>(to);
        const char* const row = rows[r + std::min(k, some - 1)];
        if (k < some)
          pick_elements(row, row + row_bytes, p.at.data() + lo, hi - lo, sizeof(In), 2 * inner * int64_t(sizeof(In)),
                        reinterpret_cast<char*>(to + lo * 2 * inner));
      }
      horizontal_permuted<Acc, In, Out>(pairs, some, p, n_out, dst + r, lo, hi, stream);
    }
    return;
  }
  In* const picked = lease->pick.get<In>(p.taps * pitch);
  const Acc* const weight = reinterpret_cast<const Acc*>(p.weight.data()) + lo * inner;
  const Index<Acc>* const counts = reinterpret_cast<const Index<Acc>*>(p.count.data());
  for (int r = 0; r < n_rows; ++r) {
    for (int k = 0; k < p.taps; ++k)
      pick_elements(rows[r], rows[r] + row_bytes, p.at.data() + k * n_out + lo, hi - lo, sizeof(In),
                    inner * int64_t(sizeof(In)), reinterpret_cast<char*>(picked + k * pitch));
    for (int64_t e = 0; e < n; e += N) {
      Index<Acc> count;
      if (p.ragged) count = load_bits<Index<Acc>>(counts + (lo * inner + e) / N);
      Vec<Acc> sum = load<Acc, In>(picked + e) * load_bits<Vec<Acc>>(weight + e);
      if (p.ragged) sum = count > 0 ? sum : Vec<Acc>{};
      for (int k = 1; k < p.taps; ++k) {
        const Vec<Acc> more = multiply_add<Acc>(load<Acc, In>(picked + k * pitch + e),
                                                load_bits<Vec<Acc>>(weight + k * p.pitch + e), sum);
        if (p.ragged) sum = count > k ? more : sum;
        else sum = more;
      }
      if (e + N <= n) store<Acc, Out>(dst[r] + e, sum);
      else store_masked<Acc, Out>(dst[r] + e, sum, n - e);
    }
  }
}

}  // namespace
}  // namespace tenter
