// A command's result for a folder, and the figures that it shows or writes.
#ifndef EGGROLL_TESTS_DAMAGE_OBSERVATION_H
#define EGGROLL_TESTS_DAMAGE_OBSERVATION_H

#include <string>
#include <vector>

#include "damage/specimens.h"

namespace eggroll::test {

struct Observation {
  Result result;
  bool took_too_long = false;
  bool tells_of_damage = false;
  std::string figures;  // without times
  std::string weights;  // the weights of all runs that the command may have continued
};

// A command that takes more processor time than this does not end.
inline constexpr double kMostProcessorSeconds = 60.0;

// The commands that a specimen can be given, by name.
std::vector<std::string> commands_for(const Specimen& specimen);

// The command's arguments for the run, or for a sweep and one of its points. Both paths are relative to the folder.
Arguments arguments_of(const std::string& command, const Specimen& specimen, const fs::path& run);

// Runs the command in `folder`, a copy of the specimen's.
Observation observe(const std::string& command, const Arguments& arguments, const Specimen& specimen,
                    const fs::path& run, const fs::path& folder);

}  // namespace eggroll::test

#endif
