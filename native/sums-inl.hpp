// Sums along one axis for a pair of dtypes, as pointers: passes over axes are compiled once for each accumulator, not
// for each pair of dtypes, which is most of the compiler's work.
#pragma once
#include "tile-inl.hpp"

namespace tenter {
namespace {

// Sums of inputs of one dtype as outputs of another; see vertical_rows and horizontal. Pitch and n are in values.
template <class Acc>
struct Sums {
  int64_t in_size, out_size;
  bool streams_rows, streams_columns;  // whether results in registers are whole lines, so that `stream` may be set
  void (*rows)(const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, char* dst, int64_t pitch,
               int64_t n, bool stream, Lease& lease);
  void (*columns)(const char* const* rows, int n_rows, const ColumnAxis& c, char* const* dst, int64_t lo, int64_t hi,
                  bool stream, Lease& lease);
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

// Whether U vectors of sums are stored past the caches directly, not by a staging buffer: not where sums of one axis go
// to memory for another, as these fit the caches.
template <class Acc, class In, class Out, int U>
constexpr bool streams = can_stream && (std::is_same_v<Acc, In> || std::is_same_v<In, Out>) && frequent<Acc, Out> &&
                         whole_lines<Acc, Out, U>;

// Sums of rare dtypes are converted from scratch rows of the accumulator.
template <class Acc, class In, class Out>
void sum_rows(const char* src, int64_t stride, const WindowMap& m, int64_t lo, int64_t hi, char* dst, int64_t pitch,
              int64_t n, bool stream, Lease& lease) {
  Out* const to = reinterpret_cast<Out*>(dst);
  if constexpr (frequent<Acc, Out>) {
    if constexpr (streams<Acc, In, Out, 4>)
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
void sum_columns_of(const char* const* rows, int n_rows, const ColumnAxis& c, char* const* dst, int64_t lo, int64_t hi,
                    bool stream, Lease& lease) {
  if constexpr (frequent<Acc, Out>) {
    horizontal<Acc, In, Out>(rows, n_rows, c, dst, lo, hi, lease, streams<Acc, In, Out, 1> && stream);
  } else {
    constexpr int64_t step = 256;  // a multiple of the lanes
    const int64_t width = std::min(step, hi - lo) * c.inner;
    Acc* const sums = lease->sums.get<Acc>(n_rows * width);
    char* to[lanes<Acc>];
    for (int r = 0; r < lanes<Acc>; ++r) to[r] = reinterpret_cast<char*>(sums + std::min(r, n_rows - 1) * width);
    for (int64_t b = lo; b < hi; b += step) {
      const int64_t end = std::min(hi, b + step);
      horizontal<Acc, In, Acc>(rows, n_rows, c, to, b, end, lease);
      for (int r = 0; r < n_rows; ++r)
        convert<Acc, Acc, Out>(to[r], reinterpret_cast<Out*>(dst[r]) + (b - lo) * c.inner, (end - b) * c.inner);
    }
  }
}

template <class Acc, class In, class Out>
constexpr Sums<Acc> sums_as{sizeof(In),
                            sizeof(Out),
                            streams<Acc, In, Out, 4>,
                            streams<Acc, In, Out, 1>,
                            sum_rows<Acc, In, Out>,
                            sum_columns_of<Acc, In, Out>,
                            saturating<Acc, Out>(),
                            std::is_same_v<Acc, Out> ? saturating<Acc, In>() : nullptr};

// Of colors weighted by alpha, n values: a call's input times alpha, and sums divided by it as the call's output.
template <class Acc>
struct Weighing {
  void (*multiply)(const char* src, Acc* dst, int64_t n);
  void (*divide)(const Acc* src, char* dst, int64_t n, Acc unseen);
};

// The sums of a call: of its input as its output; and, if several axes are summed, of its input as sums, of sums as
// sums, and of sums as its output. With `weighing` all sums are of sums as sums.
template <class Acc>
struct CallSums {
  const Sums<Acc>*whole, *first, *middle, *last;
  const Weighing<Acc>* weighing = nullptr;
};

}  // namespace
}  // namespace tenter
