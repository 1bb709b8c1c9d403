#include "rules/pillow_rows.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "rules/bytes.hpp"

namespace tenter {

const NamedFilter* of_pillow(const Filter& filter) {
  for (const NamedFilter& f : named_filters)
    if (f.of_pillow && f.filter == filter) return &f;
  return nullptr;
}

PillowRows pillow_rows(const NamedFilter& filter, int64_t n_in, float begin, float end, int64_t n_out) {
  const double step = double(end - begin) / double(n_out);  // a difference of float32
  const double stretch = std::max(step, 1.0), reach = filter.support * stretch;
  PillowRows r;
  r.start.resize(size_t(n_out)), r.offset.resize(size_t(n_out) + 1);
  for (int64_t o = 0; o < n_out; ++o) {
    const double center = double(begin) + (double(o) + 0.5) * step;
    const int64_t first = std::clamp<int64_t>(int64_t(center - reach + 0.5), 0, n_in);
    const int64_t stop = std::max(first, std::min(n_in, int64_t(center + reach + 0.5)));
    r.start[size_t(o)] = first, r.offset[size_t(o) + 1] = r.offset[size_t(o)] + stop - first;
  }
  const size_t n = size_t(r.offset.back());
  r.units.resize(n);
  PillowTask t{filter.filter.kind, begin,           step,           1 / stretch, n_out,
               r.start.data(),     r.offset.data(), r.units.data(), nullptr};
  const auto made = kernels().bytes->pillow_weights;
  const PillowFit fit = made(t);
  r.fits_bytes = fit == PillowFit::bytes;
  if (fit != PillowFit::none) return r;
  r.units.clear(), r.weights.resize(n);
  t.units = nullptr, t.weights = r.weights.data();
  made(t);
  return r;
}

void PillowRows::make_weights() {
  if (units.empty()) return;
  weights.resize(units.size());
  for (size_t k = 0; k < units.size(); ++k) weights[k] = double(units[k]) / (1 << weight_bits);
}

}  // namespace tenter
