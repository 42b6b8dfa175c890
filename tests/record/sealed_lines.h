// Lines of metrics as a run writes them.
#ifndef EGGROLL_TESTS_RECORD_SEALED_LINES_H
#define EGGROLL_TESTS_RECORD_SEALED_LINES_H

#include <string>
#include <string_view>

#include "record/json.h"
#include "record/seal.h"

namespace eggroll {

// The text with a crc in each line that is a JSON object. Other lines, and a last one without its end, stay as they
// are.
inline std::string sealed_lines(std::string_view text) {
  std::string sealed;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    const std::string_view line = text.substr(begin, end - begin);
    const nlohmann::ordered_json json = json_or_null(line);
    sealed += (json.is_object() ? sealed_line(json) : std::string(line)) + "\n";
  }
  return sealed.append(text.substr(begin));
}

}  // namespace eggroll

#endif
