// What a replica makes once: its memory, as planned, and the ops as kernels read them.
#include <algorithm>
#include <numeric>

#include "eggroll/backend.h"
#include "eggroll/noise_source.h"
#include "eggroll/row_voters.h"
#include "replica.h"

namespace eggroll::cuda {

Replica::Replica(ReplicaPlan own, const egg_session_spec& spec)
    : own_(std::move(own)), rule_(spec.rule), threads_(spec.threads) {
  activate();
  keep_freed_memory();
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "describe itself");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "make a stream");
  check(cudaStreamCreateWithPriority(&beside_, cudaStreamNonBlocking, least), "make a stream");
  check(cudaStreamCreateWithFlags(&sending_, cudaStreamNonBlocking), "make a stream");
  check(cudaStreamCreateWithFlags(&receiving_, cudaStreamNonBlocking), "make a stream");
  for (cudaEvent_t* event : {&batch_places_[0].sent, &batch_places_[1].sent, &numbers_sent_, &evaluated_, &drawn_,
                             &votes_made_, &rows_made_, &updated_}) {
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "make an event");
  }
  allow_shared_memory();
  make_noise_values();
  make_params();
  make_ops();
  make_jobs();
  make_sites();
  rule_nodes_ = take(Area::kRuleNodes, own_.plan.rule.nodes);
  slot_places_ = take(Area::kSlotPlaces, own_.plan.rule.slot_places);
  rule_scratch_ = take<uint32_t>(Area::kRuleScratch);
  scalars_ = take<float>(Area::kScalars);
  vote_stds_ = take<float>(Area::kVoteStds);
  changed_ = take<unsigned long long>(Area::kChanged);
  host_changed_ = HostArray<unsigned long long>(params_.size());
  checksum_ = take<unsigned long long>(Area::kChecksum);
  states_ = take<int8_t>(Area::kStates);
  states_.zero(stream_);
  fitness_ = SentArray<int8_t>(take<int8_t>(Area::kFitness));
  losses_ = take<int64_t>(Area::kLosses);
  workspace_ = take<char>(Area::kWorkspace);
  pass_.workspace = workspace_.get();
  make_behind();
  plain_noise_ = take<int8_t>(Area::kPlainNoise);
  plain_noise_.zero(stream_);  // draws stay so
  noises_[0].values = take<int8_t>(Area::kNoise);
  noises_[1].values = take<int8_t>(Area::kNextNoise);
  for (Noise& each : noises_) {
    if (own_.plan.fused) each.values.zero(stream_);  // slots that are half full are read whole
  }
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

// A property of the kernels: every session sets the same value.
void Replica::allow_shared_memory() const {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, own_.device), "describe itself");
  const auto shared_bytes = static_cast<uint32_t>(bytes);
  if (own_.fused() != nullptr) {
    const FusedPlan& fused = *own_.fused()->fused;
    prepare_fused(fused.shape, fused.blocks, fused.logit_blocks, shared_bytes);
  }
  if (!own_.plan.fused) prepare_forward(shared_bytes);
  prepare_votes();
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
    Param param{memory,
                DeviceArray<int8_t>(size_t{memory.rows} * memory.stride),
                DeviceArray<int8_t>(memory.fragment_bytes),
                DeviceArray<int8_t>(memory.stage_bytes),
                DeviceArray<int8_t>(memory.later_bytes),
                DeviceArray<uint32_t>(memory.slot_cells)};
    for (DeviceArray<int8_t>* form : {&param.weights, &param.fragments, &param.stages, &param.later}) {
      form->zero(stream_);
    }
    param.slots.zero(stream_);
    params_.push_back(std::move(param));
  }
  votes_ = take<long long>(Area::kVotes);
  all_votes_ = take<long long>(Area::kAllVotes);
  voted_rows_ = take<VotedRow>(Area::kVotedRows);
  row_counters_ = take<uint32_t>(Area::kRowCounters);
  row_begins_ = take<uint32_t>(Area::kRowBegins);
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
  std::vector<NoisePart> parts = plan.layout.parts;
  const auto vectors =
      std::stable_partition(parts.begin(), parts.end(), [](const NoisePart& s) { return s.kind != kVector; });
  draw_part_count_ = static_cast<size_t>(vectors - parts.begin());
  part_count_ = parts.size();
  parts_ = take_parts(Area::kNoiseParts, std::move(parts));
  for (uint32_t t = 0; t < program.table_count; ++t) {
    const std::vector<int32_t> entries(program.tables[t].entries, program.tables[t].entries + program.tables[t].count);
    tables_.emplace_back(entries.size());
    put(entries, tables_.back());
    byte_tables_.emplace_back(entries.size());
    put(std::vector<int8_t>(entries.begin(), entries.end()), byte_tables_.back());
  }
  const std::vector<DeviceOp> ops = bound(plan);
  ops_ = take(Area::kOps, ops);
  pass_.plan = &plan;
  pass_.ops = ops_.get();
  if (ops.size() <= kMostInlineOps) pass_.inline_ops = ops;
  if (own_.fused() != nullptr) make_fused(*own_.fused());
  if (!plan.fused) {
    sources_ = take(Area::kStageSources, sources(plan, ops));
    pass_.sources = sources_.get();
  }
  std::vector<egg_loss_tables> tables(1);
  egg_fill_loss_tables(tables.data(), program.ops[program.op_count - 1].attr);
  loss_tables_ = take(Area::kLossTables, tables);
}

// The ops with the addresses of weights and lookup tables.
std::vector<DeviceOp> Replica::bound(const Plan& plan) const {
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
  return ops;
}

void Replica::make_behind() {
  behind_ops_ = take<DeviceOp>(Area::kBehindOps);
  behind_sources_ = take<StageSource>(Area::kBehindSources);
  behind_workspace_ = take<char>(Area::kBehindWorkspace);
  behind_losses_ = take<int64_t>(Area::kBehindLosses);
  later_.states = take<int8_t>(Area::kBehindStates);
  later_.losses = take<int64_t>(Area::kLaterLosses);
  later_.inputs = take<uint32_t>(Area::kLaterInputs);
  later_.targets = take<uint32_t>(Area::kLaterTargets);
  later_.resets = take<uint8_t>(Area::kLaterResets);
  later_.row_numbers = take<uint32_t>(Area::kLaterRows);
  later_.cache = take<int8_t>(Area::kLaterCache);
  if (own_.later) later_.parts = take_parts(Area::kLaterParts, own_.later->layout.parts);
  later_.noise = take<int8_t>(Area::kLaterNoise);
  later_.noise.zero(stream_);
  size_t first_op = 0;
  size_t first_source = 0;
  const auto make = [&](const Plan& plan) {
    const std::vector<DeviceOp> ops = bound(plan);
    const std::vector<StageSource> stages = sources(plan, ops);
    behind_ops_.upload(ops.data(), ops.size(), stream_, first_op);
    behind_sources_.upload(stages.data(), stages.size(), stream_, first_source);
    check(cudaStreamSynchronize(stream_), "receive data");
    Pass pass;
    pass.plan = &plan;
    pass.ops = behind_ops_.get() + first_op;
    if (ops.size() <= kMostInlineOps) pass.inline_ops = ops;
    pass.sources = behind_sources_.get() + first_source;
    pass.workspace = behind_workspace_.get();
    first_op += ops.size();
    first_source += stages.size();
    return pass;
  };
  for (const BehindPlan& each : own_.behind) {
    BehindPasses& passes = behind_.emplace_back();
    passes.at_place = make(each.plan);
    if (each.later) passes.later = make(*each.later);
  }
}

void Replica::make_fused(const Plan& plan) {
  const FusedPlan& fused = *plan.fused;
  const egg_program& program = *plan.program;
  std::vector<unsigned long long> stages;
  for (const FusedPlan::Stage& stage : fused.stages_of) {
    if (stage.param < 0) {
      stages.push_back(0);
      continue;
    }
    const Param& param = params_[static_cast<size_t>(stage.param)];
    const DeviceArray<int8_t>& cut = own_.plan.fused ? param.stages : param.later;
    stages.push_back(reinterpret_cast<uintptr_t>(cut.get()) + stage.block * fused_stage_bytes(fused.blocks));
  }
  fused_stages_ = take(Area::kFusedStages, stages);
  fused_places_ = take(Area::kFusedPlaces, fused.places);
  handed_over_ = take<uint32_t>(Area::kHandedOver);
  handed_over_.zero(stream_);
  FusedArgs& args = fused_args_;
  args.stages_of = fused_stages_.get();
  args.handed_over = handed_over_.get();
  std::copy(fused.feeds.begin(), fused.feeds.end(), args.feeds);
  args.shape = fused.shape;
  args.at = fused_shared(fused.blocks, fused.logit_blocks, fused.shape);
  args.loss_unit = fused.loss_unit;
  args.clips_sums = fused.clips_sums ? 1 : 0;
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
  const uint32_t stream_pairs = u.members_per_stream / 2;
  const bool reads_alike =
      streams_read_ == u.batch.streams && tokens_read_ == u.batch.tokens && stream_pairs_ == stream_pairs;
  if (chosen == chosen_ && reads_alike) return;
  chosen_.clear();  // until all is there
  streams_read_ = u.batch.streams;
  tokens_read_ = u.batch.tokens;
  stream_pairs_ = stream_pairs;
  matrix_votes_ = {};
  vector_votes_ = {};
  rule_jobs_ = {};
  const DeviceArray<long long>& votes = own_.shares_votes ? all_votes_ : votes_;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!chosen[i]) continue;
    const Param& param = params_[i];
    if (param.masked || param.voters.site != 0) continue;
    add_vote_job(i);
    rule_jobs_.add({0, static_cast<uint32_t>(i), votes.get() + param.votes_offset, param.weights.get(), param.rows,
                    param.cols, param.stride, param.slots.get()},
                   rule_pieces(param.rows, param.cols));
  }
  matrix_votes_.jobs = take(Area::kMatrixVoteJobs, matrix_votes_.list);
  vector_votes_.jobs = take(Area::kVectorVoteJobs, vector_votes_.list);
  make_row_tables(chosen, u);
  if (!own_.plan.sites.sites.empty()) make_site_tables(chosen);
  rule_jobs_.jobs = take(Area::kRuleJobs, rule_jobs_.list);
  std::vector<NoisePart> draws = own_.plan.layout.parts;
  std::erase_if(draws, [&](const NoisePart& s) { return s.kind == kVector || !chosen[s.param]; });
  const auto dense =
      std::stable_partition(draws.begin(), draws.end(), [&](const NoisePart& s) { return params_[s.param].masked; });
  table_part_count_ = static_cast<size_t>(dense - draws.begin());
  vote_part_count_ = draws.size();
  vote_parts_ = take_parts(Area::kVoteNoiseParts, std::move(draws));
  chosen_ = chosen;
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

// The chosen masked tables.
void Replica::make_row_tables(const std::vector<bool>& chosen, const egg_update& u) {
  const Plan& plan = own_.plan;
  std::vector<RowTable> tables;
  std::vector<uint32_t> readers;
  row_tables_ = {};
  row_tables_.keeps_votes = own_.memory.keeps_row_votes ? 1 : 0;
  row_params_.clear();
  for (size_t i = 0; i < params_.size(); ++i) {
    const Param& param = params_[i];
    if (!chosen[i] || !param.masked || param.voters.site != 0) continue;
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
    table.first_voter = plan.params[i].voters.first_pair;
    table.voters = plan.params[i].voters.pairs;
    table.key_offset = plan.a_offset[i];
    table.b_offset = plan.b_offset[i];
    table.counts = reinterpret_cast<unsigned long long*>(votes_.get() + param.counts_offset);
    table.weights = param.weights.get();
    table.slots = param.slots.get();
    row_tables_.most_rows = std::max(row_tables_.most_rows, table.rows);
    row_tables_.most_readers = std::max(row_tables_.most_readers, table.reader_count);
    tables.push_back(table);
    row_params_.push_back(table.param);
  }
  row_tables_.count = static_cast<uint32_t>(tables.size());
  give_room(tables, u);
  readers_ = take(Area::kReaders, readers);
  tables_of_rows_ = take(Area::kRowTables, tables);
  row_tables_.tables = tables_of_rows_.get();
  // What earlier choices have left.
  votes_.zero(stream_);
  row_counters_.zero(stream_);
}

// Where the tables' lists and votes lie.
void Replica::give_room(std::vector<RowTable>& tables, const egg_update& u) {
  if (tables.empty()) return;
  const MemoryPlan& memory = own_.memory;
  // Streams that have a vote here: of all pairs where rows have owners.
  const size_t streams = own_.owners > 1
                             ? u.batch.streams
                             : std::min<size_t>(u.batch.streams, divide_up(own_.vote_pairs, stream_pairs_) + 1);
  struct Extent {
    size_t rows = 0;
    size_t reads = 0;
    size_t pieces = 0;
    size_t shared_rows = 0;  // that several pieces have
    size_t votes = 0;        // of these
  };
  const auto after = [&](Extent room, const RowTable& table) {
    const size_t reads = streams * u.batch.tokens * table.reader_count;
    // A row's pieces are full but for the last one.
    const size_t full = reads * stream_pairs_ / piece_pairs(static_cast<uint32_t>(own_.plan.noise.rank));
    room.rows += table.rows;
    room.reads += reads;
    room.pieces += std::min<size_t>(table.rows, reads) + full;
    room.shared_rows += std::min<size_t>(table.rows, full);
    room.votes += std::min<size_t>(table.rows, full) * table.cols;
    return room;
  };
  const Extent all = std::accumulate(tables.begin(), tables.end(), Extent{}, after);
  read_places_.reserve(all.reads);
  read_streams_.reserve(all.reads);
  row_pieces_.reserve(all.pieces);
  if (!memory.keeps_row_votes) {
    piece_votes_.reserve(all.votes);
    piece_vote_count_ = all.votes;
    voted_rows_.reserve(all.shared_rows);
  }
  Extent before;
  for (size_t t = 0; t < tables.size(); ++t) {
    RowTable& table = tables[t];
    const size_t votes = params_[table.param].votes_offset;
    table.votes = memory.keeps_row_votes ? votes_.get() + votes : piece_votes_.get() + before.votes;
    table.voted = voted_rows_.get() + (memory.keeps_row_votes ? before.rows : before.shared_rows);
    table.begins = row_begins_.get() + params_[table.param].begins_offset;
    table.places = read_places_.get() + before.reads;
    table.streams = read_streams_.get() + before.reads;
    table.pieces = row_pieces_.get() + before.pieces;
    uint32_t* counters = row_counters_.get() + kRowCounters * t;
    table.stream_count = counters;
    table.piece_count = counters + 1;
    table.voted_count = counters + 2;
    before = after(before, table);
  }
}

void Replica::add_forms(size_t index) {
  const auto cut_of = [&](const Plan& plan) {
    return plan.fused->cuts[index] == StagesOf::kInputs ? kFusedInputs : kFusedOutputs;
  };
  const Param& param = params_[index];
  add_form(param, kFragments, param.fragments);
  add_form(param, own_.plan.fused ? cut_of(own_.plan) : kStages, param.stages);
  if (own_.later) add_form(param, cut_of(*own_.later), param.later);
}

void Replica::add_form(const Param& param, FormKind kind, const DeviceArray<int8_t>& form) {
  if (form.get() == nullptr) return;
  const FormJob job{0,          kind,         param.weights.get(),           form.get(),
                    param.rows, param.stride, divide_up(param.rows, kBlock), param.stride / kBlock};
  forms_.add(job, form_pieces(job));
}

// The noise of a linear is asked for two linears ahead, with all that lies before it.
std::vector<StageSource> Replica::sources(const Plan& plan, const std::vector<DeviceOp>& ops) const {
  constexpr size_t kAhead = 2;
  const std::vector<size_t>& streams = plan.streams;
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
