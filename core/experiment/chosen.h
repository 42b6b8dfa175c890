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

class CommandLineValues {
 public:
  // overrides: those of the command line, which are known to compose. Each key of a map that they set counts alone.
  CommandLineValues(const ConfigSearch& search, const std::vector<std::string>& overrides);

  bool narrows() const { return !values_.empty(); }
  bool has(const std::string& key) const { return values_.contains(key); }

  // Whether the command line sets the key; said() then names it. text: the override that would vary the key. Throws
  // Error at source if the command line sets only a part of the key's value.
  bool fixes(const std::string& key, const Source& source, const std::string& text);

  // rows: the values of an axis, with one override each; of a zip, with one override for each of its axes; or listed
  // points. Returns the rows that agree with the command line. If none agrees and the command line sets every key of
  // the rows, returns the row that it sets. Throws Error at source if the command line sets too few of the keys, or
  // only a part of a value.
  std::vector<std::vector<std::string>> agreeing(std::vector<std::vector<std::string>> rows, const Source& source);

  // Adds "KEY is VALUE, as the command line says; the sweep has A, B".
  void say(const std::string& key, const std::string& value, const std::string& instead_of);
  // The sentences of say(), each once.
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
