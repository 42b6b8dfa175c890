// What of a compiler's output reaches a plan, which is one short line, and an error.
#include "compiler_message.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "device.h"
#include "eggroll/error.h"

namespace eggroll::metal {
namespace {

TEST(CompilerMessage, IsTheFirstErrorOnOneLine) {
  const std::string warnings(3000, 'w');
  EXPECT_EQ(
      first_error("program_source:1:2: warning: " + warnings +
                      "\nprogram_source:3:4: error: no \t \xe2\x80\x98tensor\xe2\x80\x99\n  code\n5: error: more\n",
                  200),
      "program_source:3:4: error: no      tensor   ");
  EXPECT_EQ(first_error("no device\nmore", 200), "no device");
  EXPECT_EQ(first_error("", 200), "");
  EXPECT_EQ(first_error("error: " + warnings, 20), "error: wwwwwwwwwwwww");
}

TEST(CompilerMessage, TheUnitsAreThoseThatTheEnvironmentNames) {
  unsetenv("EGGROLL_METAL_UNITS");
  EXPECT_EQ(wanted_units(), MatrixUnits::kAuto);
  setenv("EGGROLL_METAL_UNITS", "int8", 1);
  EXPECT_EQ(wanted_units(), MatrixUnits::kInt8);
  setenv("EGGROLL_METAL_UNITS", "half", 1);
  EXPECT_EQ(wanted_units(), MatrixUnits::kHalf);
  setenv("EGGROLL_METAL_UNITS", "int4", 1);
  try {
    wanted_units();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "EGGROLL_METAL_UNITS is 'int4', expected int8, half or nothing; unset it");
  }
  unsetenv("EGGROLL_METAL_UNITS");
}

}  // namespace
}  // namespace eggroll::metal
