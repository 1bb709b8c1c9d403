// Preloaded into a Python: fails the nth allocation (and all after it, if so told) that code of chosen libraries asks
// for, on any thread. Which library asks is where the call returns to; a thread that cannot start counts as well, and
// is found further up, as the C++ library starts it. It also counts what that code has and has not freed.
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
void __libc_free(void*);
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

// What watched code has asked for and not freed, by address.
constexpr uintptr_t n_slots = 1 << 18;
void* held[n_slots];
std::atomic<long> n_held{0}, lost{0};
std::atomic_flag turn = ATOMIC_FLAG_INIT;
void* const freed = &turn;

struct Turn {
  Turn() {
    while (turn.test_and_set(std::memory_order_acquire)) {}
  }
  ~Turn() { turn.clear(std::memory_order_release); }
};
uintptr_t slot_of(const void* p) { return (reinterpret_cast<uintptr_t>(p) >> 4) * 0x9E3779B97F4A7C15u >> 46; }

void* keep(void* p, const void* caller) {
  if (!p || n_watched == 0 || !ours(caller)) return p;
  const Turn mine;
  for (uintptr_t k = 0, at = slot_of(p); k < 64; ++k, at = (at + 1) % n_slots)
    if (!held[at] || held[at] == freed) {
      held[at] = p, ++n_held;
      return p;
    }
  ++lost;
  return p;
}
void drop(const void* p) {
  if (!p || n_held == 0) return;
  const Turn mine;
  for (uintptr_t k = 0, at = slot_of(p); k < 64 && held[at]; ++k, at = (at + 1) % n_slots)
    if (held[at] == p) {
      held[at] = freed, --n_held;
      return;
    }
}

int watch(dl_phdr_info* info, size_t, void* names) {
  bool wanted = false;
  for (const char* const* n = static_cast<const char* const*>(names); *n; ++n)
    wanted = wanted || std::strstr(info->dlpi_name, *n);
  for (int k = 0; wanted && k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr) & h = info->dlpi_phdr[k];
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

// Allocations that watched code has and has not freed.
long failing_held() { return lost ? -1 : n_held.load(); }

void* malloc(size_t n) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  return keep(__libc_malloc(n), CALLER);
}
void* calloc(size_t n, size_t each) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  return keep(__libc_calloc(n, each), CALLER);
}
void* realloc(void* p, size_t n) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  drop(p);
  return keep(__libc_realloc(p, n), CALLER);
}
void* aligned_alloc(size_t alignment, size_t n) {
  if (refuses(CALLER)) return errno = ENOMEM, nullptr;
  return keep(__libc_memalign(alignment, n), CALLER);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
  if (refuses(CALLER)) return ENOMEM;
  void* const got = keep(__libc_memalign(alignment, n), CALLER);
  if (!got) return ENOMEM;
  *p = got;
  return 0;
}
void free(void* p) {
  drop(p);
  __libc_free(p);
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

#define ALLOCATED(call)                                             \
  {                                                                 \
    void* const p = refuses(CALLER) ? nullptr : keep(call, CALLER); \
    if (!p) throw std::bad_alloc();                                 \
    return p;                                                       \
  }
void* operator new(size_t n) ALLOCATED(__libc_malloc(n)) void* operator new[](size_t n)
    ALLOCATED(__libc_malloc(n)) void* operator new(size_t n, std::align_val_t alignment)
        ALLOCATED(__libc_memalign(size_t(alignment), n)) void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return refuses(CALLER) ? nullptr : keep(__libc_malloc(n), CALLER);
}
void* operator new[](size_t n, const std::nothrow_t&) noexcept {
  return refuses(CALLER) ? nullptr : keep(__libc_malloc(n), CALLER);
}
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
void operator delete[](void* p, size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { free(p); }
