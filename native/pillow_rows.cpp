#include "pillow_rows.hpp"

#include <algorithm>
#include <cmath>

#include "bytes.hpp"

namespace tenter {
namespace {

// In the steps in which Pillow rounds: a weight that comes out on the other side of half a unit is another pixel.
constexpr double pi = 3.14159265358979323846;

double sinc(double x) { return x == 0 ? 1 : std::sin(x * pi) / (x * pi); }

double box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }
double bilinear(double x) { return std::max(0.0, 1 - std::fabs(x)); }
double hamming(double x) {
  x = std::fabs(x);
  return x >= 1 ? 0 : sinc(x) * (double(0.54f) + double(0.46f) * std::cos(x * pi));  // constants of float32
}
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::fabs(x);
  return x < 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}
double lanczos(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

template <class F>
PillowRows rows(F filter, double support, int64_t n_in, float begin, float end, int64_t n_out) {
  const double step = double(end - begin) / double(n_out);  // a difference of float32
  const double stretch = std::max(step, 1.0), reach = support * stretch, unit = 1 / stretch;
  PillowRows r;
  r.start.resize(size_t(n_out)), r.offset.resize(size_t(n_out) + 1);
  r.weight.reserve(size_t(double(n_out) * std::min(2 * reach + 1, double(n_in))));
  for (int64_t o = 0; o < n_out; ++o) {
    const double center = double(begin) + (double(o) + 0.5) * step;
    const int64_t first = std::max<int64_t>(0, int64_t(center - reach + 0.5));
    const int64_t stop = std::max(first, std::min(n_in, int64_t(center + reach + 0.5)));
    const size_t at = r.weight.size();
    r.weight.resize(at + size_t(stop - first));
    double* const w = r.weight.data() + at;
    double sum = 0;
    for (int64_t k = 0; k < stop - first; ++k) sum += w[k] = filter((double(k + first) - center + 0.5) * unit);
    for (int64_t k = 0; k < stop - first; ++k) {
      const double scaled = (sum != 0 ? w[k] / sum : w[k]) * (1 << weight_bits);
      w[k] = std::trunc(scaled + (scaled < 0 ? -0.5 : 0.5)) / (1 << weight_bits);
    }
    r.start[size_t(o)] = first, r.offset[size_t(o) + 1] = int64_t(r.weight.size());
  }
  return r;
}

}  // namespace

PillowRows pillow_rows(PillowFilter filter, int64_t n_in, float begin, float end, int64_t n_out) {
  switch (filter) {
    case PillowFilter::box: return rows(box, 0.5, n_in, begin, end, n_out);
    case PillowFilter::bilinear: return rows(bilinear, 1, n_in, begin, end, n_out);
    case PillowFilter::hamming: return rows(hamming, 1, n_in, begin, end, n_out);
    case PillowFilter::bicubic: return rows(bicubic, 2, n_in, begin, end, n_out);
    default: return rows(lanczos, 3, n_in, begin, end, n_out);
  }
}

}  // namespace tenter
