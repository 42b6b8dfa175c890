// The command line. Each command declares itself in it: its words and options, what completion offers for them, its
// help, and what it does. Help, completion and the manual page are made from that. There is one command line, so what
// its commands are given lies in static variables of the functions that declare them.
#ifndef EGGROLL_TOOLS_CLI_COMMAND_LINE_H
#define EGGROLL_TOOLS_CLI_COMMAND_LINE_H

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/host.h"

namespace eggroll {

// What completion offers for the words of a positional, or for an option's value.
enum class Words {
  kThese,  // the words that the command lists
  kCommands,
  kRuns,
  kCheckpoints,  // RUN or RUN@CHECKPOINT
  kResults,      // runs and sweeps
  kSections,     // groups, and keys without a dot
  kKeys,
  kOverrides,   // groups and keys, also with a sign before them
  kConditions,  // of runs: sweeps, statuses and keys
};

struct Offer {
  Words words = Words::kThese;
  std::vector<std::string> these = {};
};

struct CommandLine {
  CommandLine(int argc, char** argv);

  // Declares a command. does: runs it and returns the exit code.
  CLI::App* add(const std::string& name, const std::string& help, const std::function<int()>& does);
  // Declares a command whose words are overrides.
  CLI::App* add_composing(const std::string& name, const std::string& help, Overrides& overrides,
                          const std::function<int()>& does);

  // A positional or an option for which completion offers something. For others the shell completes names of files.
  template <class T>
  CLI::Option* takes(CLI::App* command, const std::string& name, T& value, const std::string& help, Offer offer) {
    CLI::Option* option = command->add_option(name, value, help);
    offers[option] = std::move(offer);
    return option;
  }
  // Options that several commands take.
  void takes_run(CLI::App* command, std::filesystem::path& run);
  void takes_results(CLI::App* command, const std::string& name, std::filesystem::path& results);
  void takes_checkpoint(CLI::App* command, std::string& checkpoint, std::string& weights);

  CLI::App app{"Experiments with integer evolution strategies", "eggroll"};
  HostOptions host;
  std::vector<std::string> typed;  // "eggroll", and the words after it
  std::map<const CLI::Option*, Offer> offers;
  int exit_code = 0;
};

// Options of several commands.
CLI::Option* add_plugins(CLI::App* command, std::vector<std::filesystem::path>& plugins);
void add_monitor(CLI::App* command, bool& show_monitor);
void add_json(CLI::App* command, bool& json);

inline constexpr const char* kRunHelp =
    "The run: its folder, or the name of one below ./results or 4 digits of its hash (eggroll ls)";

// Checks of a value. CLI11 reads 010 as 8, a number that is too large as the largest number, and an empty word as 0.
std::function<std::string(const std::string&)> whole_number(uint64_t least, uint64_t most);
std::function<std::string(const std::string&)> real_number(double least, double most);

}  // namespace eggroll

#endif
