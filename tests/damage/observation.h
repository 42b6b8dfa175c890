// What a command does with a folder, and the figures that it shows or writes.
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
  std::string weights;  // of all runs that the command may have gone on with
};

inline constexpr std::chrono::seconds kPatience{20};

// The commands that a specimen can be given, by name.
std::vector<std::string> commands_for(const Specimen& specimen);

// The command's arguments for the run (for a sweep, one of its points; both paths below the folder).
Arguments arguments_of(const std::string& command, const Specimen& specimen, const fs::path& run);

// Runs the command in `folder`, a copy of the specimen's. expected: what the command shows of the specimen itself, or
// null; a server is asked until it shows that or tells of damage.
Observation observe(const std::string& command, const Arguments& arguments, const Specimen& specimen,
                    const fs::path& run, const fs::path& folder, const Observation* expected);

}  // namespace eggroll::test

#endif
