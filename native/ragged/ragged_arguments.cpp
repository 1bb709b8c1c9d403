#include "ragged/ragged_arguments.hpp"

#include <limits>

#include "maps/offsets.hpp"
#include "system/tuning.hpp"

namespace tenter {

int64_t* Numbers::get(int64_t n) {
  const int64_t bytes = n * int64_t(sizeof(int64_t));
  if (bytes < tuning.large_bytes || !recycles()) {
    small_.reset(new int64_t[size_t(n)]);
    return small_.get();
  }
  block_.emplace(bytes);
  return reinterpret_cast<int64_t*>(block_->p);
}

template <Reading (*read)(PyObject*, ArrayView&, bool)>
Reading Arguments::on_host(PyObject* x, ArrayView& view) {
  const bool tensor = is_tensor(x);
  if (tensor && !asked_)
    if (const Reading found = tracing_of(x); found != Reading::readable) return found;
  asked_ = asked_ || tensor;
  const Reading found = read(x, view, false);
  return found == Reading::readable && view.device != on_cpu ? Reading::unreadable : found;
}

Reading Arguments::array(PyObject* x, ArrayView& view) { return on_host<read_detached>(x, view); }

Reading Arguments::integers(PyObject* x, ArrayView& view, int ndim) {
  if (const Reading found = on_host<read_array>(x, view); found != Reading::readable) return found;
  const int number = view.dtype->number;
  const bool fits = (ndim == 0 || view.ndim == ndim) && (number == int(Dtype::i32) || number == int(Dtype::i64));
  return fits ? Reading::readable : Reading::unreadable;
}

bool fits_machine(int64_t n, int64_t itemsize, int64_t& bytes) {
  return !__builtin_mul_overflow(n, itemsize, &bytes) && bytes <= machine_memory();
}

Reading RowLengths::read(const ArrayView& lengths, PyObject* total_of_all, int64_t* to) {
  n = lengths.shape[0];
  if (int64_t bytes; !fits_machine(n, 8, bytes)) return Reading::unreadable;
  if (!to) to = numbers_.get(n + 1);
  const int threads = threads_for(n * 8);
  const auto sum = [&] {
    total = prefix_sum(lengths.data, Dtype(lengths.dtype->number), lengths.stride[0], n, to, threads);
  };
  if (!threads || !work(n * 8, sum)) return Reading::failed;
  offset = to;
  int64_t expected = total;
  if (total_of_all != Py_None && !exact_int(total_of_all, expected)) return Reading::unreadable;
  const bool fits = !is_int32(lengths) || total <= std::numeric_limits<int32_t>::max();
  return total >= 0 && expected == total && fits ? Reading::readable : Reading::unreadable;
}

int64_t RowLengths::longest() const {
  int64_t most = 0;
  for (int64_t i = 0; i < n; ++i) most = std::max(most, offset[i + 1] - offset[i]);
  return most;
}

}  // namespace tenter
