// What must hold of any input: it is read or refused with our own error, and what was read survives being printed.
#ifndef EGGROLL_TESTS_FUZZ_INVARIANTS_H
#define EGGROLL_TESTS_FUZZ_INVARIANTS_H

#include <cstdio>
#include <cstdlib>
#include <string>

#include "config/hash.h"
#include "config/value.h"
#include "config/yaml.h"
#include "eggroll/error.h"

namespace eggroll::test {

// Aborts, which the fuzzer takes for a finding.
inline void require(bool holds, const std::string& sentence) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", sentence.c_str());
  std::abort();
}

// Whether the call ends without an Error; other exceptions pass and are findings.
template <class Call>
bool succeeds(Call&& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    require(error.code() == EGG_ERROR_CONFIG && error.what()[0] != '\0', std::string("the error ") + error.what());
    return false;
  }
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
  config_hash(tree, {});
}

}  // namespace eggroll::test

#endif
