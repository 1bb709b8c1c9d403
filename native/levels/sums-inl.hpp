// Sums along one axis for a pair of dtypes, as pointers: passes over axes are compiled once for each accumulator, not
// for each pair of dtypes, which is most of the compiler's work.
#pragma once
#include "levels/tile-inl.hpp"

namespace tenter {
namespace {

// Sums of inputs of one dtype as outputs of another; see vertical_rows and sum_columns. Pitch and n are in values.
template <class Acc>
struct Sums {
  int64_t in_size, out_size;
  bool streams_rows, streams_columns;  // whether results in registers are whole lines, so that `stream` may be set
  void (*rows)(const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, char* dst, int64_t pitch,
               int64_t n, bool stream, Lease& lease);
  // Between these dtypes and that of sums, along columns (columns-inl.hpp); null where they are the same.
  void (*widen)(const void* from, void* to, int64_t n);
  void (*narrow)(const void* from, void* to, int64_t n);
  // Of vectors of permuted inputs; null where inputs are widened first, and where no vectors are permuted.
  void (*by_tables)(const char* const* rows, int n_rows, int64_t row_bytes, const PermuteTables& p, int64_t n_out,
                    char* const* dst, int64_t lo, int64_t hi, bool stream, Lease& lease);
  // Of the sums between two axes, to the range of an integer output; of a result that is sums, as another axis follows,
  // to the range of an integer input. Null for other dtypes.
  void (*saturate)(Acc* p, int64_t n);
  void (*saturate_result)(Acc* p, int64_t n);
};

// Clamps sums to the range of T, as a store would, so that overshoot of the first axis does not reach the second.
template <class Acc, class T>
void saturate_sums(Acc* p, int64_t n) {
  constexpr Acc low = Acc(std::numeric_limits<T>::min()), high = Acc(std::numeric_limits<T>::max());
  for (int64_t i = 0; i < n; ++i) p[i] = p[i] < low ? low : p[i] > high ? high : p[i];
}
template <class Acc, class T>
constexpr auto saturating() -> void (*)(Acc*, int64_t) {
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Acc>) return saturate_sums<Acc, T>;
  else return nullptr;
}

// Whether sums of rows of In are stored as Out from registers. Else they are converted from scratch rows: those of rare
// dtypes, and 16-bit integers of a single axis.
template <class Acc, class In, class Out>
constexpr bool stores =
    frequent<Acc, Out> && (std::is_same_v<Acc, In> || std::is_same_v<Acc, Out> || std::is_same_v<Out, f16> ||
                           std::is_same_v<Out, bf16> || sizeof(Out) == 1);

// Whether they are stored past the caches directly, not by a staging buffer: not where sums of one axis go to memory
// for another, as these fit the caches.
template <class Acc, class In, class Out>
constexpr bool streams = can_stream && (std::is_same_v<Acc, In> || std::is_same_v<In, Out>) && stores<Acc, In, Out> &&
                         whole_lines<Acc, Out, 4>;

template <class Acc, class In, class Out>
void sum_rows(const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, char* dst, int64_t pitch,
              int64_t n, bool stream, Lease& lease) {
  Out* const to = reinterpret_cast<Out*>(dst);
  if constexpr (stores<Acc, In, Out>) {
    if constexpr (streams<Acc, In, Out>)
      if (stream) return vertical_rows<Acc, In, Out>(src, stride, m, lo, hi, to, pitch, n, true);
    vertical_rows<Acc, In, Out>(src, stride, m, lo, hi, to, pitch, n, false);  // a constant, for the inner loop
  } else {
    constexpr int64_t most = 1024, height = 2;  // scratch in the first-level cache
    const int64_t width = std::min(n, most);
    Acc* const sums = lease->sums.get<Acc>(height * width);
    for (int64_t o = lo; o < hi; o += height)
      for (int64_t j = 0; j < n; j += width) {
        const int64_t end = std::min(hi, o + height), w = std::min(width, n - j);
        vertical_rows<Acc, In, Acc>(src + j * int64_t(sizeof(In)), stride, m, o, end, sums, w, w);
        for (int64_t r = o; r < end; ++r) convert<Acc, Acc, Out>(sums + (r - o) * w, to + (r - lo) * pitch + j, w);
      }
  }
}

template <class Acc, class In, class Out>
constexpr auto converting() -> void (*)(const void*, void*, int64_t) {
  if constexpr (std::is_same_v<In, Out>) return nullptr;
  else return convert<Acc, In, Out>;
}

template <class Acc, class In>
constexpr auto permuting() -> decltype(Sums<Acc>::by_tables) {
  if constexpr (permutable<Acc> && frequent<Acc, In>) return horizontal_by_tables<Acc, In>;
  else return nullptr;
}

template <class Acc, class In, class Out>
constexpr Sums<Acc> sums_as{
    sizeof(In),
    sizeof(Out),
    streams<Acc, In, Out>,
    can_stream && std::is_same_v<Acc, In> && std::is_same_v<Acc, Out> && whole_lines<Acc, Acc, 1>,
    sum_rows<Acc, In, Out>,
    converting<Acc, In, Acc>(),
    converting<Acc, Acc, Out>(),
    permuting<Acc, In>(),
    saturating<Acc, Out>(),
    std::is_same_v<Acc, Out> ? saturating<Acc, In>() : nullptr};

// Of colors weighted by alpha, n values: a call's input times alpha, and sums divided by it as the call's output.
template <class Acc>
struct Premultiply {
  void (*multiply)(const char* src, Acc* dst, int64_t n);
  void (*divide)(const Acc* src, char* dst, int64_t n, Acc unseen);
};

// The sums of a call: of its input as its output; and, if several axes are summed, of its input as sums, of sums as
// sums, and of sums as its output. With `premultiply` all sums are of sums as sums.
template <class Acc>
struct CallSums {
  const Sums<Acc>*whole, *first, *middle, *last;
  const Premultiply<Acc>* premultiply = nullptr;
};

}  // namespace
}  // namespace tenter
