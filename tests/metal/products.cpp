#include "products.h"

#include "metal_stdlib"
//
#include "linear.h"

namespace eggroll::metal {

std::vector<int32_t> shim_products(const std::vector<int8_t>& x, const std::vector<int8_t>& w, uint32_t inputs,
                                   uint32_t block_inputs) {
  ForwardArgs args{};
  args.block_inputs = block_inputs;
  DeviceOp op{};
  op.in[0] = {0, inputs, inputs, 0};
  op.out = {0, kBlock, kBlock, 0};
  op.stride = inputs;
  std::vector<half> halves(w.size());
  for (uint32_t output = 0; output < kBlock; ++output) {
    for (uint32_t k = 0; k < inputs; ++k) {
      halves[half_place(output, k, inputs)] = half(static_cast<int32_t>(w[size_t{output} * inputs + k]));
    }
  }
  std::vector<int8_t> workspace = x;
  std::vector<float> scratch(kStaging / sizeof(float));
  std::vector<int32_t> result(size_t{kTileRows} * kBlock);
  shim::run_threadgroup(
      [&](uint32_t simdgroup, uint32_t lane) {
        Tile tile{};
        tile.args = &args;
        tile.halves = halves.data();
        tile.workspace = reinterpret_cast<uint8_t*>(workspace.data());
        tile.scratch = reinterpret_cast<uint8_t*>(scratch.data());
        tile.rows = kTileRows;
        tile.lane = lane;
        tile.simdgroup = simdgroup;
        int32_t sums[kSums] = {};
        multiply(tile, op, 0, sums);
        for (uint32_t i = 0; i < kSums; ++i) result[i * kThreads + tile.thread_number()] = sums[i];
      },
      1);
  return result;
}

}  // namespace eggroll::metal
