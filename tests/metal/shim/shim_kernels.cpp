// The kernels' sources, compiled as C++.
#include "shim_kernels.h"

#include <tuple>
#include <utility>

#include "metal_stdlib"
//
#include "forward.metal"
#include "masked.metal"
#include "rule.metal"
#include "votes.metal"

namespace eggroll::metal {
namespace {

// Adapts a kernel (arguments, buffers..., threadgroup memory, group, lane, simdgroup).
template <auto kFunction>
struct Adapter;

template <class Arguments, class... Rest, void (*kFunction)(const Arguments&, Rest...)>
struct Adapter<kFunction> {
  using Parameters = std::tuple<Rest...>;
  static constexpr size_t kBuffers = sizeof...(Rest) - 4;

  template <size_t... kIndex>
  static void run_with(const ShimCall& call, uint32_t simdgroup, uint32_t lane, std::index_sequence<kIndex...>) {
    kFunction(*static_cast<const Arguments*>(call.buffers[0]),
              static_cast<std::tuple_element_t<kIndex, Parameters>>(call.buffers[kIndex + 1])..., call.scratch,
              call.group, lane, simdgroup);
  }
  static void run(const ShimCall& call, uint32_t simdgroup, uint32_t lane) {
    run_with(call, simdgroup, lane, std::make_index_sequence<kBuffers>());
  }
  static constexpr ShimKernel kKernel{sizeof(Arguments), kBuffers, &run};
};

}  // namespace

const ShimKernel kShimKernels[4] = {Adapter<&::forward>::kKernel, Adapter<&::votes>::kKernel, Adapter<&::rule>::kKernel,
                                    Adapter<&::masked>::kKernel};

}  // namespace eggroll::metal
