// Resident memory of this process, as Linux counts it.
#ifndef EGGROLL_BENCH_MEMORY_H
#define EGGROLL_BENCH_MEMORY_H

namespace eggroll::bench {

// Gives freed memory back and makes the high-water mark what is resident now, where the system lets it.
void reset_memory_high_water();

// MiB; 0 where the system does not say.
double memory_resident();
double memory_high_water();

}  // namespace eggroll::bench

#endif
