// Datasets: the part for training, the held-out part, and the facts of both for a record.
#ifndef EGGROLL_DATA_DATASET_H
#define EGGROLL_DATA_DATASET_H

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/tokens.h"
#include "data/vocabulary.h"
#include "eggroll/settings.h"

namespace eggroll {

// No dataset has a token of 2^24 or more; a file that seems to is read with the wrong type.
inline constexpr uint32_t kMaxVocab = UINT32_C(1) << 24;

struct Dataset {
  std::string name;
  Tokens train;  // at least 2 tokens each
  Tokens valid;
  uint32_t vocab_needed = 0;                     // every token is below it
  std::shared_ptr<const Vocabulary> vocabulary;  // what each token stands for, if that is known and not a byte each
  std::optional<uint32_t> separator;             // the state resets before this token is read
  uint64_t train_row = 0;  // 0: one contiguous text; else rows of that many tokens, each from a zero state
  uint64_t valid_row = 0;
  std::string unit;              // what bits are counted by: "byte" or "token"
  std::string sha256;            // of the token bytes, train then valid, and then of the vocabulary's own sha256
  nlohmann::ordered_json facts;  // for the record: sizes, and entropy_rate_bits where the optimum is known

  // The number of units that the token, or all these tokens, count for: the bytes that a token stands for, or one.
  uint64_t units(uint32_t token) const { return vocabulary ? vocabulary->bytes(token).size() : 1; }
  uint64_t units(const Tokens& tokens) const;

  // sha256 of the held-out part's token bytes alone.
  std::string held_out_sha256() const;

  // Throws Error if a file that the tokens are mapped from has been written to since it was opened. Reads the bytes
  // again only if the file's times do not decide it.
  void require_unchanged() const;
};

// The names in the order in which messages give them.
std::vector<std::string> dataset_names();

// Reads every key of the dataset section; `name` picks the type. Errors begin with their key without the section
// ("path"), as those of Settings do.
Dataset open_dataset(Settings& settings);

// Makes the same checks of the settings without opening a file; path may be null.
void check_dataset(Settings& settings);

// Throws Error if a token is not below vocab, the model's vocabulary, or the dataset's vocabulary has another size.
void check_vocabulary(const Dataset& dataset, uint32_t vocab);

}  // namespace eggroll

#endif
