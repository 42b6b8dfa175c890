// Reads a vocabulary file, and writes texts in its tokens.
#include "data/vocabulary.h"

#include <algorithm>
#include <bitset>
#include <unordered_map>

#include "data/tokens.h"
#include "system/files.h"

namespace eggroll {
namespace {

constexpr std::string_view kFirstLine = "eggroll vocabulary 1\n";
constexpr std::string_view kMakeAgain = "make it again with tools/prepare_dataset";

constexpr std::string_view kDigits = "0123456789abcdef";

std::string bytes_of(std::string_view line, uint64_t number, const NamedFile& file) {
  const bool digits = line.find_first_not_of(kDigits) == std::string_view::npos;
  if (!digits || line.size() % 2 != 0 || line.size() > 2 * kMaxTokenBytes) {
    throw file.error(fmt::format("whose line {} is no token", number),
                     fmt::format("two lower-case hexadecimal digits for each of at most {} bytes", kMaxTokenBytes),
                     kMakeAgain);
  }
  std::string bytes;
  for (size_t i = 0; i < line.size(); i += 2) {
    bytes += static_cast<char>(kDigits.find(line[i]) << 4 | kDigits.find(line[i + 1]));
  }
  return bytes;
}

}  // namespace

Vocabulary::Vocabulary(const NamedFile& file) : source_(file.path) {
  const Tokens mapped = open_tokens(file, TokenFormat::kUint8);
  std::string_view rest(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.size());
  sha256_ = sha256_hex(rest);
  if (!rest.starts_with(kFirstLine)) {
    throw file.error("which is no vocabulary", "the first line 'eggroll vocabulary 1'",
                     "name the vocabulary.txt that tools/prepare_dataset wrote");
  }
  if (!rest.ends_with('\n')) throw file.error("whose last line is cut short", "all of it", kMakeAgain);
  for (rest.remove_prefix(kFirstLine.size()); !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    tokens_.push_back(bytes_of(rest.substr(0, rest.find('\n')), tokens_.size() + 2, file));
  }
}

Vocabulary Vocabulary::of_bytes() {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.tokens_.emplace_back(1, static_cast<char>(byte));
  return vocabulary;
}

std::string Vocabulary::text(const std::vector<uint32_t>& tokens) const {
  std::string text;
  for (const uint32_t token : tokens) text += token < size() ? bytes(token) : "\xef\xbf\xbd";
  return text;
}

bool Vocabulary::spells_every_byte() const {
  std::bitset<256> spelt;
  for (const std::string& token : tokens_) {
    if (token.size() == 1) spelt.set(static_cast<unsigned char>(token.front()));
  }
  return spelt.all();
}

std::vector<uint32_t> Vocabulary::tokens_of(std::string_view text) const {
  std::unordered_map<std::string_view, uint32_t> by_bytes;
  size_t longest = 0;
  for (uint32_t token = 0; token < size(); ++token) {
    by_bytes[tokens_[token]] = token;
    longest = std::max(longest, tokens_[token].size());
  }
  std::vector<uint32_t> tokens;
  while (!text.empty()) {
    size_t length = std::min(longest, text.size());
    while (!by_bytes.contains(text.substr(0, length))) --length;
    tokens.push_back(by_bytes.at(text.substr(0, length)));
    text.remove_prefix(length);
  }
  return tokens;
}

}  // namespace eggroll
