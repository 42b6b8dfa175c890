// The one error type of the project, and the guard that turns it into a return code at the plugin seam.
#ifndef EGGROLL_ERROR_H
#define EGGROLL_ERROR_H

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "eggroll/plugin.h"

namespace eggroll {

// text is one sentence: what is wrong, what was expected, the cure. key names the setting at fault, if there is one.
class Error : public std::exception {
 public:
  explicit Error(std::string text, int32_t code = EGG_ERROR_INTERNAL, std::string key = {})
      : text_(std::move(text)), key_(std::move(key)), code_(code) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& key() const noexcept { return key_; }
  int32_t code() const noexcept { return code_; }

 private:
  std::string text_;
  std::string key_;
  int32_t code_;
};

inline Error setting_error(std::string key, std::string text) {
  return Error(std::move(text), EGG_ERROR_CONFIG, std::move(key));
}

inline int32_t set_error(egg_error* error, int32_t code, const char* text, const char* key = "") noexcept {
  if (error != nullptr && error->struct_size >= sizeof(egg_error)) {
    error->code = code;
    std::strncpy(error->text, text, sizeof(error->text) - 1);
    error->text[sizeof(error->text) - 1] = '\0';
    std::strncpy(error->key, key, sizeof(error->key) - 1);
    error->key[sizeof(error->key) - 1] = '\0';
  }
  return code;
}

// Runs body and turns whatever it throws into a code and a sentence, so that no exception crosses the seam.
template <class Body>
int32_t guard(egg_error* error, Body&& body) noexcept {
  try {
    body();
    return EGG_OK;
  } catch (const Error& e) {
    return set_error(error, e.code() == EGG_OK ? EGG_ERROR_INTERNAL : e.code(), e.what(), e.key().c_str());
  } catch (const std::bad_alloc&) {
    return set_error(error, EGG_ERROR_MEMORY, "out of memory; use a smaller population or model");
  } catch (const std::exception& e) {
    return set_error(error, EGG_ERROR_INTERNAL, e.what());
  } catch (...) {
    return set_error(error, EGG_ERROR_INTERNAL, "an exception of unknown type was thrown");
  }
}

inline egg_error empty_error() noexcept {
  egg_error error{};
  error.struct_size = sizeof(egg_error);
  return error;
}

}  // namespace eggroll

#endif
