// The kernels' product of a tile with a matrix, by itself.
#ifndef EGGROLL_TESTS_METAL_PRODUCTS_H
#define EGGROLL_TESTS_METAL_PRODUCTS_H

#include <cstdint>
#include <vector>

namespace eggroll::metal {

// x: (kTileRows, inputs); w: (kBlock, inputs); inputs: a multiple of kBlock. The kernel adds up block_inputs of them as
// float32. Returns sums, (kTileRows, kBlock).
std::vector<int32_t> shim_products(const std::vector<int8_t>& x, const std::vector<int8_t>& w, uint32_t inputs,
                                   uint32_t block_inputs);

}  // namespace eggroll::metal

#endif
