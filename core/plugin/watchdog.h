// Calls into a plugin: exceptions that cross the seam become text, and a call that never returns is abandoned.
#ifndef EGGROLL_PLUGIN_WATCHDOG_H
#define EGGROLL_PLUGIN_WATCHDOG_H

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "eggroll/error.h"
#include "eggroll/plugin.h"

namespace eggroll {

struct SeamCall {
  int32_t result = EGG_OK;
  egg_error error = empty_error();
  std::string thrown;  // a sentence's end, where an exception crossed the seam
};

// function(egg_error*) -> int32_t, a function of the plugin.
template <class Function>
SeamCall call_plugin(Function&& function) noexcept {
  SeamCall call;
  try {
    call.result = function(&call.error);
  } catch (const std::exception& e) {
    call.thrown = std::string("threw an exception across the plugin seam: ") + e.what() + "; fix the plugin";
  } catch (...) {
    call.thrown = "threw an exception of unknown type across the plugin seam; fix the plugin";
  }
  // The plugin wrote them; it need not have ended them.
  call.error.text[sizeof(call.error.text) - 1] = '\0';
  call.error.key[sizeof(call.error.key) - 1] = '\0';
  return call;
}

// What the function returned; throws Error, its text led by who, where an exception crossed the seam.
inline int32_t answer_of(const SeamCall& call, const std::string& who) {
  if (!call.thrown.empty()) throw Error(who + " " + call.thrown);
  return call.result;
}

inline void require_ok(const SeamCall& call, const std::string& who) {
  throw_if_failed(answer_of(call, who), call.error, who);
}

// What body returns, or nothing after limit. An abandoned body runs on, on a thread of its own, to the end of the
// process: it must own all that it touches, and must not throw.
template <class Body>
std::optional<std::invoke_result_t<Body>> finish_within(std::chrono::milliseconds limit, Body body) {
  std::packaged_task<std::invoke_result_t<Body>()> task(std::move(body));
  auto result = task.get_future();
  std::thread thread(std::move(task));
  if (result.wait_for(limit) == std::future_status::timeout) {
    thread.detach();
    return std::nullopt;
  }
  thread.join();
  return result.get();
}

// The sentence for an abandoned call.
inline std::string abandoned_text(const std::string& plugin, const char* function, std::chrono::milliseconds limit,
                                  const std::filesystem::path& path) {
  return fmt::format("plugin '{}' has not returned from {} within {:g} s; fix or remove {}", plugin, function,
                     static_cast<double>(limit.count()) / 1000.0, path.string());
}

}  // namespace eggroll

#endif
