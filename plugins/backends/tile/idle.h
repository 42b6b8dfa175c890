// Working memory that no thread uses now, kept for the next one that needs some.
#ifndef EGGROLL_TILE_IDLE_H
#define EGGROLL_TILE_IDLE_H

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace eggroll::tile {

template <class T>
class Idle {
 public:
  // body(T&) with one that is free, or else with a new one of make().
  template <class Make, class Body>
  void with(const Make& make, const Body& body) {
    std::unique_ptr<T> mine = take();
    if (mine == nullptr) mine = make();
    body(*mine);
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(mine));
  }

 private:
  std::unique_ptr<T> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<T> one = std::move(free_.back());
    free_.pop_back();
    return one;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace eggroll::tile

#endif
