// A file that a setting names, and the sentence that refuses it.
#ifndef EGGROLL_DATA_NAMED_FILE_H
#define EGGROLL_DATA_NAMED_FILE_H

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "eggroll/error.h"

namespace eggroll {

struct NamedFile {
  std::string key;  // without the section: "path"
  std::string path;

  // problem is a relative clause: "which is empty".
  Error error(std::string_view problem, std::string_view expected, std::string_view cure) const {
    return setting_error(key, fmt::format("{} is '{}', {}, expected {}; {}", key, path, problem, expected, cure));
  }
};

}  // namespace eggroll

#endif
