#include "system/cpuinfo.h"

#include <gmock/gmock.h>

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;

TEST(CpuinfoTest, ReadsX86AndArm) {
  const Cpu x86 = parse_cpuinfo(
      "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse smep sse4_2 fma avx avx2 avx512_vnni "
      "f16c\nbugs\t\t:\n\n"
      "processor\t: 1\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse sse4_2 fma avx avx2 avx512_vnni f16c\n");
  EXPECT_EQ(x86.model, "AMD EPYC");
  EXPECT_EQ(x86.cores, 2U);
  EXPECT_THAT(x86.features, ElementsAre("sse4_2", "fma", "avx", "avx2", "avx512_vnni", "f16c"));

  const Cpu arm = parse_cpuinfo(
      "processor\t: 0\nFeatures\t: fp asimd evtstrm asimddp i8mm sve sme\nCPU implementer\t: 0x41\nCPU part\t: "
      "0xd40\n");
  EXPECT_EQ(arm.model, "implementer 0x41 part 0xd40");
  EXPECT_EQ(arm.cores, 1U);
  EXPECT_THAT(arm.features, ElementsAre("asimd", "asimddp", "i8mm", "sve", "sme"));

  EXPECT_EQ(parse_cpuinfo("").model, "unknown");
  EXPECT_EQ(parse_cpuinfo(":\n: x\nno colon\n").cores, 0U);
}

}  // namespace
}  // namespace eggroll::test
