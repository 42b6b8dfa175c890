// Keeps working memory that no thread uses now for the next thread that needs some.
#ifndef EGGROLL_TILE_IDLE_H
#define EGGROLL_TILE_IDLE_H

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace eggroll::tile {

template <class T>
class Idle {
 public:
  explicit Idle(std::function<std::unique_ptr<T>()> make = [] { return std::make_unique<T>(); })
      : make_(std::move(make)) {}

  // Calls body(T&) with a free T, or with a new T if none is free.
  template <class Body>
  void with(const Body& body) {
    std::unique_ptr<T> mine = take();
    if (mine == nullptr) mine = make_();
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

  std::function<std::unique_ptr<T>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace eggroll::tile

#endif
