// Tables that a token reads by the hash of the last tokens or words, as models let a configuration list them:
// [{tokens: 1}, {tokens: 2, rows: 4096}, {words: 1, rows: 16384}]. A single token needs no hash: its row is its own.
#ifndef EGGROLL_MODELS_COMMON_CONTEXT_TABLES_H
#define EGGROLL_MODELS_COMMON_CONTEXT_TABLES_H

#include <string>
#include <vector>

#include "eggroll/program_builder.h"
#include "eggroll/settings.h"

namespace eggroll {

class ContextTables {
 public:
  // Reads the list of that key. Throws Error if an entry is wrong.
  ContextTables(Settings& settings, const std::string& key, int32_t vocab) {
    entries_.resize(settings.elements(key));
    for (size_t i = 0; i < entries_.size(); ++i) {
      entries_[i] = read(settings, key + "." + std::to_string(i), vocab);
    }
  }

  // x with a row of each table added to it. Tables and values are called name0, name1, ...
  Value add_to(ProgramBuilder& builder, Value x, const std::string& name, int32_t init_std) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      const std::string own = name + std::to_string(i);
      const auto [tokens, words, rows] = entries_[i];
      const Param table = builder.matrix(own + ".w", rows, builder.size(x), init_std);
      const Index index = tokens == 1 ? Index{}
                          : words > 0 ? builder.index_by_words(words, rows)
                                      : builder.index(tokens, rows);
      x = builder.embed(own, table, index, x);
    }
    return x;
  }

 private:
  struct Entry {
    int32_t tokens;
    int32_t words;
    int32_t rows;
  };

  static Entry read(Settings& settings, const std::string& entry, int32_t vocab) {
    const bool by_words = settings.has(entry + ".words");
    if (by_words == settings.has(entry + ".tokens")) {
      throw setting_error(entry,
                          entry + (by_words ? " has both tokens and words, expected one of the two; remove one"
                                            : " has neither tokens nor words, expected one of the two; add one"));
    }
    if (by_words && vocab != 256) {
      throw setting_error(entry + ".words", entry + ".words is set for a vocabulary of " + std::to_string(vocab) +
                                                ", expected one of 256, where a token is a byte; give the entry tokens "
                                                "in place of words");
    }
    const int32_t words = by_words ? settings.int32(entry + ".words", 1, EGG_INDEX_WORDS_MAX) : 0;
    const int32_t tokens = by_words ? 0 : settings.int32(entry + ".tokens", 1, EGG_INDEX_TOKENS_MAX);
    if (tokens == 1) return {tokens, words, vocab};
    const int32_t rows = settings.int32(entry + ".rows", 2, 1 << 24);
    if ((rows & (rows - 1)) != 0) {
      int32_t power = 2;
      while (power * 2 < rows) power *= 2;
      throw setting_error(entry + ".rows", entry + ".rows is " + std::to_string(rows) +
                                               ", expected a power of two; use " + std::to_string(power) + " or " +
                                               std::to_string(2 * power));
    }
    return {tokens, words, rows};
  }

  std::vector<Entry> entries_;
};

}  // namespace eggroll

#endif
