#include "workspace.hpp"

#include <atomic>

namespace tenter {
namespace {

// Idle workspaces. Slots that are exchanged, and no lock: a child that is forked while another thread holds one would
// wait for ever. More tasks at a time than there are slots make workspaces of their own.
constexpr int n_slots = 64;
std::atomic<Workspace*> slots[n_slots];

}  // namespace

Workspace* take_workspace() {
  for (auto& slot : slots)
    if (slot.load(std::memory_order_relaxed))
      if (Workspace* const found = slot.exchange(nullptr, std::memory_order_acquire)) return found;
  return new Workspace;
}

void give_workspace(Workspace* given) {
  for (Scratch* s : {&given->staging, &given->tile, &given->row, &given->plane, &given->pick}) s->trim();
  for (auto& slot : slots) {
    Workspace* empty = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(empty, given, std::memory_order_release, std::memory_order_relaxed))
      return;
  }
  delete given;
}

}  // namespace tenter
