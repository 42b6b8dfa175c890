// The command line's values for keys that a sweep varies. They win over the sweep's, as in Hydra.
#ifndef EGGROLL_EXPERIMENT_CHOSEN_H
#define EGGROLL_EXPERIMENT_CHOSEN_H

#include <map>
#include <string>
#include <vector>

#include "config/compose.h"
#include "config/tree.h"

namespace eggroll {

// Whether the two are one value of an axis, as 1000 and 1e3 are.
bool is_same_value(const ConfigNode& a, const ConfigNode& b);

class Chosen {
 public:
  // The overrides of the command line, which compose. A map's keys count one by one.
  Chosen(const ConfigSearch& search, const std::vector<std::string>& overrides);

  bool narrows() const { return !values_.empty(); }
  bool has(const std::string& key) const { return values_.contains(key); }

  // rows: the values of an axis, one override each; of a zip, one override for each of its axes; or listed points.
  // Those that agree with the command line; where none does and it gives each key of a row, that. Throws Error at
  // source where it says too little, or sets a part of a value of the rows.
  std::vector<std::vector<std::string>> agreeing(std::vector<std::vector<std::string>> rows, const Source& source);

  // Adds "KEY is VALUE, as the command line says; the sweep has A, B".
  void say(const std::string& key, const std::string& value, const std::string& instead_of);
  // What was said, each sentence once.
  const std::vector<std::string>& said() const { return said_; }

 private:
  void set(const std::string& key, const ConfigNode& value);
  void require_whole(const std::string& key, const Source& source) const;

  const ConfigSearch& search_;
  std::map<std::string, ConfigNode> values_;
  std::vector<std::string> said_;
};

}  // namespace eggroll

#endif
