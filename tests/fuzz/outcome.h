// Properties of any reader: it reads its input, or refuses it with our own error.
#ifndef EGGROLL_TESTS_FUZZ_OUTCOME_H
#define EGGROLL_TESTS_FUZZ_OUTCOME_H

#include <cstdio>
#include <cstdlib>
#include <string>

#include "eggroll/error.h"

namespace eggroll::test {

// Aborts, which the fuzzer takes for a finding.
inline void require(bool holds, const std::string& sentence) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", sentence.c_str());
  std::abort();
}

// Returns whether the call ends without an Error. Other exceptions are findings.
template <class Call>
bool accepts(Call&& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "an error without a text");
    return false;
  }
}

// For calls after an input was read: they must succeed.
template <class Call>
void must_accept(const char* what, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    require(false, std::string(what) + " is refused: " + error.what());
  }
}

}  // namespace eggroll::test

#endif
