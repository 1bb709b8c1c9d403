// Dtypes as types.
#pragma once
#include <type_traits>

#include "kernels/kernels.hpp"
#include "levels/convert-inl.hpp"

namespace tenter {
namespace {

// The dtypes that are summed in Acc. For int64: integers, without weights.
template <class... T>
struct Types {};
template <class... L>
struct Joined;
template <class... T>
struct Joined<Types<T...>> {
  typedef Types<T...> types;
};
template <class... T, class... U, class... L>
struct Joined<Types<T...>, Types<U...>, L...> : Joined<Types<T..., U...>, L...> {};
template <bool holds, class T>
using TypeIf = std::conditional_t<holds, Types<T>, Types<>>;

template <class Acc>
constexpr bool is_summed_in(char kind, Accumulate sums) {
  if (std::is_same_v<Acc, int64_t>) return kind != 'f';
  return sums == (std::is_same_v<Acc, float> ? Accumulate::f32 : Accumulate::f64);
}
#define TENTER_IF(id, name, type, bytes, kind, sums) , TypeIf<is_summed_in<Acc>(kind, Accumulate::sums), type>
template <class Acc>
struct SummedIn : Joined<Types<> TENTER_DTYPES(TENTER_IF)> {};
#undef TENTER_IF

template <class T>
constexpr Dtype dtype_of = [] {
#define TENTER_IF(id, name, type, ...) \
  if (std::is_same_v<T, type>) return Dtype::id;
  TENTER_DTYPES(TENTER_IF)
#undef TENTER_IF
}();

}  // namespace
}  // namespace tenter
