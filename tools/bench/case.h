// The shared parts of the benchmarks: their host, and the interface of a benchmark.
#ifndef EGGROLL_BENCH_CASE_H
#define EGGROLL_BENCH_CASE_H

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "config/compose.h"
#include "data/streams.h"
#include "plugin/registry.h"
#include "train/setup.h"

namespace eggroll::bench {

struct Host {
  ConfigSearch search;
  std::vector<std::string> overrides;  // experiment=plain and the command line's, for every benchmark
  Registry registry;
  int threads;
};

// One benchmark, opened when its turn comes and kept while Google Benchmark runs it again with more iterations.
class Case {
 public:
  virtual ~Case() = default;
  virtual void run(benchmark::State& state) = 0;
};

// The plugins opened with the command line's overrides and, over those, the benchmark's own.
Learner open_learner(const Host& host, const std::string& backend, const std::vector<std::string>& overrides);

// Tokens drawn evenly from the vocabulary, all scored, and the rows of each index drawn evenly from its table.
BatchBuffer random_batch(const egg_program& program, uint32_t streams, uint32_t tokens);

template <class Call>
double seconds_of(Call&& call) {
  const auto began = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace eggroll::bench

#endif
