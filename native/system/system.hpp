// One interface to functions that differ between operating systems: pages of memory, forks, symbols of loaded
// libraries, the main thread, and the instructions of an Arm processor. Sizes are in bytes, and multiples of a page.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenter {

// Maps zeroed memory. alignment: the size of a huge page to align to and ask for, or 0; systems without huge pages
// ignore it. Returns null if there is no memory.
char* map_memory(int64_t size, int64_t alignment);
// Moves memory of `size` bytes to a new address and appends zeroed pages up to `larger` bytes. Returns the new address,
// or null if the system cannot do this; the old memory is then unchanged.
char* grow_memory(char* p, int64_t size, int64_t larger, int64_t alignment);
void unmap_memory(char* p, int64_t size);
void forbid_memory(char* p, int64_t size);  // makes every access end the process
void lend_memory(char* p, int64_t size);    // lets the system drop the contents when memory gets scarce

// Memory aligned to 64 bytes, a cache line; null if there is none. free_aligned accepts null.
void* allocate_aligned(size_t size);
void free_aligned(void* p);

// Registers functions that run at every fork: `before` and then `parent` in the process that forks, `child` in the new
// one. Each may be null.
void at_fork(void (*before)(), void (*parent)(), void (*child)());

void* loaded_symbol(const char* name);  // looks in all libraries that the process has loaded; null if none has it

// How long this thread has computed, in nanoseconds. If the system counts that only in milliseconds, the time of day.
int64_t thread_time();

// Returns false where the system cannot tell; signals then do not interrupt long calls.
bool on_main_thread();

// Whether this is an Arm processor with both FEAT_I8MM and FEAT_BF16; false where the system cannot tell.
bool has_i8mm();

}  // namespace tenter
