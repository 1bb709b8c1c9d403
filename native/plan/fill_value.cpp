#include "plan/fill_value.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "rules/filters.hpp"

namespace tenter {
namespace {

constexpr double nearly_all =
    nothing / 4;                      // the product of two weights that lack less than this lacks less than `nothing`
constexpr int64_t narrow_inner = 64;  // at most so many inner values are joined with the axis outside of them

bool all_inside(double weight) { return std::fabs(1 - weight) < nearly_all; }

// The dims of a result, merged for a loop over them. Dims inside of the last resized axis are collapsed into one. If
// they have few values, they are joined with that axis, whose weights are then repeated for each value.
class Walked {
 public:
  // A run of values along the last dim.
  //   weight, inside  the weight of inputs in value k of the run is weight * inside[k]; `weight` if `inside` is null
  //   outer_inside    whether all of the outer axes' weight is on inputs
  //   at              the number of the first value
  struct Run {
    double weight;
    const double* inside;
    bool outer_inside;
    int64_t at;
  };

  // inner: 2 for complex numbers, whose elements have two values, else 1.
  Walked(const FillValue::ResultDim* given, int n, int64_t inner = 1) {
    for (; n && !given[n - 1].inside; --n) inner *= given[n - 1].n;
    for (int k = 0; k < n; ++k) dims.push_back(given[k]);
    const bool apart = inner > narrow_inner || !n;
    if (apart) dims.push_back({inner, nullptr, 0});
    if (!apart && inner > 1) {
      FillValue::ResultDim& last = dims.back();
      repeated.reserve(size_t(last.n * inner));
      for (int64_t o = 0; o < last.n; ++o) repeated.insert(repeated.end(), size_t(inner), last.inside[o]);
      last.n *= inner, last.inside = repeated.data();
    }
    sort_axes();
  }

  const FillValue::ResultDim& last() const { return dims.back(); }
  // Calls f for each run.
  template <class F>
  void each(F&& f) const {
    std::vector<double> weight(dims.size(), 1.0), products(after.empty() ? 0 : size_t(last().n));
    walk(f, weight, products, 0, 0);
  }

 private:
  std::vector<FillValue::ResultDim> dims;
  std::vector<double> repeated;
  std::vector<size_t> before, after;  // outer dims with weights, and those of them that follow the last dim's axis

  // Two weights may be multiplied in any order.
  void sort_axes() {
    for (size_t k = 0; k + 1 < dims.size(); ++k)
      if (dims[k].inside) before.push_back(k);
    std::sort(before.begin(), before.end(), [&](size_t a, size_t b) { return dims[a].axis < dims[b].axis; });
    if (!last().inside || before.size() < 2) return;
    while (!before.empty() && dims[before.back()].axis > last().axis)
      after.insert(after.begin(), before.back()), before.pop_back();
  }

  template <class F>
  void walk(F&& f, std::vector<double>& weight, std::vector<double>& products, size_t k, int64_t at) const {
    const FillValue::ResultDim& d = dims[k];
    if (k + 1 == dims.size()) return f(run(weight, products, at * d.n));
    for (int64_t o = 0; o < d.n; ++o) {
      if (d.inside) weight[k] = d.inside[o];
      walk(f, weight, products, k + 1, at * d.n + o);
    }
  }
  Run run(const std::vector<double>& weight, std::vector<double>& products, int64_t at) const {
    double of_before = 1, of_outer;
    for (const size_t k : before) of_before *= weight[k];
    of_outer = of_before;
    for (const size_t k : after) of_outer *= weight[k];
    if (after.empty()) return {of_before, last().inside, all_inside(of_outer), at};
    for (size_t o = 0; o < products.size(); ++o) {
      products[o] = of_before * last().inside[o];
      for (const size_t k : after) products[o] *= weight[k];
    }
    return {1, products.data(), all_inside(of_outer), at};
  }
};

// Values per chunk.
constexpr int64_t together = 256;

// Stores values rounded half to even and clamped to the dtype. Adding 1.5 * 2^52 rounds to a whole number, which is
// then in the lower bits of the double.
template <class T>
void store_rounded(double* x, int64_t n, char* to) {
  constexpr double whole = 0x1.8p52, least = double(std::numeric_limits<T>::min()),
                   most = double(std::numeric_limits<T>::max());
  T* const made = reinterpret_cast<T*>(to);
  // Separate loops, so that the compiler vectorizes each.
  for (int64_t k = 0; k < n; ++k) x[k] = x[k] > least ? x[k] : least;
  for (int64_t k = 0; k < n; ++k) x[k] = x[k] < most ? x[k] : most;
  for (int64_t k = 0; k < n; ++k) x[k] += whole;
  for (int64_t k = 0; k < n; ++k) made[k] = T(std::bit_cast<int64_t>(x[k]));
}
// The same for 64-bit integers, which float64 cannot represent.
template <class T>
void store_long(double* x, int64_t n, char* to) {
  constexpr double end = std::numeric_limits<T>::min() ? 0x1p63 : 0x1p64, least = double(std::numeric_limits<T>::min());
  T* const made = reinterpret_cast<T*>(to);
  for (int64_t k = 0; k < n; ++k) {
    const double whole = std::nearbyint(x[k]);
    made[k] = whole >= end ? std::numeric_limits<T>::max() : whole > least ? T(whole) : std::numeric_limits<T>::min();
  }
}
template <class Sum>
void store_floats(Sum* x, int64_t n, char* to) {
  std::memcpy(to, x, size_t(n) * sizeof(Sum));
}
// The bits of a float32 rounded half to even to float16. A NaN becomes quiet, and keeps the upper bits of its payload.
uint16_t as_f16(uint32_t bits) {
  const uint32_t sign = bits >> 16 & 0x8000, x = bits & 0x7fffffff;
  if (x > 0x7f800000) return uint16_t(sign | 0x7e00 | (x >> 13 & 0x3ff));
  if (x >= 0x477ff000) return uint16_t(sign | 0x7c00);
  // Below 2^-14 the spacing of float16 is 2^-24, the same as the spacing of float32 from 1/2 to 1.
  if (x < 0x38800000) return uint16_t(sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(x) + 0.5f) - 0x3f000000));
  return uint16_t(sign | (x - 0x38000000 + 0xfff + (x >> 13 & 1)) >> 13);
}
uint16_t as_bf16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
// Stores float32 values as narrower floats. narrowed: the function from the bits of a float32 to those of the narrow
// float.
template <auto narrowed>
void store_narrow(float* x, int64_t n, char* to) {
  auto* const made = reinterpret_cast<decltype(narrowed(uint32_t()))*>(to);
  for (int64_t k = 0; k < n; ++k) made[k] = narrowed(std::bit_cast<uint32_t>(x[k]));
}

// Adds the fill value to sums and stores the results. The dtype of the result only chooses the function `store`, so the
// loops are compiled once for each type of sums.
//   value       the fill value
//   is_complex    whether values are parts of complex numbers: the fill value is real
//   from, to    sums and results; they may be the same memory
//   itemsize    bytes of a value of the result
template <class Sum>
struct Adding {
  double value;
  bool is_complex;
  const Sum* from;
  char* to;
  int64_t itemsize;
  void (*store)(Sum* x, int64_t n, char* to);

  // Stores values [lo, hi): f(sum, number of the value).
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
  // Adds the same number to values [lo, hi).
  void put_alike(double by, int64_t lo, int64_t hi) const {
    if (is_complex && by != 0) {  // only to real parts
      put(lo, hi, [by](Sum x, int64_t k) { return Sum(double(x) + (k & 1 ? 0 : by)); });
    } else if (by == 0) put(lo, hi, [](Sum x, int64_t) { return x + Sum(0); });  // turns -0.0 into 0.0
    else put(lo, hi, [by](Sum x, int64_t) { return Sum(double(x) + by); });
  }
  // Adds a different number to each of the values [lo, hi). weight: of the outer axes. inside: the weights of the
  // values from number `at` on.
  void put_each(double weight, const double* inside, int64_t at, int64_t lo, int64_t hi) const {
    auto shift = [inside, at, weight, value = value, is_complex = is_complex](int64_t k) {
      const double outside = 1 - weight * inside[k - at];
      return std::fabs(outside) > nothing && !(is_complex && k & 1) ? outside * value : 0;
    };
    put(lo, hi, [shift](Sum x, int64_t k) { return Sum(double(x) + shift(k)); });
  }
  double shift(double inside) const {
    const double outside = 1 - inside;
    return std::fabs(outside) > nothing ? outside * value : 0;
  }

  void run(const Walked& walked) const {
    const FillValue::ResultDim& last = walked.last();
    int64_t lo = 0, hi = last.n;  // outputs all of whose weight is on inputs
    if (last.inside) {
      while (lo < hi && !all_inside(last.inside[lo])) ++lo;
      for (hi = lo; hi < last.n && all_inside(last.inside[hi]);) ++hi;
    }
    walked.each([&](const Walked::Run& r) {
      const int64_t at = r.at, end = at + last.n;
      if (!r.inside) return put_alike(shift(r.weight), at, end);
      if (!r.outer_inside) return put_each(r.weight, r.inside, at, at, end);
      put_each(r.weight, r.inside, at, at, at + lo);
      put_alike(0, at + lo, at + hi);
      put_each(r.weight, r.inside, at, at + hi, end);
    });
  }
};

}  // namespace

void FillValue::add(const FillValue::ResultDim* dims, int n_dims, Dtype sums, Dtype dtype, bool is_complex,
                    const char* from, char* to) const {
  const Walked walked(dims, n_dims, is_complex ? 2 : 1);
  auto run = [&]<class Sum>(void (*store)(Sum*, int64_t, char*)) {
    Adding<Sum>{value, is_complex, reinterpret_cast<const Sum*>(from), to, size_of(dtype), store}.run(walked);
  };
  if (sums == Dtype::f32 && dtype == Dtype::f32) return run(store_floats<float>);
  if (sums == Dtype::f32 && dtype == Dtype::f16) return run(store_narrow<as_f16>);
  if (sums == Dtype::f32 && dtype == Dtype::bf16) return run(store_narrow<as_bf16>);
  if (sums != Dtype::f64) no_kernel("expected sums in floats");
  switch (dtype) {
    case Dtype::f64: return run(store_floats<double>);
    case Dtype::u8: return run(store_rounded<uint8_t>);
    case Dtype::i8: return run(store_rounded<int8_t>);
    case Dtype::u16: return run(store_rounded<uint16_t>);
    case Dtype::i16: return run(store_rounded<int16_t>);
    case Dtype::u32: return run(store_rounded<uint32_t>);
    case Dtype::i32: return run(store_rounded<int32_t>);
    case Dtype::u64: return run(store_long<uint64_t>);
    case Dtype::i64: return run(store_long<int64_t>);
    default: no_kernel("expected floats or integers");
  }
}

void FillValue::fill(const FillValue::ResultDim* dims, int n_dims, int64_t itemsize, char* to) const {
  const Walked walked(dims, n_dims);
  const int64_t n = walked.last().n;
  auto put = [&](int64_t lo, int64_t hi) {
    for (int64_t k = lo; k < hi; ++k) std::memcpy(to + k * itemsize, element, size_t(itemsize));
  };
  walked.each([&](const Walked::Run& r) {
    if (!r.inside) return r.weight > 0.5 ? void() : put(r.at, r.at + n);
    for (int64_t k = 0; k < n; ++k)
      if (!(r.weight * r.inside[k] > 0.5)) put(r.at + k, r.at + k + 1);
  });
}

}  // namespace tenter
