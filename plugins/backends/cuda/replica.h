// One device's share of a session: all weights and slots, the states of the pairs that it owns, and the work on them.
#ifndef EGGROLL_CUDA_REPLICA_H
#define EGGROLL_CUDA_REPLICA_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device.h"
#include "forward.h"
#include "fused.h"
#include "replica_plan.h"
#include "sent_array.h"
#include "sites.h"
#include "update.h"

namespace eggroll::cuda {

// What ends in _async returns before its work is done; its finish_ waits.
class Replica {
 public:
  // own: of this spec, from plan_replicas.
  Replica(ReplicaPlan own, const egg_session_spec& spec);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  ~Replica();

  int device() const { return own_.device; }
  uint32_t first_member() const { return 2 * own_.first_pair; }
  uint32_t members() const { return 2 * own_.pairs; }

  void set_weights(uint32_t param, const int8_t* weights);
  void get_weights(uint32_t param, int8_t* weights);
  void set_slot(uint32_t param, uint32_t slot, const void* data);
  void get_slot(uint32_t param, uint32_t slot, void* data);
  // Set and get states of the members in the range that are this replica's; states begins at the first of the range.
  void set_states(uint32_t first, uint32_t count, const int8_t* states);
  void get_states(uint32_t first, uint32_t count, int8_t* states);

  // The members of the call that are this replica's.
  void evaluate_async(const egg_evaluate& e);
  void finish_evaluate(const egg_evaluate& e);
  // Adds what this replica's streams of sites have left.
  void add_site_sums(const egg_evaluate& e) const;
  // An update: each replica's votes, then each one's rule, then what it takes of the others' rows and all that follows,
  // then each one's end.
  void vote_async(const egg_update& u);
  void apply_rule_async();
  void end_update_async();
  // Brings the next evaluation's batch to the device, if the last evaluation was told of it, it is not there yet, and
  // it is not too large.
  void get_ready();
  // Writes how many weights it moved, or adds them where others own rows too: see shares_rows().
  void finish_update(const egg_update& u);
  // Whether the rows of this parameter are updated by several replicas.
  bool shares_rows(uint32_t param) const;
  // Brings the slot's rows that others own. No update is under way.
  void take_slot(uint32_t param, uint32_t slot);
  void infer(const egg_infer& i);

  // Parts of sites for other processes: the errors of this replica's streams are written, its votes added.
  void clear_votes(const egg_site_part& part) const;
  void add_to_site_part(const egg_site_part& part);
  // What another process's streams have left.
  void add_site_part(const egg_site_part& part);

  // Before the first update, where votes are shared: all replicas, this one too.
  void read_votes_of(const std::vector<std::unique_ptr<Replica>>& replicas);

  // The checksum of all weights and slots: equal where these are.
  uint64_t checksum();

 private:
  // A parameter's weights in padded rows, the forms in which linears read it, and its slots.
  struct Param : ParamMemory {
    DeviceArray<int8_t> weights;
    DeviceArray<int8_t> fragments;
    DeviceArray<int8_t> stages;
    DeviceArray<int8_t> later;  // as the fused tokens of a horizon read it
    DeviceArray<uint32_t> slots;
    uint32_t first_form = 0;  // of the pieces in which its forms are made
    uint32_t form_pieces = 0;
  };
  // A program with the addresses of what it reads: the session's, or what draws at a value run.
  struct Pass {
    const Plan* plan = nullptr;
    std::vector<DeviceOp> inline_ops;  // where it is short
    const DeviceOp* ops = nullptr;
    const StageSource* sources = nullptr;
    char* workspace = nullptr;
  };
  // This replica's share of a call's members.
  struct Share {
    uint32_t first;
    uint32_t count;
  };

  // Members of a share that are evaluated in one way. first_block: of the workspace; above 0 where they run beside the
  // streams of sites.
  struct Part {
    Share members;
    bool is_of_sites;
    uint32_t first_block = 0;
  };

  // Owns a launch's jobs. add() puts one of this number of pieces behind the others; upload() sends them to the device.
  template <class Job>
  struct Jobs {
    void add(Job job, uint32_t its_pieces) {
      job.first = pieces;
      pieces += its_pieces;
      list.push_back(job);
    }
    JobList<Job> on_device() const { return {jobs.get(), static_cast<uint32_t>(list.size()), pieces}; }

    std::vector<Job> list;
    DeviceArray<Job> jobs;
    uint32_t pieces = 0;
  };

  // The planned array of this name.
  template <class T>
  DeviceArray<T> take(Area area) const {
    return DeviceArray<T>(own_.memory.bytes(area) / sizeof(T));
  }
  // The same, beginning with this list.
  template <class T>
  DeviceArray<T> take(Area area, const std::vector<T>& list) const {
    DeviceArray<T> array = take<T>(area);
    put(list, array);
    return array;
  }
  template <class T>
  void put(const std::vector<T>& list, DeviceArray<T>& array) const {
    array.upload(list.data(), list.size(), stream_);
    check(cudaStreamSynchronize(stream_), "receive data");
  }
  void activate() const;
  void keep_freed_memory() const;
  void allow_shared_memory() const;
  void make_params();
  void make_noise_values();
  void make_ops();
  void make_jobs();
  void add_vote_job(size_t index);
  void make_row_tables(const std::vector<bool>& chosen, const egg_update& u);
  void give_room(std::vector<RowTable>& tables, const egg_update& u);
  void clear_rows();
  std::vector<double> row_variances(const egg_update& u) const;
  int32_t send_fitness(const int8_t* fitness);
  void choose(const egg_update& u);
  void add_form(const Param& param, FormKind kind, const DeviceArray<int8_t>& form);
  void add_forms(size_t index);
  DeviceArray<NoisePart> take_parts(Area area, std::vector<NoisePart> parts) const;
  Share share_of(uint32_t first, uint32_t count) const;
  template <class Body>
  void each_piece(size_t count, const Body& body);
  template <class Copy>
  void each_state(size_t count, const Copy& copy);
  void upload_states(int8_t* to, const int8_t* from, size_t count);
  void download_states(int8_t* to, const int8_t* from, size_t count);
  void bring(void* to, const void* from, size_t bytes, const char* what);
  void download_losses(uint32_t first, uint32_t count, cudaStream_t stream);
  void make_noise(uint64_t step, uint32_t first_pair, uint32_t pairs, cudaStream_t stream);
  void draw_ahead(uint64_t step, uint32_t first_pair, uint32_t pairs, cudaStream_t stream);
  enum class Sent : uint8_t { kInputs, kAll };
  struct BatchPlace;
  void send(BatchPlace& place, const egg_batch& batch, uint32_t first, uint32_t streams, Sent what);
  void send_now(const egg_batch& batch, uint32_t first, uint32_t streams, Sent what);
  // The own members of a call, and the streams of its batch that they read.
  struct Reads {
    Share own;
    uint32_t first_stream;
    uint32_t streams;
  };
  Reads reads_of(const egg_evaluate& e) const;
  bool needs_whole_workspace() const;
  std::vector<Part> parts_of(Share share) const;
  void evaluate_members(const egg_evaluate& e, Share share, const Part& part, uint32_t first_stream,
                        const std::function<void()>& bring_batch);
  void make_sites();
  void make_site_tables(const std::vector<bool>& chosen);
  void evaluate_sites(const egg_evaluate& e, Share part, uint32_t first_sent);
  void draw_at_loss(const egg_evaluate& e, const SiteShape& site, uint32_t stream, uint32_t streams, uint32_t in_batch);
  void draw_within(const egg_evaluate& e, size_t behind, uint32_t stream, uint32_t streams, uint32_t in_batch);
  void draw_later(const ForwardArgs& at_token, uint32_t horizon, size_t behind);
  void launch_draws(const ForwardArgs& args, const Plan& plan, uint32_t most_blocks);
  void finish_sites(const egg_evaluate& e, const std::vector<Part>& parts) const;
  // Places of a site.
  struct Places {
    uint32_t first;
    uint32_t count;
  };
  Places own_places(const SiteShape& site) const;
  void bring_errors();
  void add_site_votes(const SiteVoter& voter, unsigned long long* squares, bool is_vector);
  void upload_others_votes(const SiteVoter& voter, unsigned long long* squares);
  void take_rows();
  void vote_by_sites(const egg_update& u);
  template <class Body>
  void each_site_voter(const DeviceArray<long long>& votes, const std::vector<bool>* chosen, const Body& body);
  void apply_rule_by_sites();
  Share voting_pairs(const egg_update& u, bool on_rows) const;
  static Share united(Share a, Share b);
  void make_noise_of_tables(const egg_update& u, uint32_t first_pair, uint32_t pairs);
  size_t bytes_of(const egg_batch& batch, uint32_t streams) const;
  void make_votes(const egg_update& u, uint32_t first_pair, uint32_t pairs, int32_t most_fitness);
  void send_numbers(const egg_update& u);
  void list_streams(const egg_update& u);
  void make_row_votes(uint32_t first_pair, uint32_t pairs);
  void find_rows();
  RuleArgs rule_args() const;
  void launch_forward_pass(const ForwardArgs& args, cudaStream_t stream);
  void launch_fused_pass(const CallArgs& args, uint32_t blocks, cudaStream_t stream);
  ForwardArgs forward_args(const egg_batch& batch) const { return forward_args(batch, pass_); }
  ForwardArgs forward_args(const egg_batch& batch, const Pass& pass) const;
  std::vector<DeviceOp> bound(const Plan& plan) const;
  void make_behind();
  NoiseArgs noise_args(const NoisePart* parts, size_t count, uint64_t step, uint32_t first_pair, uint32_t pairs,
                       int8_t* out) const;
  void make_fused(const Plan& plan);
  std::vector<StageSource> sources(const Plan& plan, const std::vector<DeviceOp>& ops) const;
  uint32_t blocks_for(uint32_t rows, const Plan& plan) const;

  ReplicaPlan own_;
  const egg_rule* rule_;
  Threads threads_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t beside_ = nullptr;     // of draws ahead, and of members beside streams of sites
  cudaStream_t sending_ = nullptr;    // of what calls bring, beside the work on noise
  cudaStream_t receiving_ = nullptr;  // of losses
  cudaEvent_t numbers_sent_ = nullptr;
  cudaEvent_t evaluated_ = nullptr;
  cudaEvent_t drawn_ = nullptr;
  cudaEvent_t votes_made_ = nullptr;  // for the streams of other replicas
  cudaEvent_t rows_made_ = nullptr;   // likewise
  cudaEvent_t updated_ = nullptr;
  std::vector<Param> params_;
  Pass pass_;
  // What draws at a value run: at their place, and at the tokens of a horizon where the program has attention.
  struct BehindPasses {
    Pass at_place;
    Pass later;
  };
  std::vector<BehindPasses> behind_;
  DeviceArray<DeviceOp> ops_;
  DeviceArray<StageSource> sources_;
  DeviceArray<DeviceOp> behind_ops_;
  DeviceArray<StageSource> behind_sources_;
  DeviceArray<char> behind_workspace_;
  DeviceArray<int64_t> behind_losses_;
  // What draws with a horizon need; see Area.
  struct {
    DeviceArray<int8_t> states;
    DeviceArray<int64_t> losses;
    DeviceArray<uint32_t> inputs;
    DeviceArray<uint32_t> targets;
    DeviceArray<uint8_t> resets;
    DeviceArray<uint32_t> row_numbers;
    DeviceArray<int8_t> cache;
    DeviceArray<NoisePart> parts;
    DeviceArray<int8_t> noise;
  } later_;
  FusedArgs fused_args_{};  // all that is the same in every call
  DeviceArray<unsigned long long> fused_stages_;
  DeviceArray<NoisePlaces> fused_places_;
  DeviceArray<uint32_t> handed_over_;
  std::vector<DeviceArray<int32_t>> tables_;
  std::vector<DeviceArray<int8_t>> byte_tables_;
  DeviceArray<egg_loss_tables> loss_tables_;
  DeviceArray<int8_t> noise_values_;
  DeviceArray<int8_t> noise_table_;
  NoiseValues values_of_noise_{};
  uint32_t noise_blocks_ = 0;
  DeviceArray<NoisePart> parts_;  // draws, then vectors
  size_t part_count_ = 0;
  size_t draw_part_count_ = 0;
  DeviceArray<NoisePart> vote_parts_;  // of the chosen parameters' draws
  size_t vote_part_count_ = 0;
  size_t table_part_count_ = 0;  // of these, the first: those of masked tables
  // Noise, with all draws of these pairs: what an evaluation has left for the votes of its step, or what is there ahead
  // of the next one.
  struct Noise {
    DeviceArray<int8_t> values;
    uint64_t step = 0;
    uint32_t first_pair = 0;
    uint32_t pairs = 0;
    bool with_vectors = false;  // of the weights as they are

    bool has(uint64_t of_step, uint32_t first, uint32_t count) const {
      return step == of_step && first_pair == first && pairs >= count;
    }
  };
  Noise& noise() { return noises_[noise_]; }
  const Noise& noise() const { return noises_[noise_]; }
  Noise noises_[2];                  // the second where draws are made ahead
  size_t noise_ = 0;                 // the one that members read
  DeviceArray<int8_t> plain_noise_;  // of the unperturbed model
  DeviceArray<char> workspace_;
  DeviceArray<int8_t> states_;
  // What streams read, on the device.
  struct BatchPlace {
    SentArray<uint32_t> inputs;
    SentArray<uint32_t> row_numbers;
    SentArray<uint32_t> targets;
    SentArray<uint8_t> resets;
    cudaEvent_t sent = nullptr;
    std::optional<egg_evaluate> ready;  // the coming call whose batch this is
  };
  BatchPlace& batch_place() { return batch_places_[batch_place_]; }
  const BatchPlace& batch_place() const { return batch_places_[batch_place_]; }
  BatchPlace batch_places_[2];
  size_t batch_place_ = 0;            // the one that is read; the other is for the next evaluation
  std::optional<egg_evaluate> next_;  // what get_ready() is to bring
  DeviceArray<int64_t> losses_;
  HostArray<int64_t> host_losses_;
  std::vector<Share> downloads_;  // of losses in this call, from the first of the share on
  std::vector<cudaEvent_t> download_events_;
  DeviceArray<int8_t> infer_states_;
  HostArray<int8_t> host_staging_;  // for states, weights and slots on their way across the seam
  DeviceArray<int8_t> logits_;
  DeviceArray<int8_t> staging_;  // a parameter as it crosses the seam
  DeviceArray<RuleNode> rule_nodes_;
  DeviceArray<int32_t> slot_places_;
  DeviceArray<uint32_t> rule_scratch_;
  DeviceArray<float> scalars_;
  DeviceArray<float> vote_stds_;
  std::vector<int8_t> own_fitness_;  // of the pairs whose votes are made here, each share zero up to a whole tile
  SentArray<int8_t> fitness_;
  DeviceArray<long long> votes_;      // of the own pairs and streams where votes are shared, else of all
  DeviceArray<long long> all_votes_;  // added up over replicas, where any are
  DeviceArray<const long long*> votes_of_;
  std::vector<const Replica*> replicas_;  // all that share votes with this one, itself too; empty: it is alone
  std::vector<bool> chosen_;              // parameters whose jobs are these
  uint32_t streams_read_ = 0;             // in such an update
  uint32_t tokens_read_ = 0;              // by each of these
  Jobs<VoteJob> matrix_votes_;
  Jobs<VoteJob> vector_votes_;
  DeviceArray<uint32_t> readers_;         // see RowTable
  DeviceArray<RowTable> tables_of_rows_;  // of those jobs
  RowTables row_tables_{};
  std::vector<uint32_t> row_params_;  // the tables' parameters
  DeviceArray<VotedRow> voted_rows_;
  DeviceArray<uint32_t> row_counters_;
  DeviceArray<uint32_t> row_begins_;
  // What follows grows with what streams read.
  DeviceArray<uint32_t> read_places_;
  DeviceArray<uint32_t> read_streams_;
  DeviceArray<RowPiece> row_pieces_;
  DeviceArray<long long> piece_votes_;  // of rows with several pieces, where no others lie in memory
  size_t piece_vote_count_ = 0;
  uint32_t stream_pairs_ = 0;
  // Whose streams the lists have.
  struct {
    uint32_t first_pair;
    uint32_t pairs;
    uint32_t first_stream;
  } listed_{};
  DeviceArray<double> row_variances_;
  // Pairs whose votes are made here in this update; where it is alone, all make both kinds.
  struct Voted {
    Share dense;
    Share on_rows;
    size_t rows_at;  // where the fitness of these lies
  } voted_{};
  struct {
    DeviceArray<int8_t> kept;  // see SitePlan
    DeviceArray<int16_t> errors;
    DeviceArray<uint8_t> perturbed;
    DeviceArray<int64_t> losses;  // of the plan's streams
    HostArray<int64_t> host_losses;
    DeviceArray<egg_site_sums> sums;
    HostArray<egg_site_sums> host_sums;
    std::vector<RowTables> tables;  // by site
    DeviceArray<RowTable> all_tables;
    DeviceArray<uint32_t> readers;
    DeviceArray<uint32_t> read_places;
    DeviceArray<uint32_t> read_tokens;
    DeviceArray<RowPiece> pieces;
    DeviceArray<VotedRow> voted_rows;
    DeviceArray<long long> votes;  // on rows with several pieces
    DeviceArray<uint32_t> counters;
    DeviceArray<double> moments;               // by table
    std::vector<double> moment_of;             // by site
    std::vector<std::vector<int64_t>> others;  // by site: votes of other processes' streams, as in egg_site_part
  } sites_;
  Jobs<RuleJob> rule_jobs_;
  Jobs<FormJob> forms_;
  DeviceArray<unsigned long long> changed_;
  HostArray<unsigned long long> host_changed_;
  DeviceArray<unsigned long long> checksum_;
};

}  // namespace eggroll::cuda

#endif
