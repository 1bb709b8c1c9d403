#include "pillow_rows.hpp"

#include <algorithm>
#include <cmath>

#include "bytes.hpp"
#include "filters.hpp"

namespace tenter {
namespace {

// Pillow's filters where they are not those of filters.hpp: what lies half a pixel away is by its rounding of positions
// in or out, and the constants of its bell are float32. A sine by another program differs in the last bit, which shows
// in one weight of a billion.
double pillow_box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }
double pillow_hamming(double x) {
  constexpr double pi = 3.14159265358979323846;
  return std::fabs(x) < 1 ? sinc(x) * (double(0.54f) + double(0.46f) * std::cos(x * pi)) : 0;
}
double pillow_lanczos(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

template <class F>
PillowRows rows(F filter, double support, int64_t n_in, float begin, float end, int64_t n_out) {
  const double step = double(end - begin) / double(n_out);  // a difference of float32
  const double stretch = std::max(step, 1.0), reach = support * stretch, unit = 1 / stretch;
  PillowRows r;
  r.start.resize(size_t(n_out)), r.offset.resize(size_t(n_out) + 1);
  r.weight.reserve(size_t(double(n_out) * std::min(2 * reach + 1, double(n_in))));
  for (int64_t o = 0; o < n_out; ++o) {
    const double center = double(begin) + (double(o) + 0.5) * step;
    const int64_t first = std::clamp<int64_t>(int64_t(center - reach + 0.5), 0, n_in);
    const int64_t stop = std::max(first, std::min(n_in, int64_t(center + reach + 0.5)));
    const size_t at = r.weight.size();
    r.weight.resize(at + size_t(stop - first));
    double* const w = r.weight.data() + at;
    double sum = 0;
    for (int64_t k = 0; k < stop - first; ++k) w[k] = filter((double(k + first) - center + 0.5) * unit);
    for (int64_t k = 0; k < stop - first; ++k) sum += w[k];
    for (int64_t k = 0; k < stop - first; ++k) {
      const double scaled = (sum != 0 ? w[k] / sum : w[k]) * (1 << weight_bits);
      const double up = scaled + (scaled < 0 ? -0.5 : 0.5);
      const bool narrow = std::fabs(up) < 0x1p31;  // else a sum was a rounding; casts truncate, and take no call
      w[k] = (narrow ? double(int32_t(up)) : std::trunc(up)) / (1 << weight_bits);
    }
    r.start[size_t(o)] = first, r.offset[size_t(o) + 1] = int64_t(r.weight.size());
  }
  return r;
}

}  // namespace

PillowRows pillow_rows(PillowFilter filter, int64_t n_in, float begin, float end, int64_t n_out) {
  auto with = [&](auto weigh, double support) { return rows(weigh, support, n_in, begin, end, n_out); };
  switch (filter) {
    case PillowFilter::box: return with([](double x) { return pillow_box(x); }, 0.5);
    case PillowFilter::bilinear: return with([](double x) { return triangle(x); }, 1);
    case PillowFilter::hamming: return with([](double x) { return pillow_hamming(x); }, 1);
    case PillowFilter::bicubic: return with([](double x) { return cubic(x, -0.5); }, 2);
    default: return with([](double x) { return pillow_lanczos(x); }, 3);
  }
}

}  // namespace tenter
