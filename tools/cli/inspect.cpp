// eggroll show, config.
#include <fmt/format.h>

#include <sstream>

#include "cli/commands.h"
#include "cli/runs.h"
#include "config/yaml.h"
#include "eggroll/sites.h"
#include "experiment/launcher.h"
#include "experiment/search.h"
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

// What the members of each site share, and what one of them computes by itself.
void print_sites(const Learner& learner) {
  const Program& program = *learner.program;
  for (size_t i = 0; i < learner.sites.size(); ++i) {
    const egg_site& site = learner.sites[i];
    const std::vector<uint32_t> own = ops_behind(program.view(), site.value, site.horizon > 0).ops;
    std::string voters;
    for (size_t p = 0; p < learner.voters.size(); ++p) {
      if (learner.voters[p].site == static_cast<int32_t>(i) + 1) voters += fmt::format(" {}", program.params()[p].name);
    }
    const uint64_t macs = program.macs_of(own) + site.horizon * program.macs_per_token();
    fmt::print("\nsite {}: {} {} pairs at each token of {} streams, amplitude {}, errors shifted by {}\n",
               program.values()[static_cast<size_t>(site.value)].name, site.draws,
               site.design == EGG_DRAWS_ORTHOGONAL ? "orthogonal" : "independent",
               2 * site.pairs / learner.train.members_per_stream, site.amplitude, site.shift);
    fmt::print("  its members share {} of {} ops; each has {} multiply-adds of its own\n  votes:{}\n",
               program.ops().size() - own.size(), program.ops().size(), macs, voters);
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

int show_command(const HostOptions& host, const Overrides& overrides) {
  const ConfigSearch search = config_search(host);
  require_one_value_each(search, overrides);
  const ConfigNode config = compose(search, overrides);
  if (const ConfigNode* const sweep = config.find("sweep")) {
    throw wrong(sweep->source(), "the experiment is a sweep; show one point with ~sweep and a value for each axis");
  }
  const Registry registry = find_plugins(config);
  const Learner learner(config, registry);
  const Program& program = *learner.program;
  fmt::print("{}\n{} weights, {} multiply-adds a token, {} bytes of state a member, {} bytes a checkpoint\nhash {}\n",
             program.text(), program.weight_count(), program.macs_per_token(), program.state_bytes(),
             learner.checkpoint_bytes(), program.hash());
  print_bounds(learner);
  print_sites(learner);
  fmt::print("\n{}hash {}\n{}", learner.rule->text(), learner.rule->hash(), heading_of(config.at("model")));
  return 0;
}

// Prints the configuration of a run or of a sweep's first point. Then it throws Error if a run would refuse it before
// reading data.
int config_command(const HostOptions& host, const Overrides& overrides) {
  const ConfigSearch search = config_search(host);
  require_one_value_each(search, overrides);
  ConfigNode config = compose(search, overrides);
  fmt::print("{}", to_yaml(config, true));
  if (config.find("sweep") != nullptr) {
    std::optional<Sweep> sweep;
    if (!is_search(config)) {
      sweep = compose_sweep(search, overrides, existing_run);
    } else if (std::optional<SearchRound> next = Search(search, overrides, existing_run).next()) {
      sweep = std::move(next->sweep);
    }
    if (!sweep) return 0;  // the search has ended: its runs have been checked
    open_launcher(sweep->launcher, {});
    config = sweep->points.front().config;
  }
  erase_launcher(config);
  check_config(with_beginning(std::move(config), existing_run));
  return 0;
}

}  // namespace

void commands::declare_show(CommandLine& line) {
  static Overrides overrides;
  line.add_composing("show", "Print the model's program, the optimizer's rule and the bounds: eggroll show model=gru",
                     overrides, [&line] { return show_command(line.host, overrides); });
}

void commands::declare_config(CommandLine& line) {
  static Overrides overrides;
  line.add_composing("config", "Print the resolved configuration and where each value was written, and check it",
                     overrides, [&line] { return config_command(line.host, overrides); });
}

}  // namespace eggroll
