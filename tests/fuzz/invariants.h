// Properties of any configuration: what was read survives being printed.
#ifndef EGGROLL_TESTS_FUZZ_INVARIANTS_H
#define EGGROLL_TESTS_FUZZ_INVARIANTS_H

#include <string>

#include "config/hash.h"
#include "config/value.h"
#include "config/yaml.h"
#include "fuzz/outcome.h"

namespace eggroll::test {

// Returns whether the call ends without an Error. An Error must have the code EGG_ERROR_CONFIG.
template <class Call>
bool succeeds(Call&& call) {
  return accepts([&] {
    try {
      call();
    } catch (const Error& error) {
      require(error.code() == EGG_ERROR_CONFIG, std::string("the error ") + error.what());
      throw;
    }
  });
}

inline void require_printable(const ConfigNode& tree) {
  const std::string yaml = to_yaml(tree);
  const std::string line = to_line(tree);
  require(succeeds([&] { require(parse_yaml(yaml, "printed.yaml") == tree, "another tree from\n" + yaml); }),
          "refused is\n" + yaml);
  require(
      succeeds([&] { require(parse_yaml(to_yaml(tree, true), "sources.yaml") == tree, "sources change\n" + yaml); }),
      "refused is with sources\n" + yaml);
  require(succeeds([&] {
            require(parse_element(line, {"printed", 0}) == tree, "another tree from " + line);
          }),
          "refused is " + line);
  json_hash(to_json(tree), {});
}

}  // namespace eggroll::test

#endif
