// The parts of Metal 4's tensors and products that the kernels use, in C++; see metal_stdlib beside this folder. There
// are only products of int8 with sums in int32.
#ifndef EGGROLL_TESTS_METAL_PERFORMANCE_PRIMITIVES_H
#define EGGROLL_TESTS_METAL_PERFORMANCE_PRIMITIVES_H

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "threadgroup.h"

// The names that clang-tidy must not check are Metal's.
namespace metal {

using std::array;

inline constexpr size_t dynamic_extent = std::numeric_limits<size_t>::max();  // NOLINT(readability-identifier-naming)

template <class Index, int kRank>
struct dextents {  // NOLINT(readability-identifier-naming)
  static_assert(kRank == 2);
  dextents(Index inner, Index outer) : at{inner, outer} {}
  Index at[2];
};

struct tensor_inline {};  // NOLINT(readability-identifier-naming)

// The inner dimension is the first.
template <class T, class Extents, class Place>
struct tensor {  // NOLINT(readability-identifier-naming)
  tensor(T* its_data, Extents its_extents, array<int32_t, 2> its_strides)
      : data(its_data), extents(its_extents), strides(its_strides) {}
  T& at(int32_t inner, int32_t outer) const { return data[int64_t{inner} * strides[0] + int64_t{outer} * strides[1]]; }
  T* data;
  Extents extents;
  array<int32_t, 2> strides;
};

template <int kCount>
struct execution_simdgroups {  // NOLINT(readability-identifier-naming)
  static_assert(kCount * eggroll::shim::kLanes == eggroll::shim::kThreads,
                "all of a threadgroup's simdgroups multiply");
};

}  // namespace metal

namespace mpp::tensor_ops {

struct matmul2d_descriptor {  // NOLINT(readability-identifier-naming)
  enum class mode { multiply, multiply_accumulate };
  constexpr matmul2d_descriptor(int its_m, int its_n, int its_k, bool left, bool right, bool relaxed, mode its_mode)
      : m(its_m), n(its_n), k(its_k), is_left(left), is_right(right), is_relaxed(relaxed), matmul_mode(its_mode) {}
  int m;
  int n;
  int k;
  bool is_left;
  bool is_right;
  bool is_relaxed;
  mode matmul_mode;
};

// Every thread has some of the numbers; kernels must not rely on which ones.
template <int kM, int kN>
struct Destination {
  static constexpr int kNumbers = kM * kN / static_cast<int>(eggroll::shim::kThreads);
  template <class Tensor>
  void store(const Tensor& to) const {
    for (int i = 0; i < kNumbers; ++i) {
      to.at(place(i) % kN, place(i) / kN) = numbers[i];
    }
  }
  int place(int i) const {
    constexpr int kThreads = static_cast<int>(eggroll::shim::kThreads);
    return i * kThreads + (thread_number * 97 + 13 * i + 5) % kThreads;  // 97 is odd, so every thread has its own
  }
  int32_t numbers[kNumbers];  // undefined before a product
  int thread_number;
};

template <matmul2d_descriptor kShape, class Execution>
struct matmul2d {  // NOLINT(readability-identifier-naming)
  static_assert(kShape.k == static_cast<int>(metal::dynamic_extent) && !kShape.is_left && kShape.is_right &&
                    !kShape.is_relaxed && kShape.matmul_mode == matmul2d_descriptor::mode::multiply,
                "the shim has this product alone");
  template <class Left, class Right, class Number>
  Destination<kShape.m, kShape.n> get_destination_cooperative_tensor() const {
    static_assert(std::is_same_v<Number, int32_t>);
    return {};
  }
  // There is no barrier: each thread reads the factors when it gets here.
  template <class Left, class Right>
  void run(const Left& left, const Right& right, Destination<kShape.m, kShape.n>& to) const {
    static_assert(std::is_same_v<decltype(Left::data), int8_t*> && std::is_same_v<decltype(Right::data), int8_t*>);
    const int32_t inputs = left.extents.at[0];
    to.thread_number = static_cast<int>(eggroll::shim::current_thread);
    for (int i = 0; i < Destination<kShape.m, kShape.n>::kNumbers; ++i) {
      const int at = to.place(i);
      int32_t sum = 0;
      for (int32_t k = 0; k < inputs; ++k) sum += left.at(k, at / kShape.n) * right.at(k, at % kShape.n);
      to.numbers[i] = sum;
    }
  }
};

}  // namespace mpp::tensor_ops

#endif
