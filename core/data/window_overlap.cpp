#include "data/window_overlap.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "eggroll/noise.h"

namespace eggroll {
namespace {

constexpr uint64_t kBase = UINT64_C(0x9e3779b97f4a7c15);  // any odd number whose bits look random

// Calls use(position of the window, its hash) for each window of `size` bytes, until it returns false.
template <class Use>
void each_window(std::span<const std::byte> text, size_t size, Use use) {
  uint64_t power = 1;  // of the byte that leaves
  for (size_t i = 0; i < size; ++i) power *= kBase;
  uint64_t hash = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    hash = hash * kBase + static_cast<uint64_t>(text[i]) + 1;
    if (i >= size) hash -= power * (static_cast<uint64_t>(text[i - size]) + 1);
    if (i + 1 >= size && !use(i + 1 - size, egg_mix64(hash))) return;
  }
}

// The distinct windows of a text by their hashes, in an open-addressed table at most half full.
class Windows {
 public:
  Windows(std::span<const std::byte> text, size_t size)
      : text_(text),
        size_(size),
        entries_(std::bit_ceil(2 * text.size())),
        filter_(std::max<size_t>(entries_.size() / 8, 1)) {
    each_window(text, size, [&](size_t position, uint64_t hash) {
      Entry& entry = at(hash);
      if (entry.times == 0) entry = {hash, static_cast<uint32_t>(position), 0, false};
      ++entry.times;
      filter_[place(hash) / 64] |= bit(hash);
      return true;
    });
  }

  // Notes that the window, at `bytes`, occurs in another text.
  void find(const std::byte* bytes, uint64_t hash) {
    if ((filter_[place(hash) / 64] & bit(hash)) == 0) return;
    Entry& entry = at(hash);
    if (entry.times == 0 || entry.found) return;
    entry.found = std::equal(bytes, bytes + size_, text_.data() + entry.position);
  }

  double share_found() const {
    uint64_t found = 0;
    for (const Entry& entry : entries_) found += entry.found ? entry.times : 0;
    return static_cast<double>(found) / static_cast<double>(text_.size() + 1 - size_);
  }

 private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t position = 0;  // of the first such window
    uint32_t times : 31 = 0;
    bool found : 1 = false;
  };

  // Most windows of the other text end here at little cost: eight bits for each entry stay in the processor's cache.
  uint64_t place(uint64_t hash) const { return (hash >> 32) & (filter_.size() * 64 - 1); }
  uint64_t bit(uint64_t hash) const { return uint64_t{1} << (place(hash) % 64); }

  // The entry of this hash, or the empty one where it belongs.
  Entry& at(uint64_t hash) {
    size_t i = hash & (entries_.size() - 1);
    while (entries_[i].times > 0 && entries_[i].hash != hash) i = (i + 1) & (entries_.size() - 1);
    return entries_[i];
  }

  std::span<const std::byte> text_;
  size_t size_;
  std::vector<Entry> entries_;
  std::vector<uint64_t> filter_;
};

}  // namespace

std::optional<double> window_overlap(std::span<const std::byte> train, std::span<const std::byte> held_out, size_t size,
                                     const std::atomic<bool>& stop) {
  constexpr size_t kLookEvery = size_t{1} << 20;  // windows between looks at `stop`
  if (held_out.size() < size) return std::nullopt;
  Windows windows(held_out, size);
  bool stopped = false;
  each_window(train, size, [&](size_t position, uint64_t hash) {
    if (position % kLookEvery == 0) stopped = stop.load();
    windows.find(train.data() + position, hash);
    return !stopped;
  });
  return stopped ? std::nullopt : std::optional(windows.share_found());
}

}  // namespace eggroll
