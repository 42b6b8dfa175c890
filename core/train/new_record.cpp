#include "train/new_record.h"

#include "config/hash.h"
#include "data/baselines.h"
#include "eggroll/threads.h"
#include "record/environment.h"

namespace eggroll {
namespace {

PluginRecord plugin_record(const ChosenPlugin& plugin) {
  PluginRecord record;
  record.kind = kind_name(*plugin.file.kind);
  record.name = plugin.file.name;
  record.version = plugin.file.version;
  record.build = plugin.file.build;
  record.sha256 = plugin.sha256;
  record.file = plugin.file.path.filename();
  if (*plugin.file.kind == EGG_KIND_BACKEND) record.chosen_because = plugin.reason;
  return record;
}

}  // namespace

std::vector<PluginRecord> plugin_records(const std::vector<ChosenPlugin>& plugins) {
  std::vector<PluginRecord> records;
  for (const ChosenPlugin& plugin : plugins) records.push_back(plugin_record(plugin));
  return records;
}

RunRecord new_record(const Setup& setup, const ConfigNode& config, const Invocation& invocation,
                     const RunIdentity& identity, const SessionPlan& plan, const Processes& processes) {
  RunRecord record;
  record.name = setup.learner.name;
  record.started_utc = utc_now();
  record.config_hash = identity.config_hash;
  record.config = to_json(config);
  record.overrides = invocation.overrides;
  record.command_line = invocation.command_line;
  record.sweep = invocation.sweep;
  record.environment = capture_environment();
  record.device = plan.device;
  record.plan = plan.plan;
  record.memory_bytes = plan.memory;
  record.plugins = plugin_records(setup.learner.plugins);
  if (!processes.alone()) {
    record.plugins.push_back(plugin_record(*processes.plugin()));
    record.processes = ProcessesRecord{processes.size(), 0, {}};
  }
  record.program_hash = identity.program_hash;
  record.rule_hash = identity.rule_hash;
  record.parameters = setup.learner.program->weight_count();
  record.checkpoint_bytes = setup.learner.checkpoint_bytes();
  record.threads = Threads::number(setup.learner.threads);
  record.seed = setup.learner.seed;
  DatasetRecord dataset{setup.dataset.name, setup.dataset.sha256, setup.dataset.unit, {}, setup.dataset.facts};
  dataset.sizes = {{"train", setup.dataset.units(setup.dataset.train)},
                   {"held_out", setup.dataset.units(setup.dataset.valid)}};
  record.dataset = dataset;
  const Baselines baselines = measure_baselines(setup.dataset);
  record.baselines.unigram = baselines.unigram;
  record.baselines.bigram = baselines.bigram;
  record.baselines.gzip = baselines.gzip;
  return record;
}

}  // namespace eggroll
