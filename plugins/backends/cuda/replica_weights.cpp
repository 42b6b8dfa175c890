#include "replica_weights.h"

#include "eggroll/noise.h"

namespace eggroll::cuda {

ReplicaWeights::ReplicaWeights(ReplicaDevice& device) : ReplicaPart(device) {
  for (const ParamMemory& memory : own_.memory.params) {
    Param& param =
        params_.emplace_back(Param{memory, DeviceArray<int8_t>(size_t{memory.rows} * memory.stride),
                                   DeviceArray<int8_t>(memory.fragment_bytes), DeviceArray<int8_t>(memory.stage_bytes),
                                   DeviceArray<int8_t>(memory.later_bytes), DeviceArray<uint32_t>(memory.slot_cells)});
    for (DeviceArray<int8_t>* form : {&param.weights, &param.fragments, &param.stages, &param.later}) {
      form->zero(stream_);
    }
    param.slots.zero(stream_);
    const auto cut_of = [index = params_.size() - 1](const Plan& plan) {
      return plan.fused->cuts[index] == StagesOf::kInputs ? kFusedInputs : kFusedOutputs;
    };
    param.first_form = forms_.pieces;
    add_form(param, kFragments, param.fragments);
    add_form(param, plan_.fused ? cut_of(plan_) : kStages, param.stages);
    if (own_.later) add_form(param, cut_of(*own_.later), param.later);
    param.form_pieces = forms_.pieces - param.first_form;
  }
  forms_.array = take(Area::kFormJobs, forms_.jobs);
}

void ReplicaWeights::add_form(Param& param, FormKind kind, const DeviceArray<int8_t>& form) {
  if (form.get() == nullptr) return;
  const FormJob job{0,          kind,         param.weights.get(),           form.get(),
                    param.rows, param.stride, divide_up(param.rows, kBlock), param.stride / kBlock};
  forms_.add(job, form_pieces(job));
}

void ReplicaWeights::set(uint32_t index, const int8_t* weights) {
  device_.activate();
  Param& param = params_.at(index);
  staging_.upload(weights, param.count(), stream_);
  launch_pad(staging_.get(), param.weights.get(), param.rows, param.cols, param.stride, stream_);
  launch_forms(forms_.on_device(), param.first_form, param.form_pieces, stream_);
  ++version_;
  check(cudaStreamSynchronize(stream_), "take weights");
}

void ReplicaWeights::get(uint32_t index, int8_t* weights) const {
  device_.activate();
  const Param& param = params_.at(index);
  launch_unpad(param.weights.get(), staging_.get(), param.rows, param.cols, param.stride, stream_);
  device_.bring(weights, staging_.get(), param.count(), "give weights");
}

void ReplicaWeights::set_slot(uint32_t index, uint32_t slot, const void* data) {
  device_.activate();
  Param& param = params_.at(index);
  if (!param.perturbed) return;
  param.slots.upload(static_cast<const uint32_t*>(data), param.count(), stream_, slot * param.count());
  check(cudaStreamSynchronize(stream_), "take a slot");
}

void ReplicaWeights::get_slot(uint32_t index, uint32_t slot, void* data) const {
  device_.activate();
  const Param& param = params_.at(index);
  if (!param.perturbed) return;
  device_.bring(data, param.slots.get() + slot * param.count(), param.count() * sizeof(uint32_t), "give a slot");
}

void ReplicaWeights::take_slot(uint32_t index, uint32_t slot, const ReplicaWeights& other) {
  device_.activate();
  const Param& param = params_.at(index);
  const size_t before = slot * param.count();
  launch_copy_rows(other[index].slots.get() + before, param.slots.get() + before, param.rows, param.cols,
                   other.own_.owner, own_.owners, stream_);
}

uint64_t ReplicaWeights::checksum() {
  device_.activate();
  checksum_.zero(stream_);
  for (uint32_t i = 0; i < params_.size(); ++i) {
    const Param& param = params_[i];
    launch_checksum(param.weights.get(), size_t{param.rows} * param.stride, egg_absorb(i, 0), checksum_.get(), stream_);
    if (shares_rows(i)) continue;  // each replica has only the slots of its own rows
    launch_checksum(param.slots.get(), param.slot_cells, egg_absorb(i, 1), checksum_.get(), stream_);
  }
  unsigned long long sum = 0;
  checksum_.download(&sum, 1, stream_);
  check(cudaStreamSynchronize(stream_), "add up its weights");
  return sum;
}

void ReplicaWeights::make_forms() {
  launch_forms(forms_.on_device(), 0, forms_.pieces, stream_);
  ++version_;
}

RuleJob ReplicaWeights::rule_job(uint32_t index, const DeviceArray<long long>& votes) const {
  const Param& param = params_[index];
  return {0,
          index,
          votes.get() + param.votes_offset,
          param.weights.get(),
          param.rows,
          param.cols,
          param.stride,
          param.slots.get()};
}

}  // namespace eggroll::cuda
