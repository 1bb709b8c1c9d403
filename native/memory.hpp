// Large results in memory that has been used before: fresh pages cost several times what writing them does.
#pragma once
#include <cstdint>

namespace tenter {

constexpr int64_t large = 1 << 20;  // results below are left to the allocators, which reuse such memory themselves

// Whole huge pages of one result, kept for another when it is gone, or given back.
struct Block {
  char* p;
  int64_t size, wanted;  // size: of the mapping, or of all up to the guard page
  bool guarded;          // does it end where an unmapped page begins?
  bool used;             // before: its pages are there, and not in cache
  int64_t forks;         // of this process, when taken

  explicit Block(int64_t wanted);  // throws std::bad_alloc
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

struct MemoryStats {
  int64_t limit, idle, idle_blocks, in_use, blocks_in_use, reused, fresh;
};
bool recycles();  // is anything kept?
MemoryStats memory_stats();
void memory_limit(int64_t bytes);  // of idle memory; none in forked children
void memory_clear();               // gives idle memory back

}  // namespace tenter
