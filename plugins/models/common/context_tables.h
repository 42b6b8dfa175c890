// Tables that a token reads by the hash of the last ones, as models let a configuration list them:
// [{tokens: 1}, {tokens: 2, rows: 4096}, {tokens: 3, rows: 16384}]. A single token needs no hash: its row is its own.
#ifndef EGGROLL_MODELS_COMMON_CONTEXT_TABLES_H
#define EGGROLL_MODELS_COMMON_CONTEXT_TABLES_H

#include <string>
#include <vector>

#include "eggroll/program_builder.h"
#include "eggroll/settings.h"

namespace eggroll {

class ContextTables {
 public:
  // Reads the list of that key. Throws Error where an entry is wrong.
  ContextTables(Settings& settings, const std::string& key) {
    entries_.resize(settings.elements(key));
    for (size_t i = 0; i < entries_.size(); ++i) {
      const std::string entry = key + "." + std::to_string(i) + ".";
      entries_[i].tokens = settings.int32(entry + "tokens", 1, EGG_INDEX_TOKENS_MAX);
      if (entries_[i].tokens == 1) continue;
      entries_[i].rows = settings.int32(entry + "rows", 2, 1 << 24);
      if ((entries_[i].rows & (entries_[i].rows - 1)) == 0) continue;
      int32_t power = 2;
      while (power * 2 < entries_[i].rows) power *= 2;
      throw setting_error(entry + "rows", entry + "rows is " + std::to_string(entries_[i].rows) +
                                              ", expected a power of two; use " + std::to_string(power) + " or " +
                                              std::to_string(2 * power));
    }
  }

  // x with a row of each table added to it. Tables and values are called name0, name1, ...
  Value add_to(ProgramBuilder& builder, Value x, const std::string& name, int32_t vocab, int32_t init_std) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      const std::string own = name + std::to_string(i);
      const bool by_token = entries_[i].tokens == 1;
      const int32_t rows = by_token ? vocab : entries_[i].rows;
      const Param table = builder.matrix(own + ".w", rows, builder.size(x), init_std);
      x = builder.embed(own, table, by_token ? Index{} : builder.index(entries_[i].tokens, rows), x);
    }
    return x;
  }

 private:
  struct Entry {
    int32_t tokens;
    int32_t rows;
  };
  std::vector<Entry> entries_;
};

}  // namespace eggroll

#endif
