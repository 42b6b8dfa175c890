// A text as bytes, whatever its tokens are: what a compressor is given, and what n-grams are counted in.
#ifndef EGGROLL_DATA_BYTE_TEXT_H
#define EGGROLL_DATA_BYTE_TEXT_H

#include <cstddef>
#include <span>
#include <string>

#include "data/dataset.h"

namespace eggroll {

// Whether the dataset's parts are each one text of bytes: they are no rows, and every token stands for its bytes in a
// vocabulary or is below 256 and so a byte itself.
bool is_byte_text(const Dataset& dataset);

// The bytes that tokens of the dataset stand for: those in the vocabulary; one byte a token where every token is below
// 256; else the tokens' own bytes. `own` keeps them where they do not lie in memory already, and has to live as long.
std::span<const std::byte> bytes_of(const Dataset& dataset, const Tokens& tokens, std::string& own);

}  // namespace eggroll

#endif
