// Preloaded into a Python: fails the nth allocation (and all after it, if so told) that code of chosen libraries asks
// for, on any thread. Which library asks is where the call returns to; a thread that cannot start counts as well, and
// is found further up, as the C++ library starts it.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

struct Code {
  uintptr_t lo, hi;
};
constexpr int most = 64;
Code watched[most];
int n_watched = 0;
std::atomic<bool> armed{false};
std::atomic<long> seen{0}, refused{0}, nth{0};
bool lasting = false;

bool ours(const void* at) {
  const uintptr_t p = reinterpret_cast<uintptr_t>(at);
  for (int k = 0; k < n_watched; ++k)
    if (p >= watched[k].lo && p < watched[k].hi) return true;
  return false;
}
bool refuse() {
  const long now = ++seen;
  if (lasting ? now < nth : now != nth) return false;
  ++refused;
  return true;
}
bool refuses(const void* caller) { return armed && ours(caller) && refuse(); }

int watch(dl_phdr_info* info, size_t, void* names) {
  bool wanted = false;
  for (const char* const* n = static_cast<const char* const*>(names); *n; ++n)
    wanted = wanted || std::strstr(info->dlpi_name, *n);
  for (int k = 0; wanted && k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr)& h = info->dlpi_phdr[k];
    if (h.p_type != PT_LOAD || !(h.p_flags & PF_X) || n_watched == most) continue;
    watched[n_watched++] = {info->dlpi_addr + h.p_vaddr, info->dlpi_addr + h.p_vaddr + h.p_memsz};
  }
  return 0;
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
Create create = [] {
  void* warm[1];
  backtrace(warm, 1);  // it allocates the first time
  return reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
}();

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

// names: parts of libraries' names, up to a null. Returns how many pieces of code are watched.
int failing_watch(const char* const* names) {
  n_watched = 0;
  dl_iterate_phdr(watch, const_cast<char**>(names));
  return n_watched;
}
void failing_arm(long n, int and_all_after) {
  seen = 0, refused = 0, nth = n, lasting = and_all_after != 0;
  armed = true;
}
// How many allocations were asked for since it was armed, negative if none was refused.
long failing_disarm() {
  armed = false;
  return refused ? seen.load() : -1 - seen.load();
}

void* malloc(size_t n) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t each) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  return __libc_calloc(n, each);
}
void* realloc(void* p, size_t n) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  return __libc_realloc(p, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
  if (refuses(CALLER)) return ENOMEM;
  void* const got = __libc_memalign(alignment, n);
  if (!got) return ENOMEM;
  *p = got;
  return 0;
}
void* mmap(void* at, size_t n, int access, int flags, int file, off_t from) {
  if (refuses(CALLER)) return errno = ENOMEM, MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, n, access, flags, file, from));
}
int pthread_create(pthread_t* id, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  if (armed) {
    void* frames[8];
    const int n = backtrace(frames, 8);
    for (int k = 0; k < n; ++k)
      if (ours(frames[k])) {
        if (refuse()) return EAGAIN;
        break;
      }
  }
  return create(id, how, run, with);
}

}  // extern "C"

void* operator new(size_t n) {
  void* const p = refuses(CALLER) ? nullptr : __libc_malloc(n);
  if (!p) throw std::bad_alloc();
  return p;
}
void* operator new[](size_t n) {
  void* const p = refuses(CALLER) ? nullptr : __libc_malloc(n);
  if (!p) throw std::bad_alloc();
  return p;
}
void* operator new(size_t n, const std::nothrow_t&) noexcept { return refuses(CALLER) ? nullptr : __libc_malloc(n); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return refuses(CALLER) ? nullptr : __libc_malloc(n); }
void* operator new(size_t n, std::align_val_t alignment) {
  void* const p = refuses(CALLER) ? nullptr : __libc_memalign(size_t(alignment), n);
  if (!p) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept { __builtin_free(p); }
void operator delete[](void* p) noexcept { __builtin_free(p); }
void operator delete(void* p, size_t) noexcept { __builtin_free(p); }
void operator delete[](void* p, size_t) noexcept { __builtin_free(p); }
void operator delete(void* p, std::align_val_t) noexcept { __builtin_free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { __builtin_free(p); }
