#include "plan/inputs.hpp"

#include <cstring>

namespace tenter {
namespace {

// Arrays may start between two multiples of their element's size.
template <class T>
void widen_from(const char* src, double* dst, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    T value;
    std::memcpy(&value, src + k * int64_t(sizeof(T)), sizeof(T));
    dst[k] = double(value);
  }
}

}  // namespace

void widen(Dtype d, const char* src, double* dst, int64_t n) {
  switch (d) {
    case Dtype::u8: return widen_from<uint8_t>(src, dst, n);
    case Dtype::i8: return widen_from<int8_t>(src, dst, n);
    case Dtype::u16: return widen_from<uint16_t>(src, dst, n);
    case Dtype::i16: return widen_from<int16_t>(src, dst, n);
    case Dtype::u32: return widen_from<uint32_t>(src, dst, n);
    case Dtype::i32: return widen_from<int32_t>(src, dst, n);
    case Dtype::u64: return widen_from<uint64_t>(src, dst, n);
    case Dtype::i64: return widen_from<int64_t>(src, dst, n);
    default: no_kernel("expected integers");
  }
}

}  // namespace tenter
