// The processes that share a run; a run that is not shared has one. All processes must call the same functions in the
// same order.
#ifndef EGGROLL_PROCESSES_PROCESSES_H
#define EGGROLL_PROCESSES_PROCESSES_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/tree.h"
#include "plugin/instance.h"
#include "plugin/registry.h"

namespace eggroll {

class Processes {
 public:
  Processes() = default;  // alone
  // Waits for all processes.
  explicit Processes(const ChosenPlugin& plugin);
  Processes(Processes&&) = default;

  uint32_t index() const { return index_; }
  uint32_t size() const { return size_; }
  bool alone() const { return !network_; }
  const std::optional<ChosenPlugin>& plugin() const { return plugin_; }
  bool is_first() const { return index_ == 0; }  // it writes and prints

  // Gathers every process's bytes, sizes[i] of process i. `mine`, `sizes`, `all` must not change between the calls.
  void begin_gather(std::span<const uint8_t> mine, const std::vector<uint64_t>& sizes, std::vector<uint8_t>& all);
  void end_gather();
  void gather(std::span<const uint8_t> mine, const std::vector<uint64_t>& sizes, std::vector<uint8_t>& all);
  // The same for one value of each process.
  template <class T>
  std::vector<T> gather(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(size_, mine);
    if (network_) gather_bytes(&mine, sizeof(T), values.data());
    return values;
  }
  // On process 0, every process's bytes in order of processes; empty on the others. sizes: by process.
  std::vector<int8_t> collect(std::span<const int8_t> mine, const std::vector<uint64_t>& sizes);
  // Returns when all processes have called it.
  void barrier() { gather(uint8_t{0}); }
  // Returns process 0's value.
  bool broadcast(bool value);
  std::string broadcast(std::string text);
  // For a failure that all processes have seen: process 0 throws the Error, prints it and ends the job; the others wait
  // for that.
  [[noreturn]] void fail_together(const std::string& text);

  // Must be the last call of a run that ends well.
  void leave();
  // Ends all processes, this one too. May be called only if there is more than this process.
  void abort(int exit_code) noexcept;

 private:
  void gather_bytes(const void* mine, uint64_t size, void* all);

  std::optional<ChosenPlugin> plugin_;
  std::optional<ProcessesInstance> network_;
  uint32_t index_ = 0;
  uint32_t size_ = 1;
};

// The plugin that the section `processes` asks for: none (`alone`), one by name, or, for `auto`, one that can be used
// here, if there is one. Throws Error if a launcher has started several processes and nothing joins them.
std::optional<ChosenPlugin> choose_processes(const ConfigNode& config, const Registry& registry);

// Throws Error if a launcher has started several processes as one job. what: the subject of the sentence, which starts
// processes of its own ("a sweep").
void require_no_launcher(const std::string& what);

// Members [first, first + count) of a process: whole streams if there are at least as many streams as processes, else
// whole pairs.
struct MemberShare {
  uint32_t first = 0;
  uint32_t count = 0;
};
// By process, as even as pairs or groups allow. Throws Error if there are more processes than pairs.
std::vector<MemberShare> shares_of(uint32_t population, uint32_t group, uint32_t processes);

}  // namespace eggroll

#endif
