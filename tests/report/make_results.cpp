// make_results FOLDER RUNS LINES: a sweep's folder of RUNS runs with LINES metric lines each, for bench_report.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "report/synthetic.h"

using namespace eggroll;

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: make_results FOLDER RUNS LINES\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const uint64_t runs = std::stoull(argv[2]);
  const uint64_t lines = std::stoull(argv[3]);
  constexpr uint64_t kSeeds = 5;
  constexpr uint64_t kPopulations[] = {256, 1024, 4096, 16384, 65536};
  constexpr uint64_t kRanks[] = {1, 2, 4, 8};
  const nlohmann::ordered_json claims = {{{"says", "Rank 4 is better than rank 1."},
                                          {"compare", {{"axis", "noise.rank"}, {"value", "4"}, {"with", "1"}}},
                                          {"expect", "lower"}},
                                         {{"says", "The time of a step grows with the population."},
                                          {"metric", "step_seconds"},
                                          {"slope", {{"axis", "train.population"}}},
                                          {"expect", 1.0},
                                          {"within", 0.1}}};
  for (uint64_t i = 0; i < runs; ++i) {
    SyntheticRun run;
    run.point = i;
    run.claims = claims;
    run.seed = i % kSeeds;
    const uint64_t cell = i / kSeeds;
    run.population = kPopulations[cell % 5];
    const uint64_t rank = kRanks[cell / 5 % 4];
    const uint64_t width = 16 * (cell / 20 + 1);
    run.axes = {{"train.population", std::to_string(run.population)},
                {"noise.rank", std::to_string(rank)},
                {"model.width", std::to_string(width)}};
    run.steps = lines - 1;  // line 0 is the untrained model
    // Each seed's own noise, from the digits of a hash.
    const double noise =
        static_cast<double>(std::stoul(sha256_hex(std::to_string(i)).substr(0, 6), nullptr, 16)) / 0xffffff;
    run.final_bits = 3.0 + 1.0 / std::log2(static_cast<double>(run.population)) + 0.1 / static_cast<double>(rank) +
                     1.0 / static_cast<double>(width) + 0.05 * noise;
    run.step_seconds = 1e-6 * static_cast<double>(run.population) * (1.0 + 0.02 * noise);
    run.monitor_every = 200;
    if (i % 2 == 1) run.overlap = 0.0;
    if (i % 97 == 96) run.status = RunStatus::kFailed;
    write_synthetic_run(folder / "points" / fmt::format("{:05}", i), run);
  }
  const nlohmann::ordered_json sweep = {{"name", "grid"},           {"question", "Which is best?"},
                                        {"claims", claims},         {"axes", nlohmann::ordered_json::object()},
                                        {"seeds", {0, 1, 2, 3, 4}}, {"points", runs}};
  write_atomically(folder / "sweep.json", sweep.dump(2));
  return 0;
}
