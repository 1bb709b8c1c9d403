// x86-64 and x86-64-v2. Included by simd-inl.hpp.
#pragma once

namespace tenter {
namespace {

#if !defined(TENTER_VERIFY)
template <>
inline void stream_bits<Vec<int64_t>>(void* p, Vec<int64_t> v) {
  _mm_stream_si128((__m128i*)p, (__m128i)v);
}
#endif

}  // namespace
}  // namespace tenter
