// The kernels' sources, compiled as C++.
#include "shim_kernels.h"

#include "metal_stdlib"
//
#include "adapter.h"
#include "forward.metal"
#include "masked.metal"
#include "rule.metal"
#include "votes.metal"

namespace eggroll::metal {

const ShimKernel kShimKernels[4] = {Adapter<&::forward>::kKernel, Adapter<&::votes>::kKernel, Adapter<&::rule>::kKernel,
                                    Adapter<&::masked>::kKernel};

}  // namespace eggroll::metal
