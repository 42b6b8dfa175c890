#include "bench/case.h"

#include <random>

namespace eggroll::bench {

Machine open_machine(const Host& host, const std::string& backend, const std::vector<std::string>& overrides) {
  std::vector<std::string> all = host.overrides;
  all.push_back("backend=" + backend);
  all.insert(all.end(), overrides.begin(), overrides.end());
  return Machine(compose(host.search, all), host.registry);
}

BatchBuffer random_batch(int32_t vocab, uint32_t streams, uint32_t tokens) {
  BatchBuffer batch;
  batch.clear(streams, tokens);
  std::minstd_rand draw(streams);
  for (uint32_t& token : batch.inputs) token = static_cast<uint32_t>(draw()) % static_cast<uint32_t>(vocab);
  for (uint32_t& token : batch.targets) token = static_cast<uint32_t>(draw()) % static_cast<uint32_t>(vocab);
  return batch;
}

}  // namespace eggroll::bench
