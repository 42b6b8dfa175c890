// The sentences that a user gets for exceptions of libraries.
#include "record/sentence.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "eggroll/error.h"

namespace eggroll {
namespace {

template <class Throw>
std::string sentence_of(Throw&& what) {
  try {
    what();
  } catch (...) {
    return sentence_of_exception();
  }
  return "";
}

TEST(Sentence, AnErrorKeepsItsText) {
  EXPECT_EQ(sentence_of([] { throw Error("it is wrong; mend it"); }), "it is wrong; mend it");
}

TEST(Sentence, ExceptionsOfLibrariesGetACure) {
  EXPECT_EQ(
      sentence_of([] { (void)std::filesystem::canonical("/none/here"); }),
      "cannot use /none/here: No such file or directory; check that the path is right and that its folder exists");
  EXPECT_EQ(sentence_of([] { throw std::bad_alloc(); }),
            "the memory is used up; use a smaller model or population, or raise the limit (ulimit -v)");
  EXPECT_EQ(
      sentence_of([] { throw std::system_error(EAGAIN, std::generic_category()); }),
      "the system gives this process no more threads or memory; raise the limits (ulimit -u, ulimit -v) or ask for "
      "fewer threads with backend.threads");
  EXPECT_EQ(sentence_of([] { throw std::system_error(EIO, std::generic_category(), "x"); }),
            "the system refused something (x: Input/output error); check the disk and the limits of this process "
            "(ulimit -a)");
  EXPECT_EQ(sentence_of([] { nlohmann::json::parse("{\"a\":1}").at("b"); }),
            "a file of results has unexpected contents (key 'b' not found); report this as a bug");
  EXPECT_EQ(sentence_of([] { throw std::runtime_error("two\nlines"); }),
            "an unexpected error occurred (two lines); report this as a bug");
  EXPECT_EQ(sentence_of([] { throw 3; }), "an unexpected error occurred; report this as a bug");
}

}  // namespace
}  // namespace eggroll
