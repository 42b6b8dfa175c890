// The kernels' sources, compiled as C++.
#include "shim_kernels.h"

#include "metal_stdlib"
//
#include "adapter.h"
#include "draws.metal"
#include "forward.metal"
#include "masked.metal"
#include "rule.metal"
#include "site_rows.metal"
#include "site_votes.metal"
#include "votes.metal"

namespace eggroll::metal {

const ShimKernel kShimKernels[9] = {
    Adapter<&::forward>::kKernel,    Adapter<&::votes>::kKernel,       Adapter<&::rule>::kKernel,
    Adapter<&::masked>::kKernel,     Adapter<&::draws>::kKernel,       Adapter<&::site_errors>::kKernel,
    Adapter<&::site_votes>::kKernel, Adapter<&::site_pieces>::kKernel, Adapter<&::site_rows>::kKernel};

}  // namespace eggroll::metal
