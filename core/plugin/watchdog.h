// Calls functions of plugins: exceptions that cross the seam become text, and a call that never returns is abandoned.
// calls.h names plugins that end the process.
#ifndef EGGROLL_PLUGIN_WATCHDOG_H
#define EGGROLL_PLUGIN_WATCHDOG_H

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "eggroll/alternate_stack.h"
#include "eggroll/error.h"
#include "eggroll/plugin.h"
#include "plugin/calls.h"
#include "system/text.h"

namespace eggroll {

// A plugin's text as the host prints it.
inline std::string printed(std::string_view text) { return text.empty() ? std::string() : one_line(text, 1000); }

// The texts that come from the plugin are printed().
struct SeamCall {
  int32_t result = EGG_OK;
  std::string text;           // of its error
  std::string key;            // the setting at fault
  std::string thrown;         // a sentence's end, where an exception crossed the seam
  bool lacks_memory = false;  // for these texts
};

// function(egg_error*) -> int32_t, a function of the plugin.
template <class Function>
SeamCall call_plugin(Function&& function) noexcept {
  give_alternate_stack();
  SeamCall call;
  egg_error error = empty_error();
  try {
    try {
      call.result = function(&error);
    } catch (const std::exception& e) {
      call.thrown = "threw an exception across the plugin seam: " + printed(e.what()) + "; fix the plugin";
    } catch (...) {
      call.thrown = "threw an exception of unknown type across the plugin seam; fix the plugin";
    }
    // The plugin may not have ended these texts with a zero byte.
    call.text = printed({error.text, ::strnlen(error.text, sizeof(error.text))});
    call.key = printed({error.key, ::strnlen(error.key, sizeof(error.key))});
  } catch (const std::bad_alloc&) {
    call.lacks_memory = true;
  }
  return call;
}

// Returns what the function returned. Throws Error, its text led by who, if an exception crossed the seam, and
// std::bad_alloc if there was no memory for its text.
inline int32_t answer_of(const SeamCall& call, const std::string& who) {
  if (call.lacks_memory) throw std::bad_alloc();
  if (!call.thrown.empty()) throw Error(who + " " + call.thrown);
  return call.result;
}

inline void require_ok(const SeamCall& call, const std::string& who) {
  if (answer_of(call, who) == EGG_OK) return;
  throw Error(who + ": " + (call.text.empty() ? "failed and gave no reason" : call.text), call.result, call.key);
}

// A function of a plugin that is called: who, as messages name the plugin.
struct CalledFunction {
  const std::string& who;
  const char* name;
  Patience patience = Patience::kShort;
  std::filesystem::path file = {};
};

// Calls function(arguments..., error). Throws Error if it fails.
template <class Function, class... Arguments>
void call_function(const CalledFunction& called, Function function, Arguments... arguments) {
  const CallNote note(called.who, fmt::format("in {}()", called.name), called.patience, called.file);
  require_ok(call_plugin([&](egg_error* error) { return function(arguments..., error); }), called.who);
}

// Whether function(arguments...) returns another number than 0.
template <class Function, class... Arguments>
bool says_yes(const CalledFunction& called, Function function, Arguments... arguments) {
  const CallNote note(called.who, fmt::format("in {}()", called.name), called.patience);
  return answer_of(call_plugin([&](egg_error*) { return function(arguments...); }), called.who) != 0;
}

// The handle of what a plugin has opened. The last owner calls close(handle), which must not throw. If it does throw,
// the exception is dropped.
inline std::shared_ptr<void> closed_at_end(const std::string& who, const char* name, void (*close)(void*),
                                           void* handle) {
  return {handle, [who, name, close](void* closed) {
            const CallNote note(who, fmt::format("in {}()", name), Patience::kLong);
            try {
              close(closed);
            } catch (...) {
            }
          }};
}

// Returns what body returns, or nothing if that takes longer than limit. An abandoned body goes on in its own thread
// until the process ends, so it must own all that it touches, and must not throw.
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
