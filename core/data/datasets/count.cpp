// Rows of next = (current + 1) mod vocab from a random phase. A quarter of the phases, none if vocab is below 4,
// occurs in held-out rows alone; these rows have no other phase and are twice as long.
#include <algorithm>
#include <numeric>

#include "data/datasets.h"
#include "data/generated.h"

namespace eggroll {
namespace {

struct CountOptions {
  uint32_t vocab = 0;       // 2 to 65536
  uint32_t length = 0;      // tokens read of a training row: rows have length + 1, held-out ones 2 * length + 1
  uint32_t rows = 0;        // at least 1
  uint32_t valid_rows = 0;  // at least 1
  uint64_t seed = 0;
};

void check_size(const char* key, uint64_t rows, uint64_t row) {
  if (rows * row <= kMaxGeneratedTokens) return;
  throw setting_error(key, fmt::format("{} is {} rows of {} tokens, expected at most {} tokens in all; set "
                                       "dataset.{} to {} or less",
                                       key, rows, row, kMaxGeneratedTokens, key, kMaxGeneratedTokens / row));
}

Tokens count_rows(const CountOptions& options, const std::vector<uint32_t>& phases, uint32_t rows, uint32_t row,
                  DrawPurpose purpose) {
  const uint64_t key = draw_key(options.seed, purpose);
  std::vector<uint32_t> values;
  values.reserve(size_t{rows} * row);
  for (uint32_t r = 0; r < rows; ++r) {
    uint32_t token = phases[draw_below(static_cast<uint32_t>(phases.size()), key, r)];
    for (uint32_t t = 0; t < row; ++t) {
      values.push_back(token);
      token = token + 1 == options.vocab ? 0 : token + 1;
    }
  }
  return generated_tokens(values, options.vocab, "count");
}

Dataset count_dataset(const CountOptions& options) {
  Dataset dataset;
  dataset.unit = "token";
  dataset.vocab_needed = options.vocab;
  dataset.train_row = uint64_t{options.length} + 1;
  dataset.valid_row = 2 * uint64_t{options.length} + 1;
  check_size("rows", options.rows, dataset.train_row);
  check_size("valid_rows", options.valid_rows, dataset.valid_row);

  const uint64_t key = draw_key(options.seed, DrawPurpose::kTask);
  const uint32_t held_out = options.vocab / 4;
  std::vector<uint32_t> shuffled(options.vocab);
  std::iota(shuffled.begin(), shuffled.end(), 0U);
  for (uint32_t i = 0; i < held_out; ++i) std::swap(shuffled[i], shuffled[i + draw_below(options.vocab - i, key, i)]);
  const auto middle = shuffled.begin() + held_out;
  const std::vector<uint32_t> train_phases(middle, shuffled.end());
  const std::vector<uint32_t> valid_phases(shuffled.begin(), held_out > 0 ? middle : shuffled.end());

  dataset.train =
      count_rows(options, train_phases, options.rows, static_cast<uint32_t>(dataset.train_row), DrawPurpose::kTrain);
  dataset.valid = count_rows(options, valid_phases, options.valid_rows, static_cast<uint32_t>(dataset.valid_row),
                             DrawPurpose::kValid);
  dataset.facts["train_tokens"] = dataset.train.size();
  dataset.facts["valid_tokens"] = dataset.valid.size();
  dataset.facts["held_out_phases"] = held_out;
  dataset.facts["entropy_rate_bits"] = 0.0;
  return dataset;
}

}  // namespace

DatasetOpener datasets::count(Settings& settings) {
  CountOptions options;
  options.vocab = static_cast<uint32_t>(settings.integer("vocab", 2, 65536));
  options.length = static_cast<uint32_t>(settings.integer("length", 1, kMaxGeneratedTokens / 4));
  options.rows = static_cast<uint32_t>(settings.integer("rows", 1, kMaxGeneratedTokens / 2));
  options.valid_rows = static_cast<uint32_t>(settings.integer("valid_rows", 1, kMaxGeneratedTokens / 4));
  options.seed = read_seed(settings);
  return [options] { return count_dataset(options); };
}

}  // namespace eggroll
