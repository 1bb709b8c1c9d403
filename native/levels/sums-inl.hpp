// Sums along one axis for a pair of dtypes, as function pointers. Passes over axes are thus compiled once for each
// accumulator, not for each pair of dtypes, which would take most of the compile time.
#pragma once
#include "levels/tile-inl.hpp"

namespace tenter {
namespace {

// Sums of inputs of one dtype, stored as another; see vertical_rows and sum_columns. Pitch and n are in values.
template <class Acc>
struct Sums {
  int64_t in_size, out_size;
  bool streams_rows, streams_columns;  // whether results in registers are whole lines, so that `stream` may be set
  void (*rows)(const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, char* dst, int64_t pitch,
               int64_t n, bool stream, Lease& lease);
  // Conversions from the input's dtype to the accumulator's, and from that to the output's, for columns-inl.hpp. Null
  // if the dtypes are equal.
  void (*widen)(const void* from, void* to, int64_t n);
  void (*narrow)(const void* from, void* to, int64_t n);
  // Sums vectors of permuted inputs. Null if inputs are converted first, and if this level does not permute.
  void (*by_tables)(const char* const* rows, int n_rows, int64_t row_bytes, const PermuteTables& p, int64_t n_out,
                    char* const* dst, int64_t lo, int64_t hi, bool stream, Lease& lease);
  // Sums long segments of inputs that need a conversion. Null for rare dtypes.
  void (*long_segments)(const char* src, const int64_t* first, const int64_t* count, Acc* dst);
  // clamp clamps sums between two axes to the range of an integer output. clamp_result clamps a result that is
  // sums, because another axis follows, to the range of an integer input. Null for other dtypes.
  void (*clamp)(Acc* p, int64_t n);
  void (*clamp_result)(Acc* p, int64_t n);
};

// Clamps sums to the range of T, as a store would, so that overshoot along the first axis does not reach the second.
template <class Acc, class T>
void clamp_sums(Acc* p, int64_t n) {
  constexpr Acc low = Acc(std::numeric_limits<T>::min()), high = Acc(std::numeric_limits<T>::max());
  for (int64_t i = 0; i < n; ++i) p[i] = p[i] < low ? low : p[i] > high ? high : p[i];
}
template <class Acc, class T>
constexpr auto clamping() -> void (*)(Acc*, int64_t) {
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Acc>) return clamp_sums<Acc, T>;
  else return nullptr;
}

// Whether sums of rows of In are stored as Out directly from registers. Else they are converted from scratch rows: sums
// of rare dtypes, and of 16-bit integers along a single axis.
template <class Acc, class In, class Out>
constexpr bool stores =
    frequent<Acc, Out> && (std::is_same_v<Acc, In> || std::is_same_v<Acc, Out> || std::is_same_v<Out, f16> ||
                           std::is_same_v<Out, bf16> || sizeof(Out) == 1);

// Whether they are written by streaming stores from registers, without a staging buffer. Not if another axis follows,
// because such sums fit in cache.
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
    vertical_rows<Acc, In, Out>(src, stride, m, lo, hi, to, pitch, n,
                                false);  // `stream` is a constant for the inner loop
  } else {
    constexpr int64_t most = 1024, height = 2;  // scratch rows fit in the first-level cache
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

template <class Acc, class In>
constexpr auto summing_segments() -> decltype(Sums<Acc>::long_segments) {
  if constexpr (frequent<Acc, In> && !std::is_same_v<Acc, In>) return long_segments<Acc, In>;
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
    summing_segments<Acc, In>(),
    clamping<Acc, Out>(),
    std::is_same_v<Acc, Out> ? clamping<Acc, In>() : nullptr};

// Loops for premultiplied colors: n values of the input times alpha, and n sums divided by alpha.
template <class Acc>
struct Premultiply {
  void (*multiply)(const char* src, Acc* dst, int64_t n);
  void (*divide)(const Acc* src, char* dst, int64_t n, Acc unseen);
};

// The loops of a call. whole: from inputs to outputs. If several axes are summed: first, from inputs to sums; middle,
// from sums to sums; last, from sums to outputs. With `premultiply` all of them are from sums to sums.
template <class Acc>
struct CallSums {
  const Sums<Acc>*whole, *first, *middle, *last;
  const Premultiply<Acc>* premultiply = nullptr;
};

}  // namespace
}  // namespace tenter
