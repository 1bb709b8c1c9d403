// A pool of memory for large results. Page faults of fresh pages cost several times as much as the writes to them.
#pragma once
#include <cstdint>
#include <memory>

#include "system/tuning.hpp"

namespace tenter {

// The memory of one result. When the block is destroyed, its memory returns to the pool or is unmapped.
//   size    bytes of the mapping; of a guarded block, bytes up to its guard page
//   wanted  bytes of the result
struct Block {
  char* p;
  int64_t size, wanted;
  bool guarded;   // whether it ends at an inaccessible page (tuning.guard_blocks)
  bool used;      // whether an earlier result used it: its pages are then mapped, but mostly not in cache
  int64_t forks;  // how often this process had forked when the block was created

  explicit Block(int64_t wanted);  // throws std::bad_alloc
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

struct MemoryStats {
  int64_t limit, idle, idle_blocks, in_use, blocks_in_use, reused, fresh;
};
bool recycles();  // whether freed blocks return to the pool; never in a forked child
MemoryStats memory_stats();
void memory_limit(int64_t bytes);  // sets how many idle bytes the pool may hold
void memory_clear();               // unmaps all idle memory, and frees idle workspaces

// Scratch memory of one call; large requests use the pool. The Room owns it.
struct Room {
  std::unique_ptr<Block> block;
  std::unique_ptr<char[]> bytes;
  char* get(int64_t n) {
    if (n >= tuning.large_bytes && recycles()) return (block = std::make_unique<Block>(n))->p;
    return (bytes = std::make_unique_for_overwrite<char[]>(size_t(n))).get();
  }
};

}  // namespace tenter
