// The loop of most peaks: twelve multiply-adds, each into its own sum, more than latency times issue rate on any
// processor that has the instruction. MULTIPLY_ADD(sum) is one, of operand 13 with itself; operand 12 is free.
#ifndef EGGROLL_BENCH_PEAK_TWELVE_H
#define EGGROLL_BENCH_PEAK_TWELVE_H

// KIND: the constraint of the processor's registers, "w". Defines `name`, as Peak::run.
#define EGG_PEAK_OF_TWELVE(name, Vector, ONES, KIND)                                                                   \
  int64_t name(uint64_t rounds) {                                                                                      \
    const Vector ones = ONES;                                                                                          \
    Vector s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, s8{}, s9{}, s10{}, s11{}, free{};                           \
    for (uint64_t i = 0; i < rounds; ++i) {                                                                            \
      asm volatile(MULTIPLY_ADD(0) MULTIPLY_ADD(1) MULTIPLY_ADD(2) MULTIPLY_ADD(3) MULTIPLY_ADD(4) MULTIPLY_ADD(5)     \
                       MULTIPLY_ADD(6) MULTIPLY_ADD(7) MULTIPLY_ADD(8) MULTIPLY_ADD(9) MULTIPLY_ADD(10)                \
                           MULTIPLY_ADD(11)                                                                            \
                   : "+" KIND(s0), "+" KIND(s1), "+" KIND(s2), "+" KIND(s3), "+" KIND(s4), "+" KIND(s5), "+" KIND(s6), \
                     "+" KIND(s7), "+" KIND(s8), "+" KIND(s9), "+" KIND(s10), "+" KIND(s11), "=&" KIND(free)           \
                   : KIND(ones));                                                                                      \
    }                                                                                                                  \
    const Vector sums[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11};                                          \
    return sum_of_lanes(sums);                                                                                         \
  }

#endif
