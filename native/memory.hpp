// Recycled memory for large results: page faults of fresh pages cost several times the writes to them.
#pragma once
#include <cstdint>
#include <memory>

#include "tuning.hpp"

namespace tenter {

// The memory of one result. When it is freed, it is kept for another result or unmapped.
struct Block {
  char* p;
  int64_t size, wanted;  // size: of the mapping; of a guarded block, up to the guard page
  bool guarded;          // whether it ends at an inaccessible page
  bool used;             // by an earlier result: its pages are mapped, and not in cache
  int64_t forks;         // of this process before it was made

  explicit Block(int64_t wanted);  // throws std::bad_alloc
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

struct MemoryStats {
  int64_t limit, idle, idle_blocks, in_use, blocks_in_use, reused, fresh;
};
bool recycles();  // whether blocks are kept
MemoryStats memory_stats();
void memory_limit(int64_t bytes);  // of idle memory; forked children keep none
void memory_clear();               // unmaps idle memory

// Scratch for one call, recycled where it is large.
struct Room {
  std::unique_ptr<Block> block;
  std::unique_ptr<char[]> bytes;
  char* get(int64_t n) {
    if (n >= tuning.large_bytes && recycles()) return (block = std::make_unique<Block>(n))->p;
    return (bytes = std::make_unique_for_overwrite<char[]>(size_t(n))).get();
  }
};

}  // namespace tenter
