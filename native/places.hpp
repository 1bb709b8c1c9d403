// How permutations name the places of values in vectors: by their numbers, or, where instructions permute bytes, by the
// numbers of their bytes. Both kinds of names are linear in the place.
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
