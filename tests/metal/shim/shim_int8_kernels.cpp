// The forward pass for int8 matrix units, compiled as C++ beside the one for halves: in a namespace, because both have
// functions of the same names.
#include "metal_stdlib"
//
#include "MetalPerformancePrimitives/MetalPerformancePrimitives.h"
#include "adapter.h"
#include "eggroll/noise.h"
#include "eggroll/ops.h"
#include "layout.h"

#define EGG_INT8_UNITS
namespace int8_units {
#include "forward.metal"
}  // namespace int8_units

namespace eggroll::metal {

const ShimKernel kShimInt8Forward = Adapter<&::int8_units::forward>::kKernel;

}  // namespace eggroll::metal
