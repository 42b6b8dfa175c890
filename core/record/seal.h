// Checksums within the files of a run, so that a reader finds a flipped bit.
#ifndef EGGROLL_RECORD_SEAL_H
#define EGGROLL_RECORD_SEAL_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace eggroll {

uint32_t crc_of(std::string_view bytes);  // CRC-32

enum class Seal {
  kAbsent,
  kWhole,
  kBroken,
};

// The object with "sha256" as last member, over all others as JSON without blanks. Blanks in a file do not matter.
nlohmann::ordered_json sealed(nlohmann::ordered_json object);
Seal seal_of(nlohmann::ordered_json object);
// The fault of an object's seal, for a sentence that names the file.
const char* fault_of(Seal seal);

// The same for text whose lines may begin with '#' as a comment: the first line holds the sha256. A user who edits the
// text on purpose removes that line.
std::string sealed_text(std::string_view text);
Seal seal_of_text(std::string_view text);

// The object on one line, with "crc" as its last member: the CRC-32 of the bytes before it, in hexadecimal digits.
std::string sealed_line(const nlohmann::ordered_json& object);
Seal seal_of_line(std::string_view line);

// Calls take(line, name) for each whole line of a file with this text, in order; name is "line 3 of FILE". A last line
// without its end is left out, because a write may have been cut short there. Throws Error if a line is not whole;
// the cure ends its sentence.
void each_sealed_line(const std::filesystem::path& file, std::string_view text, const std::string& cure,
                      const std::function<void(const nlohmann::ordered_json&, const std::string&)>& take);

}  // namespace eggroll

#endif
