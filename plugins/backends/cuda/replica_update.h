// A replica's updates: its votes, the votes of other replicas, and the rule.
#ifndef EGGROLL_CUDA_REPLICA_UPDATE_H
#define EGGROLL_CUDA_REPLICA_UPDATE_H

#include <vector>

#include "replica_forward.h"

namespace eggroll::cuda {

// A function that ends in _async returns before its work is done; finish() waits.
class ReplicaUpdate : public ReplicaPart {
 public:
  ReplicaUpdate(ReplicaDevice& device, ReplicaWeights& weights, ReplicaNoise& noise, ReplicaBatch& batch,
                const ReplicaForward& forward);
  // Must be called before the first update if votes are shared, with all replicas, including this one.
  void read_votes_of(const std::vector<const ReplicaUpdate*>& replicas);

  // The parts of an update, in their order: this replica's votes; its rule; what it takes of other replicas' rows, and
  // all that follows; its end.
  void vote_async(const egg_update& u);
  void apply_rule_async();
  void end_async();
  // Writes the number of weights that it moved. If others own rows too, it adds the number: see shares_rows().
  void finish(const egg_update& u);

  // Parts of sites for other processes: the errors of this replica's streams are written, its votes added.
  void clear_votes(const egg_site_part& part) const;
  void add_to_site_part(const egg_site_part& part);
  // Adds the results of another process's streams.
  void add_site_part(const egg_site_part& part);

 private:
  // Memory of some tables' lists of who reads which row. Arrays that are not planned grow with what streams read.
  struct RowLists {
    DeviceArray<uint32_t> readers;  // see RowTable
    DeviceArray<RowTable> tables;
    DeviceArray<VotedRow> voted_rows;
    DeviceArray<uint32_t> counters;
    DeviceArray<uint32_t> places;
    DeviceArray<uint32_t> streams;
    DeviceArray<RowPiece> pieces;
    DeviceArray<long long> votes;  // of rows with several pieces, if no others lie in memory
  };
  using Room = SitePlan::Room;  // where a table's part of such lists begins
  // Calls body(voter, its squares among these votes, is_vector).
  template <class Body>
  void each_site_voter(const DeviceArray<long long>& votes, bool only_chosen, const Body& body);
  using Squares = unsigned long long*;

  void choose(const egg_update& u);
  void add_vote_job(uint32_t index);
  // Tables on their way to the device, and what reads their rows.
  struct TableList {
    std::vector<RowTable> tables;
    std::vector<uint32_t> readers;
  };
  RowTable& add_table(TableList& list, RowTables& all, uint32_t index, const std::vector<int32_t>& reads,
                      const RowLists& lists, const Room& before) const;
  void make_row_tables();
  Room after(const Room& before, uint32_t index, size_t readers) const;
  void make_site_tables();
  Range voting_pairs(const egg_update& u, bool on_rows) const;
  int32_t send_fitness(const int8_t* fitness);
  void send_numbers(const egg_update& u);
  std::vector<double> row_variances(const egg_update& u) const;
  void make_votes(const egg_update& u, Range pairs, int32_t most_fitness);
  void clear_rows();
  void list_streams(const egg_update& u);
  void make_row_votes(Range pairs);
  RuleArgs rule_args() const;
  void take_rows();
  void vote_by_sites(const egg_update& u);
  void list_tokens();
  void bring_errors();
  void add_site_votes(const SiteVoter& voter, Squares squares, bool is_vector);
  void upload_others_votes(const SiteVoter& voter, Squares squares);
  void apply_rule_by_sites();

  ReplicaWeights& weights_;
  ReplicaNoise& noise_;
  ReplicaBatch& batch_;
  const ReplicaForward& forward_;
  std::vector<const ReplicaUpdate*> replicas_;  // all that share votes, including this one; empty: none shares

  bool is_made_ = false;      // what follows is made
  std::vector<bool> chosen_;  // parameters whose jobs are these
  uint32_t streams_read_ = 0;
  uint32_t tokens_read_ = 0;  // by each of these
  uint32_t stream_pairs_ = 0;
  Jobs<VoteJob> matrix_votes_;
  Jobs<VoteJob> vector_votes_;
  Jobs<RuleJob> rule_jobs_;
  DeviceArray<NoisePart> vote_parts_;  // of the chosen parameters' draws
  size_t vote_part_count_ = 0;
  size_t table_part_count_ = 0;  // of these, the first: those of masked tables

  // Pairs whose votes are made here in this update. If `owners` is 1, both ranges hold all of them.
  struct {
    Range dense;
    Range on_rows;
    size_t rows_at;  // where the fitness of these lies
  } voted_{};
  std::vector<int8_t> own_fitness_;  // of these, each range zero up to a whole tile
  SentArray<int8_t> fitness_{take(Area::kFitness)};
  DeviceArray<long long> votes_ =
      take(Area::kVotes);  // of the own pairs and streams if the votes are shared, else of all
  DeviceArray<long long> all_votes_ = take(Area::kAllVotes);  // added up over replicas, if they share votes
  DeviceArray<const long long*> votes_of_;

  RowLists rows_;
  RowTables row_tables_{};
  std::vector<uint32_t> row_params_;  // the tables' parameters
  DeviceArray<uint32_t> row_begins_ = take(Area::kRowBegins);
  DeviceArray<double> row_variances_ = take(Area::kRowVariances);
  size_t piece_vote_count_ = 0;

  RowLists site_rows_;
  std::vector<RowTables> site_tables_;                      // by site
  DeviceArray<double> moments_ = take(Area::kSiteMoments);  // by table
  std::vector<double> moment_of_;                           // by site
  std::vector<std::vector<int64_t>> others_;  // by site: votes of other processes' streams, as in egg_site_part

  DeviceArray<RuleNode> rule_nodes_ = take(Area::kRuleNodes, plan_.rule.nodes);
  DeviceArray<int32_t> slot_places_ = take(Area::kSlotPlaces, plan_.rule.slot_places);
  DeviceArray<uint32_t> rule_scratch_ = take(Area::kRuleScratch);
  DeviceArray<float> scalars_ = take(Area::kScalars);
  DeviceArray<float> vote_stds_ = take(Area::kVoteStds);
  DeviceArray<unsigned long long> changed_ = take(Area::kChanged);
  HostArray<unsigned long long> host_changed_;
  Event numbers_sent_;
  Event votes_made_;  // for the streams of other replicas
  Event rows_made_;   // likewise
  Event updated_;
};

}  // namespace eggroll::cuda

#endif
