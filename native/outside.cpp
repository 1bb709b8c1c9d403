#include "outside.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "filters.hpp"

namespace tenter {
namespace {

constexpr double nearly_all = nothing / 4;  // of two such weights the product lacks nothing either
constexpr int64_t narrow_inner = 64;        // values that are walked with the axis around them

// Dims of which the last is an axis, or what lies inside of all axes: the weights of narrow inner values are those of
// their axis, repeated.
struct Walked {
  std::vector<Outside::Dim> dims;
  std::vector<double> repeated;

  Walked(const Outside::Dim* given, int n) {
    int64_t inner = 1;
    for (; n && !given[n - 1].inside; --n) inner *= given[n - 1].n;
    for (int k = 0; k < n; ++k) dims.push_back(given[k]);
    const bool apart = inner > narrow_inner || !n;
    if (apart) dims.push_back({inner, nullptr});
    if (apart || inner == 1) return;
    Outside::Dim& last = dims.back();
    repeated.reserve(size_t(last.n * inner));
    for (int64_t o = 0; o < last.n; ++o) repeated.insert(repeated.end(), size_t(inner), last.inside[o]);
    last = {last.n * inner, repeated.data()};
  }

  // f(weight of the outer axes, first value, one past the last) for each run of the last dim.
  template <class F>
  void each(F&& f, size_t k = 0, double weight = 1, int64_t at = 0) const {
    const Outside::Dim& d = dims[k];
    if (k + 1 == dims.size()) return f(weight, at * d.n);
    for (int64_t o = 0; o < d.n; ++o) each(f, k + 1, d.inside ? weight * d.inside[o] : weight, at * d.n + o);
  }
};

bool all_inside(double weight) { return std::fabs(1 - weight) < nearly_all; }

// Values that are stored together.
constexpr int64_t together = 256;

// Rounded half to even and saturated. Sums of which 1.5 * 2^52 are part are whole numbers, in their lower bits.
template <class T>
void store_rounded(double* x, int64_t n, char* to) {
  constexpr double whole = 0x1.8p52, least = double(std::numeric_limits<T>::min()),
                   most = double(std::numeric_limits<T>::max());
  T* const made = reinterpret_cast<T*>(to);
  // Apart, as compilers then find vectors for each.
  for (int64_t k = 0; k < n; ++k) x[k] = x[k] > least ? x[k] : least;
  for (int64_t k = 0; k < n; ++k) x[k] = x[k] < most ? x[k] : most;
  for (int64_t k = 0; k < n; ++k) x[k] += whole;
  for (int64_t k = 0; k < n; ++k) made[k] = T(std::bit_cast<int64_t>(x[k]));
}
template <class Sum>
void store_floats(Sum* x, int64_t n, char* to) {
  std::memcpy(to, x, size_t(n) * sizeof(Sum));
}

// Dtypes differ by how they are stored alone, so that the loops are compiled once for each type of sums.
template <class Sum>
struct Adding {
  double value;
  bool like_torch;
  const Sum* from;
  char* to;
  int64_t itemsize;
  void (*store)(Sum* x, int64_t n, char* to);

  // Values [lo, hi), which f makes of sums, and of their numbers.
  template <class F>
  void put(int64_t lo, int64_t hi, F&& f) const {
    for (; lo < hi; lo += together) {
      Sum held[together];
      const int64_t n = std::min(together, hi - lo);
      const Sum* const sums = from + lo;
      for (int64_t k = 0; k < n; ++k) held[k] = f(sums[k], lo + k);
      store(held, n, to + lo * itemsize);
    }
  }
  void put_alike(double by, int64_t lo, int64_t hi) const {
    if (by == 0) put(lo, hi, [](Sum x, int64_t) { return x + Sum(0); });  // no -0.0
    else if (like_torch) put(lo, hi, [by = Sum(by)](Sum x, int64_t) { return x + by; });
    else put(lo, hi, [by](Sum x, int64_t) { return Sum(double(x) + by); });
  }
  // weight: of the outer axes. inside: by outputs, the first of which is `at`.
  void put_each(double weight, const double* inside, int64_t at, int64_t lo, int64_t hi) const {
    auto shift = [inside, at, weight, value = value](int64_t k) {
      const double outside = 1 - weight * inside[k - at];
      return std::fabs(outside) > nothing ? outside * value : 0;
    };
    if (like_torch) put(lo, hi, [shift](Sum x, int64_t k) { return x + Sum(shift(k)); });
    else put(lo, hi, [shift](Sum x, int64_t k) { return Sum(double(x) + shift(k)); });
  }
  double shift(double inside) const {
    const double outside = 1 - inside;
    return std::fabs(outside) > nothing ? outside * value : 0;
  }

  void run(const Walked& walked) const {
    const Outside::Dim& last = walked.dims.back();
    int64_t lo = 0, hi = last.n;  // outputs that lack nothing
    if (last.inside) {
      while (lo < hi && !all_inside(last.inside[lo])) ++lo;
      for (hi = lo; hi < last.n && all_inside(last.inside[hi]);) ++hi;
    }
    walked.each([&](double weight, int64_t at) {
      const int64_t end = at + last.n;
      if (!last.inside) return put_alike(shift(weight), at, end);
      if (!all_inside(weight)) return put_each(weight, last.inside, at, at, end);
      put_each(weight, last.inside, at, at, at + lo);
      put_alike(0, at + lo, at + hi);
      put_each(weight, last.inside, at, at + hi, end);
    });
  }
};

}  // namespace

void Outside::add(const Outside::Dim* dims, int n_dims, Dtype sums, Dtype dtype, bool like_torch, const char* from,
                  char* to) const {
  const Walked walked(dims, n_dims);
  auto run = [&]<class Sum>(void (*store)(Sum*, int64_t, char*)) {
    Adding<Sum>{value, like_torch, reinterpret_cast<const Sum*>(from), to, size_of(dtype), store}.run(walked);
  };
  if (sums == Dtype::f32 && dtype == Dtype::f32) return run(store_floats<float>);
  if (sums != Dtype::f64) no_kernel("expected sums in floats");
  switch (dtype) {
    case Dtype::f64: return run(store_floats<double>);
    case Dtype::u8: return run(store_rounded<uint8_t>);
    case Dtype::i8: return run(store_rounded<int8_t>);
    case Dtype::u16: return run(store_rounded<uint16_t>);
    case Dtype::i16: return run(store_rounded<int16_t>);
    case Dtype::u32: return run(store_rounded<uint32_t>);
    case Dtype::i32: return run(store_rounded<int32_t>);
    default: no_kernel("expected floats, or integers of up to 32 bits");
  }
}

void Outside::fill(const Outside::Dim* dims, int n_dims, int64_t itemsize, char* to) const {
  const Walked walked(dims, n_dims);
  const Outside::Dim& last = walked.dims.back();
  auto put = [&](int64_t lo, int64_t hi) {
    for (int64_t k = lo; k < hi; ++k) std::memcpy(to + k * itemsize, element, size_t(itemsize));
  };
  walked.each([&](double weight, int64_t at) {
    if (!last.inside) return weight > 0.5 ? void() : put(at, at + last.n);
    for (int64_t k = 0; k < last.n; ++k)
      if (!(weight * last.inside[k] > 0.5)) put(at + k, at + k + 1);
  });
}

}  // namespace tenter
