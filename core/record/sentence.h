// One sentence for the user from any exception.
#ifndef EGGROLL_RECORD_SENTENCE_H
#define EGGROLL_RECORD_SENTENCE_H

#include <string>

namespace eggroll {

// Call in a catch clause. Returns one sentence with a cure for the current exception. An Error brings its own sentence;
// exceptions of libraries know neither what was expected nor the cure.
std::string sentence_of_exception();

// Prints "WHO: SENTENCE" on standard error, as one line. If that fails, nothing happens.
void print_error(const std::string& who, const std::string& sentence);

}  // namespace eggroll

#endif
