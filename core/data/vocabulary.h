// The bytes that each token stands for, so that bits can be counted per byte and samples read as text.
//
// The file is text: the line "eggroll vocabulary 1", then one line for each token, in order, with the token's bytes, at
// most kMaxTokenBytes, as lower-case hexadecimal digits, two a byte. An empty line is a token without bytes, which no
// dataset may hold.
#ifndef EGGROLL_DATA_VOCABULARY_H
#define EGGROLL_DATA_VOCABULARY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/named_file.h"

namespace eggroll {

inline constexpr size_t kMaxTokenBytes = 4096;

class Vocabulary {
 public:
  // Throws Error if the file cannot be read, or does not have that form.
  explicit Vocabulary(const NamedFile& file);

  // The vocabulary of dataset=text: token t is the byte t.
  static Vocabulary of_bytes();

  uint32_t size() const { return static_cast<uint32_t>(tokens_.size()); }
  const std::string& bytes(uint32_t token) const { return tokens_[token]; }  // token below size()
  const std::string& source() const { return source_; }                      // names it in messages
  const std::string& sha256() const { return sha256_; }                      // of the file

  // The bytes of all these tokens; for a token that is not in the vocabulary, those of U+FFFD.
  std::string text(const std::vector<uint32_t>& tokens) const;

  // Whether every byte is a token of its own, so that tokens can spell any text.
  bool spells_every_byte() const;

  // Cuts a text into tokens. At each place it takes the longest token that fits; among equal ones the last, because
  // byte tokens come before pieces. The tokenizer itself may cut differently. Needs spells_every_byte().
  std::vector<uint32_t> tokens_of(std::string_view text) const;

 private:
  Vocabulary() = default;

  std::vector<std::string> tokens_;
  std::string source_;
  std::string sha256_;
};

}  // namespace eggroll

#endif
