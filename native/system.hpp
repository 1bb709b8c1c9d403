// What operating systems name differently: memory in pages, forks, symbols of loaded libraries, the main thread, and
// which instructions an Arm processor has.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenter {

// Zeroed memory at a multiple of `alignment`, where the system has pages of that size; null if there is none. Sizes are
// multiples of a page.
char* map_memory(int64_t size, int64_t alignment);
// The same memory with zeroed pages after it, at another place; null, and nothing has changed, where the system can't.
char* grow_memory(char* p, int64_t size, int64_t larger, int64_t alignment);
void unmap_memory(char* p, int64_t size);
void forbid_memory(char* p, int64_t size);  // every access ends the process
void lend_memory(char* p, int64_t size);    // the system may take its contents when memory gets scarce

// Memory at a cache line, as malloc's; null if there is none.
void* allocate_aligned(size_t size);
void free_aligned(void* p);

// Calls `before` in a process that forks, then `parent` in it and `child` in the new one. Each may be null.
void at_fork(void (*before)(), void (*parent)(), void (*child)());

void* loaded_symbol(const char* name);  // of any library that the process has loaded; null if none has it

// False where the system cannot tell: long calls are then not interrupted.
bool on_main_thread();

// Whether an Arm processor has both FEAT_I8MM and FEAT_BF16; false where the system cannot tell.
bool has_i8mm();

}  // namespace tenter
