#include "system/system.hpp"

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "system/integers.hpp"

namespace tenter {

int64_t thread_time() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0) return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
#endif
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#if defined(_WIN32)

char* map_memory(int64_t size, int64_t) {
  return static_cast<char*>(VirtualAlloc(nullptr, size_t(size), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
}
char* grow_memory(char*, int64_t, int64_t, int64_t) { return nullptr; }
void unmap_memory(char* p, int64_t) { VirtualFree(p, 0, MEM_RELEASE); }
void forbid_memory(char* p, int64_t size) {
  DWORD before;
  VirtualProtect(p, size_t(size), PAGE_NOACCESS, &before);
}
void lend_memory(char*, int64_t) {}
void* allocate_aligned(size_t size) { return _aligned_malloc(size, 64); }
void free_aligned(void* p) { _aligned_free(p); }
void at_fork(void (*)(), void (*)(), void (*)()) {}
void* loaded_symbol(const char*) { return nullptr; }
bool on_main_thread() { return false; }

#else

namespace {

char* map_anonymous(int64_t size, int access) {
  void* const p = mmap(nullptr, size_t(size), access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
}

char* map_aligned(int64_t size, int64_t alignment, int access) {
  char* const start = map_anonymous(size + alignment, access);
  if (!start) return nullptr;
  char* const p = reinterpret_cast<char*>(round_up(reinterpret_cast<intptr_t>(start), alignment));
  if (p > start) munmap(start, size_t(p - start));
  if (start + alignment > p) munmap(p + size, size_t(start + alignment - p));
  return p;
}

}  // namespace

char* map_memory(int64_t size, int64_t alignment) {
  if (!alignment) return map_anonymous(size, PROT_READ | PROT_WRITE);
  char* const p = map_aligned(size, alignment, PROT_READ | PROT_WRITE);
  if (!p) return nullptr;
#if defined(MADV_HUGEPAGE)
  madvise(p, size_t(size), MADV_HUGEPAGE);
#endif
  return p;
}
char* grow_memory([[maybe_unused]] char* p, [[maybe_unused]] int64_t size, [[maybe_unused]] int64_t larger,
                  [[maybe_unused]] int64_t alignment) {
#if defined(__linux__)
  char* const place = map_aligned(larger, alignment, PROT_NONE);  // huge pages move whole between aligned addresses
  if (!place) return nullptr;
  // If mremap fails, it may have unmapped `place` already, and another thread may have mapped it since. So `place` is
  // not unmapped here.
  void* const moved = mremap(p, size_t(size), size_t(larger), MREMAP_MAYMOVE | MREMAP_FIXED, place);
  if (moved != MAP_FAILED) return place;
#endif
  return nullptr;
}
void unmap_memory(char* p, int64_t size) { munmap(p, size_t(size)); }
void forbid_memory(char* p, int64_t size) { mprotect(p, size_t(size), PROT_NONE); }
void lend_memory([[maybe_unused]] char* p, [[maybe_unused]] int64_t size) {
#if defined(MADV_FREE)
  madvise(p, size_t(size), MADV_FREE);
#endif
}

void* allocate_aligned(size_t size) { return std::aligned_alloc(64, size_t(round_up(int64_t(size), 64))); }
void free_aligned(void* p) { std::free(p); }

void at_fork(void (*before)(), void (*parent)(), void (*child)()) { pthread_atfork(before, parent, child); }

void* loaded_symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

bool on_main_thread() {
#if defined(__linux__)
  return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return false;
#endif
}

#endif

#if defined(__aarch64__) && defined(__linux__)
bool has_i8mm() {  // the bits HWCAP2_I8MM and HWCAP2_BF16, which old headers do not define
  constexpr unsigned long needed = 1ul << 13 | 1ul << 14;
  return (getauxval(AT_HWCAP2) & needed) == needed;
}
#elif defined(__aarch64__) && defined(__APPLE__)
bool has_i8mm() {
  auto has = [](const char* name) {
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value == 1;
  };
  return has("hw.optional.arm.FEAT_I8MM") && has("hw.optional.arm.FEAT_BF16");
}
#else
bool has_i8mm() { return false; }
#endif

}  // namespace tenter
