#include "gpu_test.h"

#include <cuda_runtime.h>

namespace eggroll::cuda {

void GpuTest::SetUp() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "there is no GPU here";
}

}  // namespace eggroll::cuda
