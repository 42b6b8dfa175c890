// Measures what softmax descent in float32 learns from a text, read once on one core, with tables like those of
// experiment=tables: a row of each is chosen by the project's hash of the last bytes, and the rows' sum is the logits.
//
//   build/release/bin/softmax_descent english-train.bin english-valid.bin 0.2 0.15 1:256 2:65536 3:262144 4:262144
//     5:262144 6:262144
//
// The numbers are the rate and the initial value of Adagrad, in nats as in backpropagation.py, which descends by steps
// of many bytes where this does so by each byte; and the tables, bytes of context and rows. A row of one byte is its
// own. It prints held-out bits per byte, every byte but the first scored once with all that lies before it, and the
// seconds; those of results/0.2/yardsticks-core.csv are of a build with -march=native.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "eggroll/noise.h"

namespace {

constexpr size_t kVocab = 256;
constexpr size_t kLanes = 16;  // separate sums, so that the compiler need not change the order of additions

struct Table {
  uint32_t tokens;
  uint32_t rows;
  std::vector<float> weights;
  std::vector<float> squares;
  size_t row = 0;  // where it begins, at the current byte
};

std::vector<uint8_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s cannot be read, expected a text; check the path\n", path);
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// e^x of x <= 0, to a part in 2^18.
inline float exponential(float x) {
  const float power = x < -80.0F ? -115.4F : x * 1.44269504F;
  const auto whole = static_cast<int32_t>(power - 0.5F);  // the nearest
  const float y = (power - static_cast<float>(whole)) * 0.693147181F;
  const float series =
      1 + y * (1 + y * (0.5F + y * (0.16666667F + y * (0.041666667F + y * (0.0083333333F + y * 0.0013888889F)))));
  return series * std::bit_cast<float>((whole + 127) << 23);
}

class Tables {
 public:
  Tables(float rate, float initial, std::vector<Table> tables) : rate_(rate), tables_(std::move(tables)) {
    for (Table& table : tables_) {
      table.weights.assign(size_t{table.rows} * kVocab, 0.0F);
      table.squares.assign(table.weights.size(), initial);
    }
  }

  // Bits of byte i of the text.
  double score(const std::vector<uint8_t>& text, size_t i) {
    find_rows(text, i);
    for (float& logit : probabilities_) logit = 0;
    for (const Table* table : read_) {
      for (size_t s = 0; s < kVocab; ++s) probabilities_[s] += table->weights[table->row + s];
    }
    float top[kLanes];
    for (size_t s = 0; s < kLanes; ++s) top[s] = probabilities_[s];
    for (size_t s = 0; s < kVocab; ++s) top[s % kLanes] = std::max(top[s % kLanes], probabilities_[s]);
    float largest = top[0];
    for (const float each : top) largest = std::max(largest, each);
    float sums[kLanes] = {};
    for (size_t s = 0; s < kVocab; s += kLanes) {
      for (size_t k = 0; k < kLanes; ++k) {
        probabilities_[s + k] = exponential(probabilities_[s + k] - largest);
        sums[k] += probabilities_[s + k];
      }
    }
    float sum = 0;
    for (const float each : sums) sum += each;
    for (float& each : probabilities_) each /= sum;
    return -std::log2(static_cast<double>(std::max(probabilities_[text[i]], 1e-30F)));
  }

  // Updates the rows that score() has read.
  void descend(uint8_t target) {
    probabilities_[target] -= 1;
    for (Table* table : read_) {
      float* const weights = table->weights.data() + table->row;
      float* const squares = table->squares.data() + table->row;
      for (size_t s = 0; s < kVocab; ++s) {
        const float gradient = probabilities_[s];
        squares[s] += gradient * gradient;
        weights[s] -= rate_ * gradient / std::sqrt(squares[s]);
      }
    }
  }

 private:
  void find_rows(const std::vector<uint8_t>& text, size_t i) {
    read_.clear();
    for (Table& table : tables_) {
      if (i < table.tokens) continue;
      uint64_t hash = 0;
      for (size_t j = 1; j <= table.tokens; ++j) hash = egg_absorb(hash, text[i - j]);
      const uint32_t row = table.tokens == 1 ? text[i - 1] : static_cast<uint32_t>(hash) & (table.rows - 1);
      table.row = size_t{row} * kVocab;
      read_.push_back(&table);
    }
  }

  float rate_;
  std::vector<Table> tables_;
  std::vector<Table*> read_;
  float probabilities_[kVocab] = {};
};

}  // namespace

int main(int count, char** words) {
  std::vector<Table> tables;
  for (int i = 5; i < count; ++i) {
    Table table{};
    if (std::sscanf(words[i], "%u:%u", &table.tokens, &table.rows) == 2) tables.push_back(table);
  }
  if (count < 6 || tables.size() != static_cast<size_t>(count - 5)) {
    std::fprintf(stderr, "softmax_descent takes TRAIN VALID RATE INITIAL TOKENS:ROWS ...; see its source\n");
    return 1;
  }
  const std::vector<uint8_t> train = read(words[1]);
  const std::vector<uint8_t> valid = read(words[2]);
  Tables model(std::strtof(words[3], nullptr), std::strtof(words[4], nullptr), std::move(tables));
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 1; i < train.size(); ++i) {
    model.score(train, i);
    model.descend(train[i]);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  double bits = 0;
  for (size_t i = 1; i < valid.size(); ++i) bits += model.score(valid, i);
  std::printf("%zu bytes once in %.1f s, held out %.4f bits per byte\n", train.size(), seconds.count(),
              bits / static_cast<double>(valid.size() - 1));
}
