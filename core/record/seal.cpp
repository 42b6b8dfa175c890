#include "record/seal.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "eggroll/error.h"
#include "record/json.h"
#include "system/files.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr const char* kKey = "sha256";
constexpr std::string_view kFirstLine = "# sha256 of all below: ";
constexpr size_t kSha256Digits = 64;
constexpr std::string_view kLineKey = ",\"crc\":\"";
constexpr size_t kLineSealSize = kLineKey.size() + 8 + 2;

std::string text_of(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string line_seal(std::string_view before) { return fmt::format("{}{:08x}\"}}", kLineKey, crc_of(before)); }

}  // namespace

uint32_t crc_of(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

ordered_json sealed(ordered_json object) {
  object.erase(kKey);
  const std::string digest = sha256_hex(text_of(object));
  object[kKey] = digest;
  return object;
}

Seal seal_of(ordered_json object) {
  const auto found = object.find(kKey);
  if (found == object.end()) return Seal::kAbsent;
  const ordered_json digest = *found;
  object.erase(kKey);
  return digest == sha256_hex(text_of(object)) ? Seal::kWhole : Seal::kBroken;
}

const char* fault_of(Seal seal) {
  return seal == Seal::kAbsent ? "it lacks its sha256" : "its sha256 is not that of its contents";
}

std::string sealed_text(std::string_view text) { return fmt::format("{}{}\n{}", kFirstLine, sha256_hex(text), text); }

Seal seal_of_text(std::string_view text) {
  if (!text.starts_with(kFirstLine)) {
    // A first line that is damaged or cut short must not pass for a missing one.
    constexpr std::string_view kBegin = kFirstLine.substr(0, 8);
    const bool is_rest = text.starts_with(kBegin) || (!text.empty() && kBegin.starts_with(text));
    return is_rest ? Seal::kBroken : Seal::kAbsent;
  }
  text.remove_prefix(kFirstLine.size());
  if (text.size() <= kSha256Digits || text[kSha256Digits] != '\n') return Seal::kBroken;
  return text.substr(0, kSha256Digits) == sha256_hex(text.substr(kSha256Digits + 1)) ? Seal::kWhole : Seal::kBroken;
}

std::string sealed_line(const ordered_json& object) {
  std::string line = text_of(object);
  line.pop_back();  // the brace
  return line + line_seal(line);
}

Seal seal_of_line(std::string_view line) {
  const std::string_view before = line.substr(0, line.size() - std::min(line.size(), kLineSealSize));
  const std::string_view seal = line.substr(before.size());
  if (!seal.starts_with(kLineKey)) return Seal::kAbsent;
  return seal == line_seal(before) ? Seal::kWhole : Seal::kBroken;
}

void each_sealed_line(const std::filesystem::path& file, std::string_view text, const std::string& cure,
                      const std::function<void(const ordered_json&, const std::string&)>& take) {
  size_t number = 0;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    const std::string name = fmt::format("line {} of {}", ++number, file.string());
    const std::string_view line = text.substr(begin, end - begin);
    if (const Seal seal = seal_of_line(line); seal != Seal::kWhole) {
      throw Error(fmt::format("{} is damaged: {}; {}", name,
                              seal == Seal::kAbsent ? "it has no checksum" : "its checksum is not that of the line",
                              cure));
    }
    take(parse_json(line, name, cure), name);
  }
}

}  // namespace eggroll
