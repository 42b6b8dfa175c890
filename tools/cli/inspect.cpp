// eggroll show, config.
#include <fmt/format.h>

#include <sstream>

#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/several_values.h"
#include "config/yaml.h"
#include "experiment/launcher.h"
#include "experiment/sweep.h"
#include "processes/processes.h"
#include "system/files.h"
#include "train/beginning.h"
#include "train/setup.h"

namespace eggroll {
namespace {

void print_bounds(const Learner& learner) {
  fmt::print("\nlargest accumulators, of 2147483647:\n");
  for (const AccumulatorBound& bound : accumulator_bounds(learner.program->view(), learner.noise)) {
    const egg_op& op = learner.program->ops()[bound.op];
    const char* name = op.out >= 0 ? learner.program->values()[static_cast<size_t>(op.out)].name : "loss";
    fmt::print("  {:<26} {:<18} {:>10}\n", name, bound.what, bound.largest);
  }
}

// The comment that the file of the chosen option begins with; "" where it begins with none.
std::string heading_of(const ConfigNode& section) {
  const std::string& file = section.source().file;
  const std::string heading = heading_comment(file);
  return heading.empty() ? "" : fmt::format("\n{} begins:\n{}", file, heading);
}

// Checks the configuration as a run does, except for its data.
void check_config(const ConfigNode& config) {
  const Registry registry = find_plugins(config);
  choose_processes(config, registry);
  const SetupWithoutData setup(config, registry);
  check_dataset_of(config);
  config.at("results.dir").text();
}

}  // namespace

int show_command(const HostOptions& host, const Overrides& overrides) {
  const ConfigSearch search = config_search(host);
  require_one_value_each(search, overrides, Takes::kRun);
  const ConfigNode config = compose(search, overrides);
  const Registry registry = find_plugins(config);
  const Learner learner(config, registry);
  const Program& program = *learner.program;
  fmt::print("{}\n{} weights, {} multiply-adds a token, {} bytes of state a member, {} bytes a checkpoint\nhash {}\n",
             program.text(), program.weight_count(), program.macs_per_token(), program.state_bytes(),
             learner.checkpoint_bytes(), program.hash());
  print_bounds(learner);
  fmt::print("\n{}hash {}\n{}", learner.rule->text(), learner.rule->hash(), heading_of(config.at("model")));
  return 0;
}

int config_command(const HostOptions& host, const Overrides& overrides) {
  const ConfigSearch search = config_search(host);
  require_one_value_each(search, overrides, Takes::kEither);
  ConfigNode config = compose(search, overrides);
  fmt::print("{}", to_yaml(config, true));
  if (config.find("sweep") != nullptr) {
    const Sweep sweep = compose_sweep(search, overrides, existing_run);
    open_launcher(sweep.launcher, {});
    config = sweep.points.front().config;
  }
  erase_launcher(config);
  check_config(with_beginning(std::move(config), existing_run));
  return 0;
}

}  // namespace eggroll
