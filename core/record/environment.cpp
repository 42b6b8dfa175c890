#include "record/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>

#include "eggroll/plugin.h"
#include "eggroll_commit.h"

namespace eggroll {

Environment capture_environment() {
  Environment environment;
  environment.host_version = EGGROLL_VERSION;
  environment.host_commit = EGGROLL_COMMIT;
  environment.compiler = EGGROLL_COMPILER;
  environment.abi = fmt::format("{}.{}", EGG_ABI_MAJOR, EGG_ABI_MINOR);
  environment.spec_hash = hex64(EGG_SPEC_HASH);
  utsname names{};
  ::uname(&names);
  environment.system = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  environment.cpu = this_cpu();
  return environment;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string hex64(uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace eggroll
