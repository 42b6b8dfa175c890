// Faults that check_kernels.py must find, each planted alone behind the kernels; "//// NAME: REGEX" says by what words.
// Reserved words and names are planted by check_kernels.py itself.

//// type_as_parameter: the reserved word 'uint32_t'
inline int32_t fault(int32_t uint32_t) { return uint32_t; }

//// type_as_member: the reserved word 'half2'
struct Fault {
  int32_t half2;
};

//// word_as_macro: the reserved word 'NAN' is a macro here
#define NAN 0x7fc00000u

//// operator_with_a_namespace: the reserved word 'as_type'
inline float fault(uint32_t bits) { return metal::as_type<float>(bits); }

//// operator_of_another_size: no matching function for call to 'as_type'
inline uint64_t fault(float x) { return as_type<uint64_t>(x); }

//// header: '?.?stdint.h'? file not found
#include <stdint.h>

//// unknown_function: undeclared identifier 'popcount'
inline uint32_t fault(uint32_t x) { return popcount(x); }

//// ambiguous_overload: call to 'min' is ambiguous
inline uint32_t fault(uint32_t x, uint64_t y) { return min(x, y); }

//// sum_of_64_bits: call to 'simd_sum' is ambiguous
inline uint64_t fault(uint64_t x) { return simd_sum(x); }

//// pointer_without_space: the pointer or reference 'from' names no address space
inline int32_t fault(const int32_t* from) { return *from; }

//// pointer_to_a_pointer_without_space: the pointer or reference 'from' names no address space
inline int32_t fault(thread const int32_t** from) { return **from; }

//// array_without_space: the pointer or reference 'from' names no address space
inline int32_t fault(const int32_t from[4]) { return from[0]; }

//// template_without_space: the pointer or reference 'from' names no address space
template <class T>
inline T fault(const T& from) {
  return from;
}

//// reference_without_space: the pointer or reference 'from' names no address space
inline int32_t fault(int32_t& from) { return ++from; }

//// variable_without_space: the pointer or reference 'to' names no address space
inline int32_t fault() {
  int32_t x = 1;
  int32_t* to = &x;
  return *to;
}

//// member_without_space: the pointer or reference 'to' names no address space
struct Fault {
  const int32_t* to;
};

//// result_without_space: the pointer or reference 'fault' names no address space
inline int32_t* fault(thread int32_t* x) { return x; }

//// cast_without_space: the pointer or reference .* names no address space
inline uint32_t fault(thread float* x) { return *reinterpret_cast<uint32_t*>(x); }

//// device_as_thread: cannot initialize a variable of type .* with an lvalue of type
inline int32_t fault(device const int32_t* from) {
  thread const int32_t* to = from;
  return *to;
}

//// device_as_threadgroup: no matching function for call to 'fault'
inline int32_t fault(threadgroup const int32_t* from) { return *from; }
inline int32_t fault_call(device const int32_t* from) { return fault(from); }

//// cast_between_spaces: reinterpret_cast from .* is not allowed
inline uint32_t fault(device float* x) { return *reinterpret_cast<threadgroup uint32_t*>(x); }

//// old_cast_between_spaces: use of old-style cast
inline uint32_t fault(device float* x) { return *(threadgroup uint32_t*)x; }

//// constant_written: (read-only variable|const-qualified type)
inline void fault(constant uint32_t& x) { x = 1; }

//// global: the variable 'calls' is not of a function, and not constant
uint32_t calls = 0;

//// global_constexpr: the variable 'kFault' is not of a function, and not constant
constexpr uint32_t kFault = 3;

//// static_member: the variable 'kFault' is not of a function, and not constant
struct Fault {
  static constexpr uint32_t kFault = 3;
};

//// static_variable: the variable 'calls' of a function is static
inline uint32_t fault() {
  static uint32_t calls = 0;
  return ++calls;
}

//// threadgroup_variable: automatic variable qualified with an address space
inline uint32_t fault() {
  threadgroup uint32_t keys[32];
  return keys[0];
}

//// double_literal: there is no double in Metal
inline float fault(float x) { return x * 0.5; }

//// long_long: there is no long long in Metal
inline uint64_t fault(uint64_t x) { return x + 1ull; }

//// recursion: the function 'fault' calls itself
inline uint32_t fault(uint32_t x) { return x == 0 ? 0 : fault(x - 1); }

//// recursion_by_way_of_another: the function 'fault\w*' calls itself
inline uint32_t fault(uint32_t x);
inline uint32_t fault_template(uint32_t x) { return x == 0 ? 0 : fault(x); }
inline uint32_t fault(uint32_t x) { return fault_template(x - 1); }

//// recursion_of_a_template: the function 'fault' calls itself
template <class T>
inline T fault(T x) {
  return x == 0 ? 0 : fault(x - 1);
}
inline uint32_t fault_call(uint32_t x) { return fault(x); }

//// recursion_of_a_member: the function 'sum' calls itself
struct Fault {
  uint32_t sum(uint32_t x) const { return x == 0 ? 0 : sum(x - 1); }
};

//// derived_struct: struct FaultChild is derived from another
struct Fault {
  uint32_t x;
};
struct FaultChild : Fault {
  uint32_t y;
};

//// function_pointer: a pointer to a function is used
inline uint32_t fault(uint32_t x) { return x; }
inline uint32_t fault_call(uint32_t x) {
  uint32_t (*call)(uint32_t) = fault;
  return call(x);
}

//// function_as_argument: a pointer to a function is used
inline uint32_t fault(uint32_t x) { return x; }
template <class Function>
inline uint32_t fault_call(Function function, uint32_t x) {
  return function(x);
}
inline uint32_t fault_calls(uint32_t x) { return fault_call(fault, x); }

//// lambda: a lambda is used
inline uint32_t fault(uint32_t x) {
  const auto next = [](uint32_t y) { return y + 1; };
  return next(x);
}

//// array_of_variable_length: variable length array
inline uint32_t fault(uint32_t n) {
  uint32_t values[n];
  values[0] = n;
  return values[0];
}

//// arguments_too_large: Fault& args .* has more than 4096 bytes
struct Fault {
  uint32_t values[1025];
};
kernel void fault(constant Fault& args [[buffer(0)]]) {}

//// index_too_large: has an index above 30
kernel void fault(device uint32_t* x [[buffer(31)]]) {}

//// index_used_twice: duplicate case value
kernel void fault(device uint32_t* x [[buffer(kBindVotes)]], device uint32_t* y [[buffer(kBindVotes)]]) {}

//// buffer_without_attribute: the parameter 'device uint32_t\* x' has no attribute
kernel void fault(device uint32_t* x) {}

//// number_without_attribute: the parameter 'uint32_t lane' has no attribute
kernel void fault(device uint32_t* x [[buffer(0)]], uint32_t lane) {}

//// number_as_buffer: the parameter 'uint32_t x .*' is not what Metal passes to a kernel
kernel void fault(uint32_t x [[buffer(0)]]) {}

//// unknown_attribute: the parameter 'uint32_t lane .*' is not what Metal passes to a kernel
kernel void fault(uint32_t lane [[thread_index_in_warp]]) {}

//// threadgroup_as_buffer: the parameter 'threadgroup uint32_t\* x .*' is not what Metal passes to a kernel
kernel void fault(threadgroup uint32_t* x [[buffer(0)]]) {}

//// kernel_with_a_result: a kernel is not `kernel void name\(...\)`
kernel uint32_t fault(device uint32_t* x [[buffer(0)]]) { return x[0]; }

//// too_many_threads: a threadgroup has at most 1024 threads
[[max_total_threads_per_threadgroup(2048)]] kernel void fault(device uint32_t* x [[buffer(0)]]) {}

//// attribute_of_a_function: unknown attribute 'fault' ignored
[[fault]] inline void fault() {}

//// matrix_of_another_size: (undefined|incomplete)
inline void fault() { make_filled_simdgroup_matrix<float, 16, 16>(0.0f); }

//// matrix_from_the_wrong_memory: no matching function for call to 'simdgroup_load'
inline void fault(thread half* from) {
  simdgroup_half8x8 x;
  simdgroup_load(x, from);
}

//// atomic_as_number: (no viable|invalid operands|cannot increment|no match)
inline void fault(device atomic_uint* x) { ++*x; }

//// int8_units_of_halves: implicit instantiation of undefined template 'mpp::tensor_ops::Destination<int
inline void fault(device half* x) {
  typedef tensor<device half, dextents<int32_t, 2>, tensor_inline> Rows;
  constexpr auto shape = matmul2d_descriptor(64, 64, -1, false, true, false, matmul2d_descriptor::mode::multiply);
  matmul2d<shape, execution_simdgroups<8>> product;
  auto sums = product.get_destination_cooperative_tensor<Rows, Rows, int32_t>();
}

//// int8_units_in_another_space: no matching constructor for initialization of 'Rows'
inline void fault(threadgroup int8_t* x) {
  typedef tensor<device int8_t, dextents<int32_t, 2>, tensor_inline> Rows;
  Rows rows(x, dextents<int32_t, 2>(64, 64), array<int32_t, 2>{1, 64});
}
