// A text as bytes, whatever its tokens are: compressors read them, and n-grams are counted in them.
#ifndef EGGROLL_DATA_BYTE_TEXT_H
#define EGGROLL_DATA_BYTE_TEXT_H

#include <cstddef>
#include <span>
#include <string>

#include "data/dataset.h"

namespace eggroll {

// Whether each part of the dataset is one text of bytes: it has no rows, and every token stands for its bytes in a
// vocabulary, or is below 256 and so a byte itself.
bool is_byte_text(const Dataset& dataset);

// The bytes that tokens of the dataset stand for: those in the vocabulary; else one byte for each token if every token
// is below 256; else the tokens' own bytes. `own` keeps them if they are not in memory already, and must live as long.
std::span<const std::byte> bytes_of(const Dataset& dataset, const Tokens& tokens, std::string& own);

}  // namespace eggroll

#endif
