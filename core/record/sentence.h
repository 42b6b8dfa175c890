// What the user is told of an exception, whoever threw it.
#ifndef EGGROLL_RECORD_SENTENCE_H
#define EGGROLL_RECORD_SENTENCE_H

#include <string>

namespace eggroll {

// Call in a catch clause: one sentence of the exception in hand, with a cure. An Error's is its own; those of libraries
// know neither what was wanted nor the cure.
std::string sentence_of_exception();

// Prints "WHO: SENTENCE" on standard error, as one line. Where that cannot be written nothing happens.
void print_error(const std::string& who, const std::string& sentence);

}  // namespace eggroll

#endif
