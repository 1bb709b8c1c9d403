// Selects the instruction set whose kernels run.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "kernels.hpp"

namespace tenter {

extern const Kernels kernels_portable, kernels_v2, kernels_v3, kernels_v4;
extern const ByteKernels byte_kernels_vnni;

namespace {

// The tables that this machine can run, in ascending order; null-terminated.
const Kernels* const* available() {
  static const Kernels* found[6] = {};
  static const bool ready = [] {
    int n = 0;
#if defined(TENTER_HAS_portable)
    found[n++] = &kernels_portable;
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(TENTER_HAS_v2)
    if (__builtin_cpu_supports("x86-64-v2")) found[n++] = &kernels_v2;
#endif
#if defined(TENTER_HAS_v3)
    if (__builtin_cpu_supports("x86-64-v3")) found[n++] = &kernels_v3;
#endif
#if defined(TENTER_HAS_v4)
    if (__builtin_cpu_supports("x86-64-v4")) {
      found[n++] = &kernels_v4;
      // Of v4 but for 8-bit values, which have instructions that came after it.
      static Kernels vnni = kernels_v4;
      vnni.name = "vnni", vnni.bytes = &byte_kernels_vnni;
      if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi")) found[n++] = &vnni;
    }
#endif
    return n > 0;
  }();
  return ready ? found : nullptr;
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
  static const char* names[6] = {};
  static const bool ready = [] {
    for (int i = 0; available()[i]; ++i) names[i] = available()[i]->name;
    return true;
  }();
  return ready ? names : nullptr;
}

const Kernels& kernels() {
  const Kernels* k = chosen.load(std::memory_order_acquire);
  if (!k) {
    force_level("");
    k = chosen;
  }
  return *k;
}

}  // namespace tenter
