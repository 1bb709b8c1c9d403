// Operations on ragged arrays, by addresses. The arguments are the fields of the tasks in ragged.hpp.
#include "maps/ragged.hpp"
#include "python/bind_values.hpp"
#include "system/gil.hpp"

namespace tenter {
namespace {

template <class T>
const T* pointer(uintptr_t address) {
  return reinterpret_cast<const T*>(address);
}

// A start or step is an address of a table, or 0 for the same number in all rows. Returns the first row with a number
// that does not fit, and then writes nothing; -1 if all fit.
void bind_ranges(nb::module_& m) {
  m.def("ranges", [](uintptr_t offset, int64_t n, uintptr_t start, uintptr_t step, int64_t start_of_all,
                     int64_t step_of_all, bool ids, uintptr_t dst, bool int32, int threads, bool stream) {
    const RangesTask task{pointer<int64_t>(offset),
                          n,
                          pointer<int64_t>(start),
                          pointer<int64_t>(step),
                          start_of_all,
                          step_of_all,
                          ids,
                          reinterpret_cast<char*>(dst),
                          int32,
                          stream};
    int64_t wrong = -1;
    without_gil([&] {
      wrong = ids ? -1 : ranges_fit(task, threads);
      if (wrong < 0 && task.offset[n]) kernels().ranges(task, threads);
    });
    return wrong;
  });
}

void bind_extremes(nb::module_& m) {
  m.def("extremes", [](uintptr_t src, uintptr_t dst, uintptr_t at, int dtype, uintptr_t offset, int64_t n,
                       int64_t outer, int64_t inner, bool largest, int threads) {
    const ExtremesTask task{pointer<char>(src),
                            reinterpret_cast<char*>(dst),
                            reinterpret_cast<int64_t*>(at),
                            Dtype(dtype),
                            pointer<int64_t>(offset),
                            n,
                            outer,
                            inner,
                            largest};
    without_gil([&] { kernels().extremes(task, threads); });
  });
}

void bind_padding(nb::module_& m) {
  m.def("pad", [](uintptr_t src, uintptr_t dst, uintptr_t offset, bool left, int64_t n, int64_t length, int64_t bytes,
                  uintptr_t value, int64_t value_bytes, int threads) {
    const PadTask task{pointer<char>(src),
                       reinterpret_cast<char*>(dst),
                       pointer<int64_t>(offset),
                       left,
                       n,
                       length,
                       bytes,
                       pointer<char>(value),
                       value_bytes};
    without_gil([&] { pad(task, threads); });
  });
  m.def("unpad", [](uintptr_t src, uintptr_t dst, uintptr_t offset, bool left, int64_t n, int64_t length, int64_t bytes,
                    int threads) {
    const PadTask task{
        pointer<char>(src), reinterpret_cast<char*>(dst), pointer<int64_t>(offset), left, n, length, bytes, nullptr, 0};
    without_gil([&] { unpad(task, threads); });
  });
  m.def("repeat_padded", [](uintptr_t src, uintptr_t dst, uintptr_t offset, int64_t rows, int64_t width, int64_t room,
                            int64_t bytes, uintptr_t value, int64_t value_bytes, int threads, bool stream) {
    const RepeatPaddedTask task{pointer<char>(src),
                                reinterpret_cast<char*>(dst),
                                pointer<int64_t>(offset),
                                rows,
                                width,
                                room,
                                bytes,
                                pointer<char>(value),
                                value_bytes,
                                stream};
    without_gil([&] { repeat_padded(task, threads); });
  });
}

}  // namespace

void bind_ragged(nb::module_& m) {
  bind_ranges(m);
  bind_extremes(m);
  bind_padding(m);
}

}  // namespace tenter
