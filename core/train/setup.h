// From a resolved configuration to everything a run works with, each part opened and checked before the first step.
#ifndef EGGROLL_TRAIN_SETUP_H
#define EGGROLL_TRAIN_SETUP_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/tree.h"
#include "data/dataset.h"
#include "data/streams.h"
#include "eggroll/plugin.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "processes/processes.h"
#include "program/program.h"
#include "program/rule.h"
#include "train/fitness.h"
#include "train/settings.h"

namespace eggroll {

// An update of the weights, and what it was computed from.
struct Update {
  std::vector<int64_t> changed;  // by parameter, the weights that moved
  std::vector<float> scalars;    // of the rule
  std::vector<float> vote_stds;  // by parameter; see Learner::vote_stds
};

// Model, optimizer, backend and noise: all that holds and changes weights, without a dataset.
struct Learner {
  // Opens the plugins that the configuration names, and proves that the program cannot overflow and is supported.
  // Throws Error with the file and line of the setting at fault.
  Learner(const ConfigNode& config, const Registry& registry);

  std::string name;  // first part of the run folder's name
  uint64_t seed;
  TrainSettings train;
  std::vector<ChosenPlugin> plugins;  // model, optimizer, backend
  std::unique_ptr<ModelInstance> model;
  std::unique_ptr<OptimizerInstance> optimizer;
  std::unique_ptr<BackendInstance> backend;
  std::unique_ptr<Program> program;
  std::unique_ptr<Rule> rule;     // with the average, if there is one
  std::optional<double> average;  // the share that a step keeps of it
  egg_noise noise;
  int32_t threads;
  std::vector<egg_voters> voters;       // by parameter
  std::vector<uint32_t> group_streams;  // of each of `perturb.groups`, in their order; empty: all pairs perturb all
  std::vector<egg_site> sites;

  MemberShare all_members() const { return {0, train.population}; }
  egg_session_spec session_spec(const MemberShare& own) const;
  egg_session_spec session_spec() const { return session_spec(all_members()); }
  // The plan of a session of these members; see BackendInstance.
  SessionPlan plan_session(const MemberShare& own) const { return backend->plan_session(session_spec(own)); }
  SessionPlan plan_session() const { return plan_session(all_members()); }
  // A session of these members with the initial weights.
  BackendSession open_session(const MemberShare& own) const;
  BackendSession open_session() const { return open_session(all_members()); }
  // The size of a checkpoint's tensors.
  uint64_t checkpoint_bytes() const;
  // Whether votes depend on what the members read.
  bool has_masks() const;
  // The pairs of each of `perturb.groups`: pairs are compared only within their group.
  std::vector<uint32_t> group_pairs() const;
  // The scalars of the rule in a step: those of the optimizer, then that of the average.
  std::vector<float> scalars(uint64_t step, std::span<const egg_evaluation> evaluations) const;
  // Applies one step's fitness. evaluations: all before the step. fitness: one per pair. batch: what all members read,
  // empty if there are no masks. chosen: by parameter, 0 if it stays as it is; none: all are chosen. sums: of
  // each site in the step's evaluation.
  Update update(BackendSession& session, uint64_t step, std::span<const egg_evaluation> evaluations,
                const std::vector<int8_t>& fitness, const BatchBuffer& batch = {}, std::span<const uint8_t> chosen = {},
                std::span<const egg_site_sums> sums = {}) const;
  // The pairs whose streams have sites; they have no fitness.
  uint32_t pairs_of_sites() const;
  // The losses of single tokens that a step compared. tokens: scored, of all streams.
  uint64_t member_tokens(uint64_t tokens, std::span<const egg_site_sums> sums) const;
  // By parameter, the standard deviation of its votes under the null; of a masked one it differs from row to row.
  std::vector<float> vote_stds(const std::vector<int8_t>& fitness) const;
};

// The dataset of the configuration's section, with file and line in any error.
Dataset open_dataset_of(const ConfigNode& config);

// All parts of a run except its data.
struct SetupWithoutData {
  SetupWithoutData(const ConfigNode& config, const Registry& registry);

  // The step that the run begins at.
  uint64_t first_step() const { return begin ? begin->step : 0; }

  Learner learner;
  EvalSettings eval;
  std::optional<BeginSettings> begin;
  CheckpointSettings checkpoint;
  MonitorSettings monitor;
  ProcessesSettings processes;
  StopSettings stop;
  Fitness fitness;
};

// The streams of the data that its members read. The learner must outlive them.
TrainStreams train_streams_of(const Learner& learner, const Dataset& dataset);

// Throws Error if the section of the dataset is wrong. Opens no file.
void check_dataset_of(const ConfigNode& config);

struct Setup : SetupWithoutData {
  // open: reads the dataset that the configuration names. For checks of many configurations it may have a cache.
  using OpenDataset = std::function<Dataset(const ConfigNode& config)>;
  Setup(const ConfigNode& config, const Registry& registry, const OpenDataset& open = open_dataset_of);

  // Fills in what all members read in a step, for its update; empty if votes do not depend on it.
  void fill_read(uint64_t step, BatchBuffer& batch) const;

  Dataset dataset;
  TrainStreams streams;
  HeldOutStreams curve_streams;  // of the curve: what evaluations on the way read, and one after the last step
  HeldOutStreams final_streams;  // the whole held-out part

 private:
  HeldOutStreams held_out_streams(uint64_t limit) const;
};

}  // namespace eggroll

#endif
