// Functions that the compiler makes twice, with and without AVX2.
#ifndef EGGROLL_SYSTEM_VECTOR_CLONES_H
#define EGGROLL_SYSTEM_VECTOR_CLONES_H

// GCC makes a second version of the function for AVX2. The choice between the two is made before the program begins.
// Both compute the same: no multiplication is contracted with an addition. The sanitizers of addresses and threads
// cannot run that early, so their builds have one version.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EGGROLL_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define EGGROLL_WIDE
#endif

#endif
