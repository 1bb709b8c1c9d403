// The dtypes of values that kernels sum.
#pragma once
#include <cstdint>

#include "system/words.hpp"

namespace tenter {

// The type in which sums are added up. int64 is for unweighted sums of integers, which are exact modulo 2^64.
enum class Accumulate : int { f32, f64, i64 };

// Elements for which C++ has no type; levels/convert-inl.hpp loads and stores them.
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

// The columns: name; name in Python; C++ type of an element; bytes; NumPy's kind; the type in which weighted sums are
// added up.
// clang-format off
#define TENTER_DTYPES(row) \
  row(f32, "float32", float, 4, 'f', f32) \
  row(f64, "float64", double, 8, 'f', f64) \
  row(f16, "float16", f16, 2, 'f', f32) \
  row(bf16, "bfloat16", bf16, 2, 'f', f32) \
  row(u8, "uint8", uint8_t, 1, 'u', f32) \
  row(i8, "int8", int8_t, 1, 'i', f32) \
  row(u16, "uint16", uint16_t, 2, 'u', f32) \
  row(i16, "int16", int16_t, 2, 'i', f32) \
  row(u32, "uint32", uint32_t, 4, 'u', f64) \
  row(i32, "int32", int32_t, 4, 'i', f64) \
  row(u64, "uint64", uint64_t, 8, 'u', f64) \
  row(i64, "int64", int64_t, 8, 'i', f64)
// clang-format on

enum class Dtype : int { TENTER_DTYPES(TENTER_NAME) };

struct DtypeRow {
  const char* name;
  int bytes;
  char kind;
  Accumulate sums;
};
#define TENTER_ROW(id, name, type, bytes, kind, sums) {name, bytes, kind, Accumulate::sums},
inline constexpr DtypeRow dtype_rows[] = {TENTER_DTYPES(TENTER_ROW)};
#undef TENTER_ROW
constexpr int n_dtypes = int(sizeof dtype_rows / sizeof *dtype_rows);

constexpr bool is_float(Dtype d) { return dtype_rows[int(d)].kind == 'f'; }
constexpr bool is_float_number(int number) { return number >= 0 && is_float(Dtype(number)); }  // -1 is no Dtype
// Whether sums of values of d are added up in d itself.
constexpr bool is_full_float(Dtype d) { return d == Dtype::f32 || d == Dtype::f64; }
constexpr bool is_any(Dtype) { return true; }
constexpr int64_t size_of(Dtype d) { return dtype_rows[int(d)].bytes; }
// The type in which weighted sums of values of dtype d are added up.
constexpr Accumulate sums_of(Dtype d) { return dtype_rows[int(d)].sums; }

}  // namespace tenter
