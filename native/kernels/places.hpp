// How permutations address values in vectors: by the number of the value or, if instructions permute bytes, by the
// numbers of its bytes. Both are linear functions of the number of the value: number * place_step + first_place.
#pragma once
#include <cstdint>

namespace tenter {

#if defined(__aarch64__)
template <class I>
constexpr I place_step = I(0x0808080808080808);
template <>
inline constexpr int32_t place_step<int32_t> = 0x04040404;
template <class I>
constexpr I first_place = I(0x0706050403020100);
template <>
inline constexpr int32_t first_place<int32_t> = 0x03020100;
#else
template <class I>
constexpr I place_step = 1;
template <class I>
constexpr I first_place = 0;
#endif

}  // namespace tenter
