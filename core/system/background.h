// Work on another thread.
#ifndef EGGROLL_SYSTEM_BACKGROUND_H
#define EGGROLL_SYSTEM_BACKGROUND_H

#include <future>
#include <system_error>
#include <type_traits>

namespace eggroll {

// Does the work on another thread. If the system gives none, get() or wait() on the result does the work.
template <class Work>
std::future<std::invoke_result_t<const Work&>> beside(const Work& work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, work);
  }
}

}  // namespace eggroll

#endif
