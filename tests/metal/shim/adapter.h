// A kernel as the shim calls it.
#ifndef EGGROLL_TESTS_METAL_ADAPTER_H
#define EGGROLL_TESTS_METAL_ADAPTER_H

#include <array>
#include <tuple>
#include <utility>

#include "layout.h"
#include "shim_kernels.h"

namespace eggroll::metal {

// Adapts a kernel (arguments, buffers..., threadgroup memory, group, lane, simdgroup).
template <auto kFunction>
struct Adapter;

template <class Arguments, class... Rest, void (*kFunction)(const Arguments&, Rest...)>
struct Adapter<kFunction> {
  using Parameters = std::tuple<Rest...>;
  using Indices = std::make_index_sequence<sizeof...(Rest) - 4>;

  template <size_t... kIndex>
  static void run_with(const ShimCall& call, uint32_t simdgroup, uint32_t lane, std::index_sequence<kIndex...>) {
    kFunction(*static_cast<const Arguments*>(call.buffers[kBindArguments]),
              std::tuple_element_t<kIndex, Parameters>(call.buffers)..., call.scratch, call.group, lane, simdgroup);
  }
  static void run(const ShimCall& call, uint32_t simdgroup, uint32_t lane) {
    run_with(call, simdgroup, lane, Indices());
  }
  template <size_t... kIndex>
  static constexpr std::array<int, sizeof...(kIndex)> bindings(std::index_sequence<kIndex...>) {
    return {std::tuple_element_t<kIndex, Parameters>::kBinding...};
  }
  static constexpr auto kBindings = bindings(Indices());
  static constexpr ShimKernel kKernel{sizeof(Arguments), kBindings, &run};
};

}  // namespace eggroll::metal

#endif
