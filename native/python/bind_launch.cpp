// Launches of a device's kernels. The core does not link to CUDA: Python looks up the driver's function.
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "python/bind_values.hpp"
#include "system/gil.hpp"

namespace tenter {
namespace {

// cuLaunchKernel: (function, grid x, y, z, threads x, y, z, bytes of shared memory, stream, addresses of the arguments,
// null) -> 0 or the number of an error.
using LaunchKernel = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                             void**);

// A number that a kernel gets: the sum of one of the call's numbers and one that is known before the call. of: the
// index of the call's number; -1 for none.
struct LaunchNumber {
  int of;
  int64_t plus;
};

// The kernel's arguments are `n_args` numbers from `first` on, after the number of programs. Addresses and integers
// take 8 bytes each; of the narrower ones the kernel reads the lower bytes.
struct DeviceLaunch {
  void* function;
  unsigned threads, shared;
  size_t first, n_args;
};

constexpr size_t max_launch_args = 96, max_call_numbers = 16;

// Everything about a plan's launches except the call's numbers, so that a call costs little more than the driver.
class DeviceLaunches {
 public:
  // steps: a list of (function, threads, bytes of shared memory, [(of, plus) of the number of programs and the
  // arguments])
  DeviceLaunches(uintptr_t launch_kernel, const nb::list& steps)
      : launch_kernel_(reinterpret_cast<LaunchKernel>(launch_kernel)) {
    for (nb::handle step : items(steps)) {
      const auto [function, threads, shared, numbers] =
          nb::cast<std::tuple<uintptr_t, unsigned, unsigned, nb::list>>(step);
      const nb::tuple each = items(numbers);
      const size_t n = nb::len(each);
      if (n < 1 || n > max_launch_args) throw std::invalid_argument("steps: expected at most 95 arguments, got more");
      launches_.push_back({reinterpret_cast<void*>(function), threads, shared, numbers_.size(), n - 1});
      for (nb::handle number : each) {
        const auto [of, plus] = nb::cast<std::tuple<int, int64_t>>(number);
        if (of >= int(max_call_numbers)) throw std::invalid_argument("steps: expected indices below 16, got others");
        numbers_.push_back({of, plus});
      }
    }
  }

  // Starts the kernels on a stream. Returns 0, or the number of the driver's error; the kernels after it do not start.
  int run(uintptr_t stream, const nb::args& numbers) const {
    int64_t given[max_call_numbers] = {};
    const size_t n = numbers.size();
    if (n > max_call_numbers) throw std::invalid_argument("numbers: expected at most 16, got more");
    for (size_t k = 0; k < n; ++k) given[k] = nb::cast<int64_t>(numbers[k]);
    int error = 0;
    // The driver waits while the device's queue is full. Work in the queue may need the lock.
    without_gil([&] {
      for (const DeviceLaunch& each : launches_)
        if ((error = start(each, given, reinterpret_cast<void*>(stream)))) break;
    });
    return error;
  }

 private:
  // The arguments are on the stack, because threads may run one plan at once.
  int start(const DeviceLaunch& its, const int64_t* given, void* stream) const {
    int64_t values[max_launch_args];
    void* addresses[max_launch_args];
    for (size_t k = 0; k <= its.n_args; ++k) {
      const LaunchNumber& number = numbers_[its.first + k];
      values[k] = number.plus + (number.of < 0 ? 0 : given[number.of]);
      addresses[k] = values + k;
    }
    return launch_kernel_(its.function, unsigned(values[0]), 1, 1, its.threads, 1, 1, its.shared, stream, addresses + 1,
                          nullptr);
  }

  LaunchKernel launch_kernel_;
  std::vector<DeviceLaunch> launches_;
  std::vector<LaunchNumber> numbers_;
};

}  // namespace

void bind_launch(nb::module_& m) {
  nb::class_<DeviceLaunches>(m, "DeviceLaunches")
      .def(nb::init<uintptr_t, const nb::list&>())
      .def("run", &DeviceLaunches::run);
}

}  // namespace tenter
