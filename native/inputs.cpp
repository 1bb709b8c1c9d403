#include "inputs.hpp"

#include "arrays.hpp"
#include "verify.hpp"

namespace tenter {
namespace {

template <class T>
void widen_from(const char* src, double* dst, int64_t n) {
  const T* const from = reinterpret_cast<const T*>(src);
  for (int64_t k = 0; k < n; ++k) dst[k] = double(from[k]);
}

}  // namespace

void pack(const Dim* dims, int n, int64_t itemsize, const std::vector<int64_t>* const* orders, const char* src,
          char* dst, int threads) {
  CopyAxis axes[max_read_dims];
  for (int k = 0; k < n; ++k) {
    const std::vector<int64_t>* const order = orders ? orders[k] : nullptr;
    axes[k] = {CopyAxis::affine, dims[k].n, dims[k].n, dims[k].stride, 1, nullptr};
    if (order) axes[k] = {CopyAxis::index, dims[k].n, int64_t(order->size()), dims[k].stride, 1, order->data()};
  }
  CopyTask task{};
  copy_pass(itemsize, axes, n, task);
  task.src = src, task.dst = dst;
  if constexpr (verifies) verify(task);
  kernels().copy(task, threads);
}

void set_contiguous(Dim* dims, int n, int64_t itemsize) {
  for (int k = n - 1; k >= 0; --k) dims[k].stride = itemsize, itemsize *= dims[k].n;
}

bool widens(Dtype d) {
  return d == Dtype::u8 || d == Dtype::i8 || d == Dtype::u16 || d == Dtype::i16 || d == Dtype::u32 || d == Dtype::i32;
}

void widen(Dtype d, const char* src, double* dst, int64_t n) {
  switch (d) {
    case Dtype::u8: return widen_from<uint8_t>(src, dst, n);
    case Dtype::i8: return widen_from<int8_t>(src, dst, n);
    case Dtype::u16: return widen_from<uint16_t>(src, dst, n);
    case Dtype::i16: return widen_from<int16_t>(src, dst, n);
    case Dtype::u32: return widen_from<uint32_t>(src, dst, n);
    case Dtype::i32: return widen_from<int32_t>(src, dst, n);
    default: no_kernel("expected integers of up to 32 bits");
  }
}

}  // namespace tenter
