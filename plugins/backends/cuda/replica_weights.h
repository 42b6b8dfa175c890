// A replica's weights, the forms in which linears read them, and its slots.
#ifndef EGGROLL_CUDA_REPLICA_WEIGHTS_H
#define EGGROLL_CUDA_REPLICA_WEIGHTS_H

#include <vector>

#include "replica_part.h"

namespace eggroll::cuda {

class ReplicaWeights : public ReplicaPart {
 public:
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

  explicit ReplicaWeights(ReplicaDevice& device);
  void set(uint32_t param, const int8_t* weights);
  void get(uint32_t param, int8_t* weights) const;
  void set_slot(uint32_t param, uint32_t slot, const void* data);
  void get_slot(uint32_t param, uint32_t slot, void* data) const;
  // Copies the slot's rows that another replica owns. No update may be under way.
  void take_slot(uint32_t param, uint32_t slot, const ReplicaWeights& other);
  // Whether the rows of this parameter are updated by several replicas.
  bool shares_rows(uint32_t param) const { return own_.owners > 1 && params_.at(param).masked; }
  // The checksum of all weights and slots: equal if these are equal.
  uint64_t checksum();
  // Makes the forms of all weights. Must be called after an update.
  void make_forms();

  const std::vector<Param>& params() const { return params_; }
  const Param& operator[](size_t param) const { return params_[param]; }
  // The number of changes of the weights.
  uint64_t version() const { return version_; }
  // The rule's work on a parameter that has these votes.
  RuleJob rule_job(uint32_t param, const DeviceArray<long long>& votes) const;

 private:
  void add_form(Param& param, FormKind kind, const DeviceArray<int8_t>& form);

  std::vector<Param> params_;
  Jobs<FormJob> forms_;
  DeviceArray<int8_t> staging_ = take(Area::kStaging);  // a parameter, as calls of the contract pass it
  DeviceArray<unsigned long long> checksum_ = take(Area::kChecksum);
  uint64_t version_ = 0;
};

}  // namespace eggroll::cuda

#endif
