#include "session.h"

#include <chrono>
#include <exception>
#include <string>
#include <system_error>

#include "eggroll/threads_given.h"

namespace eggroll::cuda {

void require_alike(const Replicas& replicas, uint64_t steps) {
  const uint64_t expected = replicas.front()->weights.checksum();
  for (size_t i = 1; i < replicas.size(); ++i) {
    if (replicas[i]->weights.checksum() == expected) continue;
    throw Error("after step " + std::to_string(steps) + " GPU " + std::to_string(replicas[i]->device.own.device) +
                    " has other weights or slots than GPU " + std::to_string(replicas.front()->device.own.device) +
                    ", expected the same, because both made every update; resume the run from its last checkpoint",
                EGG_ERROR_DEVICE);
  }
}

CudaSession::CudaSession(const egg_session_spec& spec, std::vector<ReplicaPlan> plans, uint32_t checksum_every)
    : checksum_every_(checksum_every) {
  std::vector<const ReplicaUpdate*> updates;
  for (ReplicaPlan& own : plans) {
    shares_rows_ = own.owners > 1;
    updates.push_back(&replicas_.emplace_back(std::make_unique<Replica>(std::move(own), spec))->update);
  }
  for (const auto& replica : replicas_) replica->update.read_votes_of(updates);
  const uint32_t threads = threads_given(static_cast<uint32_t>(replicas_.size())).count;
  // Awake for about as long as the host works between two calls, so that no device waits for a thread.
  constexpr std::chrono::milliseconds kAwake{1};
  try {
    while (side_threads_.size() + 1 < threads) side_threads_.push_back(std::make_unique<SideThread>(kAwake));
  } catch (const std::system_error&) {
    // The system may refuse a thread that it had a moment ago.
  }
}

// Uses a thread for each device, if the system gives as many, so that no device waits while the host serves others.
void CudaSession::each_replica(const std::function<void(Replica&)>& body) {
  for (size_t i = 0; i < side_threads_.size(); ++i) {
    side_threads_[i]->start([&body, &replica = *replicas_[i]] { body(replica); });
  }
  std::exception_ptr failure;
  try {
    for (size_t i = side_threads_.size(); i < replicas_.size(); ++i) body(*replicas_[i]);
  } catch (...) {
    failure = std::current_exception();
  }
  for (const auto& thread : side_threads_) {
    try {
      thread->wait();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

void CudaSession::set_weights(uint32_t param, const int8_t* weights) {
  for (const auto& replica : replicas_) replica->weights.set(param, weights);
}

void CudaSession::get_weights(uint32_t param, int8_t* weights) { replicas_.front()->weights.get(param, weights); }

void CudaSession::set_slot(uint32_t param, uint32_t slot, const void* data) {
  for (const auto& replica : replicas_) replica->weights.set_slot(param, slot, data);
}

void CudaSession::get_slot(uint32_t param, uint32_t slot, void* data) {
  ReplicaWeights& first = replicas_.front()->weights;
  for (size_t i = 1; i < replicas_.size() && first.shares_rows(param); ++i) {
    first.take_slot(param, slot, replicas_[i]->weights);
  }
  first.get_slot(param, slot, data);
}

void CudaSession::set_states(uint32_t first, uint32_t count, const int8_t* states) {
  for (const auto& replica : replicas_) replica->forward.set_states(first, count, states);
}

void CudaSession::get_states(uint32_t first, uint32_t count, int8_t* states) {
  for (const auto& replica : replicas_) replica->forward.get_states(first, count, states);
}

void CudaSession::evaluate(const egg_evaluate& arguments) {
  each_replica([&](Replica& replica) { replica.forward.evaluate_async(arguments); });
  each_replica([&](Replica& replica) { replica.forward.finish_evaluate(arguments); });
  for (const auto& replica : replicas_) replica->forward.add_site_sums(arguments);
}

void CudaSession::update(const egg_update& arguments) {
  each_replica([&](Replica& replica) { replica.update.vote_async(arguments); });
  each_replica([&](Replica& replica) {
    replica.update.apply_rule_async();
    if (!shares_rows_) replica.update.end_async();
  });
  if (shares_rows_) each_replica([](Replica& replica) { replica.update.end_async(); });
  for (const auto& replica : replicas_) replica->update.finish(arguments);
  ++updates_;
  const bool due = checksum_every_ > 0 && updates_ % checksum_every_ == 0;
  if (due && replicas_.size() > 1) require_alike(replicas_, arguments.step + 1);
}

void CudaSession::infer(const egg_infer& arguments) { replicas_.front()->forward.infer(arguments); }

void CudaSession::get_site_part(const egg_site_part& part) {
  replicas_.front()->update.clear_votes(part);
  for (const auto& replica : replicas_) replica->update.add_to_site_part(part);
}

void CudaSession::add_site_part(const egg_site_part& part) {
  for (const auto& replica : replicas_) replica->update.add_site_part(part);
}

}  // namespace eggroll::cuda
