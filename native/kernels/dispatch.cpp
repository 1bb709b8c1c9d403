// Selects the instruction set whose kernels run.
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "kernels/kernels.hpp"
#include "system/system.hpp"

namespace tenter {

extern const Kernels kernels_portable, kernels_v2, kernels_v3, kernels_v4, kernels_neon, kernels_i8mm;
extern const ByteKernels byte_kernels_vnni;

namespace {

#if defined(__x86_64__)
// Each asks for the instructions that the kernels use: Clang before 19 does not know the names of the sets.
[[maybe_unused]] bool has_v2() {
  return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}
[[maybe_unused]] bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
[[maybe_unused]] bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

// The tables of kernels that this machine can run, from slowest to fastest; null-terminated.
const Kernels* const* available() {
  static const auto all = [] {
    std::array<const Kernels*, 6> found{};
    [[maybe_unused]] int n = 0;
#if defined(TENTER_HAS_portable)
    found[n++] = &kernels_portable;
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(TENTER_HAS_neon)
    found[n++] = &kernels_neon;
#endif
#if defined(TENTER_HAS_i8mm)
    if (has_i8mm()) found[n++] = &kernels_i8mm;
#endif
#if defined(TENTER_HAS_v2)
    if (has_v2()) found[n++] = &kernels_v2;
#endif
#if defined(TENTER_HAS_v3)
    if (has_v3()) found[n++] = &kernels_v3;
#endif
#if defined(TENTER_HAS_v4)
    if (has_v4()) {
      found[n++] = &kernels_v4;
      // The same kernels as v4, except those of 8-bit values, which use later instructions.
      static Kernels vnni = kernels_v4;
      vnni.name = "vnni", vnni.bytes = &byte_kernels_vnni;
      if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi")) found[n++] = &vnni;
    }
#endif
    return found;
  }();
  return all.data();
}

std::atomic<const Kernels*> chosen{nullptr};

}  // namespace

bool force_level(const char* name) {
  for (const Kernels* const* k = available(); *k; ++k) {
    if (*name ? std::strcmp((*k)->name, name) == 0 : !k[1]) {
      chosen = *k;
      return true;
    }
  }
  return false;
}

const char* const* level_names() {
  static const auto all = [] {
    std::array<const char*, 6> names{};
    for (int i = 0; available()[i]; ++i) names[i] = available()[i]->name;
    return names;
  }();
  return all.data();
}

void no_kernel(const char* what) { throw std::invalid_argument(what); }

const Kernels& kernels() {
  const Kernels* k = chosen.load(std::memory_order_acquire);
  if (!k) {
    force_level("");
    k = chosen;
  }
  return *k;
}

}  // namespace tenter
