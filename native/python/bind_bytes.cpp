// Premultiplication by alpha, and missing values, by addresses.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/byte_step.hpp"
#include "plan/chunked_gaps.hpp"
#include "plan/gaps.hpp"
#include "plan/host_plan.hpp"
#include "plan/passes.hpp"
#include "python/bind_values.hpp"
#include "rules/bytes.hpp"
#include "rules/pillow_rows.hpp"
#include "system/gil.hpp"

namespace tenter {

void bind_bytes(nb::module_& m) {
  m.def("premultiply", [](uintptr_t src, uintptr_t dst, int dtype, int64_t n_pixels, int channels, bool divides,
                          double unseen, int threads) {
    const PremultiplyTask t{reinterpret_cast<const void*>(src),
                            reinterpret_cast<void*>(dst),
                            Dtype(dtype),
                            n_pixels,
                            channels,
                            divides,
                            unseen};
    without_gil([&] { kernels().bytes->premultiply(t, threads); });
  });
  m.def("is_alpha", [](uintptr_t src, int dtype, int64_t n_pixels, int channels, double alpha, int threads) {
    const PremultiplyTask t{
        reinterpret_cast<const void*>(src), nullptr, Dtype(dtype), n_pixels, channels, false, alpha};
    bool found = false;
    without_gil([&] { found = kernels().bytes->is_alpha(t, threads); });
    return found;
  });
}

void bind_gaps(nb::module_& m) {
  m.def("fill_gaps", [](uintptr_t values, uintptr_t mask, int64_t period, int64_t n, int dtype, bool skips,
                        uintptr_t filled, uintptr_t ones, int threads) {
    const FillTask t{reinterpret_cast<const char*>(values),
                     reinterpret_cast<const uint8_t*>(mask),
                     reinterpret_cast<char*>(filled),
                     reinterpret_cast<char*>(ones),
                     n,
                     Dtype(dtype),
                     skips};
    without_gil([&] { fill_gaps(t, period, threads); });
  });
  // values, mask, shares: the address, 0 for none, and for each dim its length and stride in bytes.
  typedef std::pair<uintptr_t, std::vector<std::pair<int64_t, int64_t>>> Given;
  m.def(
      "resize_gaps",
      [](const HostPlan& plan, const HostPlan* rest, const Given& values, const Given& mask, const Given& shares,
         std::vector<int64_t> made, uintptr_t result, bool stream, int dtype, bool skips, double above, int64_t loops,
         int64_t each, int64_t bytes, int threads) {
        const auto array = [](const Given& given) {
          GapsCall::Array made{reinterpret_cast<const char*>(given.first), {}};
          for (const auto& [n, stride] : given.second) made.dims.push_back({n, stride});
          return made;
        };
        const GapsCall call{array(values),
                            array(mask),
                            array(shares),
                            std::move(made),
                            reinterpret_cast<char*>(result),
                            Dtype(dtype),
                            skips,
                            stream,
                            above,
                            loops,
                            each,
                            bytes,
                            &plan,
                            rest};
        call.run(threads);
      },
      nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
  m.def("divide_by_shares", [](uintptr_t sums, uintptr_t shares, int64_t n, int dtype, double above, int threads) {
    char* const at = reinterpret_cast<char*>(sums);
    const DivideTask t{at, reinterpret_cast<const char*>(shares), at, n, Dtype(dtype), above, false};
    without_gil([&] { divide_by_shares(t, threads); });
  });
}

}  // namespace tenter
