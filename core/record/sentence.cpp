#include "record/sentence.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "eggroll/error.h"
#include "record/json.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll {
namespace {

constexpr size_t kLongest = 500;  // bytes of another library's text
constexpr size_t kLongestLine = 16'384;

std::string of_system(const std::system_error& error) {
  if (error.code().value() == EAGAIN || error.code().value() == ENOMEM) {
    return "the system gives this process no more threads or memory; raise the limits (ulimit -u, ulimit -v) or ask "
           "for fewer threads with backend.threads";
  }
  return fmt::format("the system refused something ({}); check the disk and the limits of this process (ulimit -a)",
                     one_line(error.what(), kLongest));
}

}  // namespace

std::string sentence_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return error.what();
  } catch (const std::filesystem::filesystem_error& error) {
    return file_error("use", error.path1(), error.code().value()).what();
  } catch (const std::bad_alloc&) {
    return "the memory is used up; use a smaller model or population, or raise the limit (ulimit -v)";
  } catch (const std::system_error& error) {
    return of_system(error);
  } catch (const nlohmann::json::exception& error) {
    return fmt::format("a file of results has unexpected contents ({}); report this as a bug", reason_of(error));
  } catch (const std::exception& error) {
    return fmt::format("an unexpected error occurred ({}); report this as a bug", one_line(error.what(), kLongest));
  } catch (...) {
    return "an unexpected error occurred; report this as a bug";
  }
}

void print_error(const std::string& who, const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", who.c_str(), one_line(sentence, kLongestLine).c_str());
}

}  // namespace eggroll
