// Makes the record of a run before its first step.
#ifndef EGGROLL_TRAIN_NEW_RECORD_H
#define EGGROLL_TRAIN_NEW_RECORD_H

#include <optional>
#include <string>
#include <vector>

#include "processes/processes.h"
#include "record/record.h"
#include "train/checkpoint.h"
#include "train/setup.h"

namespace eggroll {

// How the user started the run, for its record.
struct Invocation {
  std::vector<std::string> overrides;
  std::vector<std::string> command_line;
  std::optional<SweepRecord> sweep;
};

// The entries for these plugins in a record.
std::vector<PluginRecord> plugin_records(const std::vector<ChosenPlugin>& plugins);

// The record with all that is known of a run before its first step. plan: the plan of its session.
RunRecord new_record(const Setup& setup, const ConfigNode& config, const Invocation& invocation,
                     const RunIdentity& identity, const SessionPlan& plan, const Processes& processes);

}  // namespace eggroll

#endif
