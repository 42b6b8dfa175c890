// Datasets: what is read in training, what is held out, and what a record says of them.
#ifndef EGGROLL_DATA_DATASET_H
#define EGGROLL_DATA_DATASET_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data/tokens.h"
#include "eggroll/settings.h"

namespace eggroll {

// No dataset has a token of 2^24 or more; a file that seems to is read with the wrong type.
inline constexpr uint32_t kMaxVocab = UINT32_C(1) << 24;

struct Dataset {
  std::string name;  // text, tokens, count or markov
  Tokens train;      // at least 2 tokens each
  Tokens valid;
  uint32_t vocab_needed = 0;          // every token is below it
  std::optional<uint32_t> separator;  // the state resets before this token is read
  uint64_t train_row = 0;             // 0: one contiguous text; else rows of that many tokens, each from a zero state
  uint64_t valid_row = 0;
  std::string unit;              // what a token is: "byte" or "token"
  std::string sha256;            // of the token bytes, train then valid, in hexadecimal
  nlohmann::ordered_json facts;  // for the record: sizes, and entropy_rate_bits where the optimum is known
};

// Reads every key of the dataset section; `name` picks the type. Errors begin with their key, named without the section
// ("path"), as those of Settings do.
Dataset open_dataset(Settings& settings);

// Error: a token is not below vocab, the model's vocabulary.
void check_vocabulary(const Dataset& dataset, uint32_t vocab);

}  // namespace eggroll

#endif
