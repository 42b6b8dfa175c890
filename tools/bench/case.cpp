#include "bench/case.h"

#include <random>

namespace eggroll::bench {

Learner open_learner(const Host& host, const std::string& backend, const std::vector<std::string>& overrides) {
  std::vector<std::string> all = host.overrides;
  all.push_back("backend=" + backend);
  all.insert(all.end(), overrides.begin(), overrides.end());
  return Learner(compose(host.search, all), host.registry);
}

BatchBuffer random_batch(const egg_program& program, uint32_t streams, uint32_t tokens) {
  BatchBuffer batch;
  batch.clear(streams, tokens, program.index_count);
  std::minstd_rand draw(streams);
  const auto below = [&](int32_t limit) { return static_cast<uint32_t>(draw()) % static_cast<uint32_t>(limit); };
  for (uint32_t& token : batch.inputs) token = below(program.vocab);
  for (uint32_t& token : batch.targets) token = below(program.vocab);
  for (size_t i = 0; i < batch.rows.size(); ++i) batch.rows[i] = below(program.indices[i % program.index_count].rows);
  return batch;
}

}  // namespace eggroll::bench
