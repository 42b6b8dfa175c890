#include "processes/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "eggroll/error.h"

namespace eggroll {
namespace {

// The number of processes that a launcher says it has started as one job; 1 if none says so.
int launched_processes() {
  constexpr std::array<const char*, 2> kNames = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  int most = 1;
  for (const char* name : kNames) {
    const char* text = std::getenv(name);
    if (text != nullptr) most = std::max(most, std::atoi(text));
  }
  return most;
}

}  // namespace

Processes::Processes(const ChosenPlugin& plugin) : plugin_(plugin) {
  network_.emplace(plugin, egg_settings{sizeof(egg_settings), 0, nullptr});
  network_->join(index_, size_);
}

void Processes::begin_gather(std::span<const uint8_t> mine, const std::vector<uint64_t>& sizes,
                             std::vector<uint8_t>& all) {
  all.resize(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
  if (network_) {
    network_->gather_begin(mine.data(), sizes.data(), all.data());
  } else {
    std::copy(mine.begin(), mine.end(), all.begin());
  }
}

void Processes::end_gather() {
  if (network_) network_->gather_end();
}

void Processes::gather(std::span<const uint8_t> mine, const std::vector<uint64_t>& sizes, std::vector<uint8_t>& all) {
  begin_gather(mine, sizes, all);
  end_gather();
}

void Processes::gather_bytes(const void* mine, uint64_t size, void* all) {
  const std::vector<uint64_t> sizes(size_, size);
  network_->gather_begin(mine, sizes.data(), all);
  network_->gather_end();
}

std::vector<int8_t> Processes::collect(std::span<const int8_t> mine, const std::vector<uint64_t>& sizes) {
  if (!network_) return {mine.begin(), mine.end()};
  std::vector<int8_t> all(is_first() ? std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}) : 0);
  network_->collect(mine.data(), sizes.data(), is_first() ? all.data() : nullptr);
  return all;
}

bool Processes::broadcast(bool value) {
  uint8_t byte = value ? 1 : 0;
  if (network_) network_->broadcast(&byte, sizeof(byte));
  return byte != 0;
}

std::string Processes::broadcast(std::string text) {
  if (!network_) return text;
  uint64_t size = text.size();
  network_->broadcast(&size, sizeof(size));
  text.resize(size);
  network_->broadcast(text.data(), size);
  return text;
}

void Processes::fail_together(const std::string& text) {
  if (is_first()) throw Error(text);
  for (;;) barrier();  // process 0 never comes
}

void Processes::leave() {
  if (network_) network_->leave();
}

void Processes::abort(int exit_code) noexcept {
  if (network_) network_->abort(exit_code);
}

std::optional<ChosenPlugin> choose_processes(const ConfigNode& config, const Registry& registry) {
  const std::string name = config.at("processes.name").text();
  if (name != "auto" && name != "alone") return registry.choose(EGG_KIND_PROCESSES, name);
  const int processes = launched_processes();
  if (name == "auto") {
    std::string reasons;
    for (const PluginFile& file : registry.files()) {
      if (file.kind != EGG_KIND_PROCESSES) continue;
      if (file.verdict == Verdict::kAccepted) return registry.choose(EGG_KIND_PROCESSES, file.name);
      reasons += "; " + file.reason;
    }
    if (processes == 1) return std::nullopt;
    throw Error(
        fmt::format("{} processes were started for this run and no plugin can join them{}; build with an MPI "
                    "(Debian and Ubuntu: libopenmpi-dev) or start one process",
                    processes, reasons));
  }
  if (processes > 1) {
    throw Error(
        fmt::format("{} processes were started for this run and processes.name is alone; leave it auto, or start "
                    "one process",
                    processes));
  }
  return std::nullopt;
}

void require_no_launcher(const std::string& what) {
  if (launched_processes() == 1) return;
  throw Error(
      fmt::format("{} starts processes of its own, and {} were started for it; start one, without mpirun or srun", what,
                  launched_processes()));
}

std::vector<MemberShare> shares_of(uint32_t population, uint32_t group, uint32_t processes) {
  const uint32_t unit = population / group >= processes ? group : 2;
  const uint64_t units = population / unit;
  if (units < processes) {
    throw Error(fmt::format(
        "{} processes share {} members, expected at most a process for each pair; start {} or fewer, or use "
        "a larger train.population",
        processes, population, population / 2));
  }
  std::vector<MemberShare> shares(processes);
  for (uint64_t i = 0; i < processes; ++i) {
    const uint64_t begin = units * i / processes;
    const uint64_t end = units * (i + 1) / processes;
    shares[i] = {static_cast<uint32_t>(begin * unit), static_cast<uint32_t>((end - begin) * unit)};
  }
  return shares;
}

}  // namespace eggroll
