// A test that is skipped, and counted, if there is no GPU; and sessions for such tests.
#ifndef EGGROLL_TESTS_CUDA_GPU_TEST_H
#define EGGROLL_TESTS_CUDA_GPU_TEST_H

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "eggroll/backend.h"

namespace eggroll::cuda {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
};

// Replicas are compared after each update.
std::unique_ptr<Session> open_session(const egg_session_spec& spec, const std::vector<int>& devices);
// A session on one GPU that has memory for the noise of one block's tiles at a time.
std::unique_ptr<Session> open_session_in_pieces(const egg_session_spec& spec);
// A session on one GPU that makes a step's noise when it is read.
std::unique_ptr<Session> open_session_with_noise_in_time(const egg_session_spec& spec);
// A session on one GPU whose forward pass takes two blocks: there are more tiles than seats, so seats cut tiles.
std::unique_ptr<Session> open_session_of_two_blocks(const egg_session_spec& spec);

}  // namespace eggroll::cuda

#endif
