// A test that is skipped, and counted, where there is no GPU.
#ifndef EGGROLL_TESTS_CUDA_GPU_TEST_H
#define EGGROLL_TESTS_CUDA_GPU_TEST_H

#include <gtest/gtest.h>

namespace eggroll::cuda {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace eggroll::cuda

#endif
