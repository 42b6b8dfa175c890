// What a replica makes once: its memory, as planned, and the ops as kernels read them.
#include <algorithm>

#include "eggroll/backend.h"
#include "eggroll/noise_source.h"
#include "eggroll/row_voters.h"
#include "replica.h"

namespace eggroll::cuda {

Replica::Replica(ReplicaPlan own, const egg_session_spec& spec)
    : own_(std::move(own)), rule_(spec.rule), threads_(spec.threads) {
  activate();
  keep_freed_memory();
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
  check(cudaStreamCreateWithFlags(&sending_, cudaStreamNonBlocking), "make a stream");
  for (cudaEvent_t* event : {&sent_, &voted_}) {
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "make an event");
  }
  allow_shared_memory();
  make_noise_values();
  make_params();
  make_ops();
  make_jobs();
  rule_nodes_ = take(Area::kRuleNodes, own_.plan.rule.nodes);
  slot_places_ = take(Area::kSlotPlaces, own_.plan.rule.slot_places);
  rule_scratch_ = take<uint32_t>(Area::kRuleScratch);
  scalars_ = take<float>(Area::kScalars);
  vote_stds_ = take<float>(Area::kVoteStds);
  changed_ = take<unsigned long long>(Area::kChanged);
  checksum_ = take<unsigned long long>(Area::kChecksum);
  states_ = take<int8_t>(Area::kStates);
  states_.zero(stream_);
  fitness_ = SentArray<int8_t>(take<int8_t>(Area::kFitness));
  losses_ = take<int64_t>(Area::kLosses);
  workspace_ = take<char>(Area::kWorkspace);
  plain_noise_ = take<int8_t>(Area::kPlainNoise);
  plain_noise_.zero(stream_);  // draws stay so
  noise_ = take<int8_t>(Area::kNoise);
  if (own_.plan.fused) noise_.zero(stream_);  // slots that are half full are read whole
  check(cudaStreamSynchronize(stream_), "prepare the session");
}

void Replica::keep_freed_memory() const {
  cudaMemPool_t pool = nullptr;
  uint64_t all = UINT64_MAX;
  check(cudaDeviceGetDefaultMemPool(&pool, own_.device), "give its pool of memory");
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "keep its pool of memory");
}

void Replica::read_votes_of(const std::vector<std::unique_ptr<Replica>>& replicas) {
  if (!own_.shares_votes) return;
  activate();
  std::vector<const long long*> votes;
  for (const auto& replica : replicas) {
    votes.push_back(replica->votes_.get());
    replicas_.push_back(replica.get());
    if (replica->device() == device()) continue;
    // Access is a property of that device's pool, which owns its memory.
    const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, device()}, cudaMemAccessFlagsProtReadWrite};
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, replica->device()), "give its pool of memory");
    check(cudaMemPoolSetAccess(pool, &access, 1), "let another GPU read its memory");
  }
  votes_of_ = take(Area::kVotesOf, votes);
}

// Alike for all sessions, for it belongs to the kernel.
void Replica::allow_shared_memory() const {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, own_.device), "describe itself");
  prepare_forward(static_cast<uint32_t>(bytes));
  prepare_votes();
  if (own_.plan.fused) prepare_fused(static_cast<uint32_t>(bytes));
}

void Replica::make_noise_values() {
  const egg_noise& noise = own_.plan.noise;
  const NoiseSource source(noise);
  const NoiseTable values = noise_table(noise.distribution);
  noise_values_ = take(Area::kNoiseValues, std::vector<int8_t>(values.begin(), values.end()));
  noise_table_ = take(Area::kNoiseTable, source.table());
  values_of_noise_ = {noise_values_.get(), noise_table_.get(), noise.table_log2};
  noise_blocks_ = noise_blocks();
}

void Replica::make_params() {
  for (const ParamMemory& memory : own_.memory.params) {
    Param param{memory, DeviceArray<int8_t>(size_t{memory.rows} * memory.stride),
                DeviceArray<int8_t>(memory.fragment_bytes), DeviceArray<int8_t>(memory.stage_bytes),
                DeviceArray<uint32_t>(memory.slot_cells)};
    for (DeviceArray<int8_t>* form : {&param.weights, &param.fragments, &param.stages}) form->zero(stream_);
    param.slots.zero(stream_);
    params_.push_back(std::move(param));
  }
  votes_ = take<long long>(Area::kVotes);
  all_votes_ = take<long long>(Area::kAllVotes);
  voted_rows_ = take<VotedRow>(Area::kVotedRows);
  voted_counts_ = take<uint32_t>(Area::kVotedCounts);
  row_variances_ = take<double>(Area::kRowVariances);
  staging_ = take<int8_t>(Area::kStaging);
}

DeviceArray<NoisePart> Replica::take_parts(Area area, std::vector<NoisePart> parts) const {
  for (NoisePart& s : parts) {
    if (s.kind == kVector) s.weights = params_[s.param].weights.get();
  }
  return take(area, parts);
}

void Replica::make_ops() {
  const Plan& plan = own_.plan;
  const egg_program& program = *plan.program;
  parts_ = take_parts(Area::kNoiseParts, plan.layout.parts);
  for (uint32_t t = 0; t < program.table_count; ++t) {
    const std::vector<int32_t> entries(program.tables[t].entries, program.tables[t].entries + program.tables[t].count);
    tables_.emplace_back(entries.size());
    put(entries, tables_.back());
    byte_tables_.emplace_back(entries.size());
    put(std::vector<int8_t>(entries.begin(), entries.end()), byte_tables_.back());
  }
  std::vector<DeviceOp> ops = plan.ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (plan.op_param[i] >= 0) {
      const Param& param = params_[static_cast<size_t>(plan.op_param[i])];
      ops[i].matrix = ops[i].code != EGG_OP_LINEAR ? param.weights.get()
                      : ops[i].streamed != 0       ? param.stages.get()
                                                   : param.fragments.get();
    }
    if (plan.op_table[i] >= 0) {
      ops[i].table = tables_[static_cast<size_t>(plan.op_table[i])].get();
      ops[i].byte_table = byte_tables_[static_cast<size_t>(plan.op_table[i])].get();
    }
  }
  ops_ = take(Area::kOps, ops);
  if (ops.size() <= kMostInlineOps) inline_ops_ = ops;
  if (plan.fused) {
    make_fused();
  } else {
    sources_ = take(Area::kStageSources, sources(ops));
  }
  std::vector<egg_loss_tables> tables(1);
  egg_fill_loss_tables(tables.data(), program.ops[program.op_count - 1].attr);
  loss_tables_ = take(Area::kLossTables, tables);
}

void Replica::make_fused() {
  const Plan& plan = own_.plan;
  const FusedPlan& fused = *plan.fused;
  const egg_program& program = *plan.program;
  std::vector<unsigned long long> stages;
  for (const FusedPlan::Stage& stage : fused.stages_of) {
    if (stage.param < 0) {
      stages.push_back(0);
      continue;
    }
    const Param& param = params_[static_cast<size_t>(stage.param)];
    stages.push_back(reinterpret_cast<uintptr_t>(param.stages.get()) + stage.block * fused_stage_bytes(fused.blocks));
  }
  fused_stages_ = take(Area::kFusedStages, stages);
  fused_places_ = take(Area::kFusedPlaces, fused.places);
  FusedArgs& args = fused_args_;
  args.stages_of = fused_stages_.get();
  std::copy(fused.feeds.begin(), fused.feeds.end(), args.feeds);
  args.shape = fused.shape;
  args.at = fused_shared(fused.blocks, fused.logit_blocks, fused.shape);
  args.loss_unit = fused.loss_unit;
  args.clips_products = fused.clips_products ? 1 : 0;
  for (size_t i = 0; i < fused.tables.size(); ++i) {
    const FusedPlan::Table& table = fused.tables[i];
    const Param& param = params_[static_cast<size_t>(table.param)];
    args.tables[i] = {param.weights.get(), param.stride, table.row_of,
                      table.place,         table.stride, plan.side_a[static_cast<size_t>(table.param)]};
  }
  args.mean_factor = divide_up(1U << 24, fused.channels);
  args.blocks = fused.blocks;
  args.logit_blocks = fused.logit_blocks;
  if (has_tokens(fused.shape.rows)) {
    args.look_up = byte_tables_[static_cast<size_t>(fused.look_up)].get();
    args.angles = tables_[static_cast<size_t>(fused.angles)].get();
    args.weights = tables_[static_cast<size_t>(fused.weights)].get();
    args.head = static_cast<uint32_t>(fused.head);
    args.weighting = fused.weighting;
    args.score_shift = fused.score_shift;
    std::copy(fused.needs.begin(), fused.needs.end(), args.needs);
    args.context = static_cast<uint32_t>(program.context);
  }
  args.op_count = static_cast<uint32_t>(fused.ops.size());
  std::copy(fused.ops.begin(), fused.ops.end(), args.ops);
  args.vocab = static_cast<uint32_t>(program.vocab);
}

void Replica::make_jobs() {
  for (size_t i = 0; i < params_.size(); ++i) {
    Param& param = params_[i];
    param.first_form = forms_.pieces;
    add_forms(i);
    param.form_pieces = forms_.pieces - param.first_form;
  }
  forms_.jobs = take(Area::kFormJobs, forms_.list);
}

// Makes the jobs of an update, unless the last one's are the same.
void Replica::choose(const egg_update& u) {
  std::vector<bool> chosen;
  for (uint32_t i = 0; i < params_.size(); ++i) chosen.push_back(params_[i].perturbed && is_chosen(u, i));
  if (chosen == chosen_) return;
  chosen_ = chosen;
  matrix_votes_ = {};
  vector_votes_ = {};
  rule_jobs_ = {};
  const DeviceArray<long long>& votes = own_.shares_votes ? all_votes_ : votes_;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!chosen[i]) continue;
    const Param& param = params_[i];
    if (param.masked) continue;
    add_vote_job(i);
    rule_jobs_.add({0, static_cast<uint32_t>(i), votes.get() + param.votes_offset, param.weights.get(), param.rows,
                    param.cols, param.stride, param.slots.get()},
                   rule_pieces(param.count()));
  }
  matrix_votes_.jobs = take(Area::kMatrixVoteJobs, matrix_votes_.list);
  vector_votes_.jobs = take(Area::kVectorVoteJobs, vector_votes_.list);
  make_row_vote_jobs(chosen);
  rule_jobs_.jobs = take(Area::kRuleJobs, rule_jobs_.list);
  std::vector<NoisePart> draws = own_.plan.layout.parts;
  std::vector<bool> voted(params_.size(), false);
  for (size_t i = 0; i < params_.size(); ++i) voted[lead_of(i)] = voted[lead_of(i)] || chosen[i];
  std::erase_if(draws, [&](const NoisePart& s) { return s.kind == kVector || !voted[s.param]; });
  vote_part_count_ = draws.size();
  vote_parts_ = take_parts(Area::kVoteNoiseParts, std::move(draws));
}

void Replica::add_vote_job(size_t index) {
  const Plan& plan = own_.plan;
  const Param& param = params_[index];
  VoteJob job{};
  job.param = static_cast<uint32_t>(index);
  job.first_voter = plan.params[index].voters.first_pair;
  job.voters = plan.params[index].voters.pairs;
  job.ranks = static_cast<uint32_t>(param.vector ? 1 : plan.noise.rank);
  job.rows = param.vector ? param.cols : param.rows;
  job.cols = param.vector ? 1 : param.cols;
  job.a_block = plan.a_offset[index] / kBlock;
  job.a_stride = divide_up(job.rows, kBlock);
  job.b_block = plan.b_offset[index] / kBlock;
  job.b_stride = divide_up(job.cols, kBlock);
  job.votes = votes_.get() + param.votes_offset;
  if (param.vector) {
    vector_votes_.add(job, vector_vote_pieces(job.rows));
  } else {
    matrix_votes_.add(job, matrix_vote_pieces(job.rows, job.cols));
  }
}

uint32_t Replica::lead_of(size_t index) const { return own_.plan.params[index].lead; }

// A job for each masked table, or for all chosen ones of a lead.
void Replica::make_row_vote_jobs(const std::vector<bool>& chosen) {
  const Plan& plan = own_.plan;
  std::vector<RowVoteJob> jobs;
  std::vector<RowTable> tables;
  std::vector<uint32_t> readers;
  const long long* all_votes = own_.shares_votes ? all_votes_.get() : votes_.get();
  size_t voted = 0;
  row_tables_ = {};
  row_params_.clear();
  for (size_t lead = 0; lead < params_.size(); ++lead) {
    RowVoteJob job{};
    job.first_table = static_cast<uint32_t>(tables.size());
    for (size_t i = 0; i < params_.size(); ++i) {
      const Param& param = params_[i];
      if (!chosen[i] || !param.masked || lead_of(i) != lead) continue;
      RowTable table{};
      table.param = static_cast<uint32_t>(i);
      table.rows = param.rows;
      table.cols = param.cols;
      table.stride = param.stride;
      table.first_reader = static_cast<uint32_t>(readers.size());
      for (uint32_t k = 0; k < plan.program->op_count; ++k) {
        const egg_op& op = plan.program->ops[k];
        const bool reads = op.code == EGG_OP_EMBED && op.param[0] == static_cast<int32_t>(i);
        if (reads) readers.push_back(static_cast<uint32_t>(op.attr));
      }
      table.reader_count = static_cast<uint32_t>(readers.size()) - table.first_reader;
      table.votes = votes_.get() + param.votes_offset;
      table.counts = reinterpret_cast<unsigned long long*>(votes_.get() + param.counts_offset);
      table.all_votes = all_votes + param.votes_offset;
      table.all_counts = reinterpret_cast<const unsigned long long*>(all_votes + param.counts_offset);
      table.voted = voted_rows_.get() + voted;
      table.voted_count = voted_counts_.get() + tables.size();
      table.weights = param.weights.get();
      table.slots = param.slots.get();
      voted += table.rows;
      row_tables_.most_rows = std::max(row_tables_.most_rows, table.rows);
      tables.push_back(table);
    }
    job.table_count = static_cast<uint32_t>(tables.size()) - job.first_table;
    if (job.table_count == 0) continue;
    job.joint = plan.params[lead].voters.joint != 0 ? 1 : 0;
    job.first_voter = plan.params[lead].voters.first_pair;
    job.voters = plan.params[lead].voters.pairs;
    job.cols = params_[lead].cols;
    job.key_offset = plan.a_offset[lead];
    job.b_offset = plan.b_offset[lead];
    job.b_stride = params_[lead].stride;
    jobs.push_back(job);
  }
  row_vote_count_ = static_cast<uint32_t>(jobs.size());
  row_vote_jobs_ = take(Area::kRowVoteJobs, jobs);
  readers_ = take(Area::kReaders, readers);
  tables_of_rows_ = take(Area::kRowTables, tables);
  row_tables_.tables = tables_of_rows_.get();
  row_tables_.count = static_cast<uint32_t>(tables.size());
  for (const RowTable& table : tables) row_params_.push_back(table.param);
  // What earlier choices have left.
  votes_.zero(stream_);
  voted_counts_.zero(stream_);
}

void Replica::add_forms(size_t index) {
  const auto& fused = own_.plan.fused;
  const Param& param = params_[index];
  add_form(param, kFragments, param.fragments);
  add_form(param,
           !fused                                    ? kStages
           : fused->cuts[index] == StagesOf::kInputs ? kFusedInputs
                                                     : kFusedOutputs,
           param.stages);
}

void Replica::add_form(const Param& param, FormKind kind, const DeviceArray<int8_t>& form) {
  if (form.get() == nullptr) return;
  const FormJob job{0,          kind,         param.weights.get(),           form.get(),
                    param.rows, param.stride, divide_up(param.rows, kBlock), param.stride / kBlock};
  forms_.add(job, form_pieces(job));
}

// The noise of a linear is asked for two linears ahead, with all that lies before it.
std::vector<StageSource> Replica::sources(const std::vector<DeviceOp>& ops) const {
  constexpr size_t kAhead = 2;
  const std::vector<size_t>& streams = own_.plan.streams;
  std::vector<StageSource> sources;
  uint32_t asked = 0;
  for (size_t i = 0; i < streams.size(); ++i) {
    const DeviceOp& op = ops[streams[i]];
    const DeviceOp& ahead = ops[streams[std::min(i + kAhead, streams.size() - 1)]];
    const auto ranks = static_cast<uint32_t>(ahead.ranks);
    const uint32_t end = std::max(asked, ranks > 0 ? ahead.b_offset + ranks * ahead.b_stride : 0);
    for (uint32_t stage = 0; stage < stages_of(op); ++stage) {
      sources.push_back({op.matrix + size_t{stage} * kStage, asked, end});
      asked = end;
    }
  }
  return sources;
}

}  // namespace eggroll::cuda
