// eggroll_bench registers a benchmark for each backend that can run here with each shape or op, and benchmarks of the
// host's own work. It runs those that Google Benchmark's flags choose.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <thread>

#include "bench/host_case.h"
#include "bench/op_case.h"
#include "bench/step_case.h"
#include "cli/host.h"
#include "eggroll/error.h"
#include "record/environment.h"
#include "record/sentence.h"
#include "system/files.h"
#include "system/machine.h"

namespace eggroll::bench {
namespace {

constexpr const char* kUsage =
    "Usage: eggroll_bench [--config-dir DIR] [--step LAYERSxWIDTH/popMEMBERS/tokensTOKENS[/tables]]...\n"
    "                     [--benchmark_filter=REGEX] [--benchmark_min_time=SECONDS] [--benchmark_list_tests]\n"
    "                     [--benchmark_out=FILE.json] [any other flag of Google Benchmark] [KEY=VALUE]...\n"
    "A build's eggroll_bench runs in the repository's top folder, a package's in any folder. KEY=VALUE changes the\n"
    "configuration, as in noise=table backend.threads=1.\n";

void print_usage() { fmt::print("{}", kUsage); }

// Holds the case that runs now, so that repeated runs find their session open and no two cases share the memory.
class Runner {
 public:
  void add(const std::string& name, benchmark::TimeUnit unit, std::function<std::unique_ptr<Case>()> open) {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [this, name, open = std::move(open)](benchmark::State& state) {
                                   try {
                                     if (name != open_name_) {
                                       open_.reset();
                                       open_name_.clear();
                                       forget_peak_memory();
                                       open_ = open();
                                       open_name_ = name;
                                     }
                                     open_->run(state);
                                   } catch (const std::exception& error) {
                                     state.SkipWithError(error.what());
                                     failed_ = true;
                                   }
                                 })
        ->UseManualTime()
        ->Unit(unit);
  }
  bool failed() const { return failed_; }

 private:
  std::string open_name_;
  std::unique_ptr<Case> open_;
  bool failed_ = false;
};

void add_backend(Runner& runner, const Host& host, const std::string& backend, std::vector<StepShape> shapes) {
  for (const StepShape& shape : default_step_shapes(backend)) {
    const bool known =
        std::any_of(shapes.begin(), shapes.end(), [&](const StepShape& s) { return s.name() == shape.name(); });
    if (!known) shapes.push_back(shape);
  }
  for (const StepShape& shape : shapes) {
    runner.add(fmt::format("step/{}/{}", backend, shape.name()), benchmark::kMillisecond,
               [&host, backend, shape] { return open_step_case(host, backend, shape); });
  }
  for (const std::string& op : benchmarked_ops()) {
    for (const int32_t width : {64, 128, 256, 512, 1024}) {
      runner.add(fmt::format("op/{}/{}/{}", backend, op, width), benchmark::kMicrosecond,
                 [&host, backend, op, width] { return open_op_case(host, backend, op, width); });
    }
  }
}

void add_host(Runner& runner, const Host& host) {
  for (const std::string& work : benchmarked_host_work()) {
    for (const uint32_t pairs : {1U << 14, 1U << 18, 1U << 22}) {
      runner.add(fmt::format("host/{}/pairs{}", work, pairs), benchmark::kMicrosecond,
                 [&host, work, pairs] { return open_host_case(host, work, pairs); });
    }
  }
}

void describe(const Host& host, const std::vector<std::string>& overrides) {
  const Environment environment = capture_environment();
  benchmark::AddCustomContext("commit", environment.host_commit);
  benchmark::AddCustomContext("compiler", environment.compiler);
  benchmark::AddCustomContext("cpu", environment.cpu.model);
  benchmark::AddCustomContext("spec_hash", environment.spec_hash);
  benchmark::AddCustomContext("threads", std::to_string(host.threads));
  benchmark::AddCustomContext("overrides", fmt::format("{}", fmt::join(overrides, " ")));
}

Host open_host(const HostOptions& options, const std::vector<std::string>& overrides) {
  const ConfigSearch search = config_search(options);
  // experiment=plain keeps a step the same when the defaults change.
  std::vector<std::string> all = {"experiment=plain"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  const ConfigNode config = compose(search, all);
  const auto threads = static_cast<int>(config.at("backend.threads").integer());
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return Host{search, std::move(all), find_plugins(config), threads > 0 ? threads : cores};
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv, &print_usage);  // takes its own flags out, and ends the process after --help
  HostOptions options;
  std::vector<std::string> steps;
  std::vector<std::string> overrides;
  CLI::App app;
  app.add_option("--config-dir", options.config_dirs)->allow_extra_args(false);
  app.add_option("--step", steps)->allow_extra_args(false);
  app.add_option("overrides", overrides);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw Error(fmt::format("{} (see eggroll_bench --help)", text));
  }
  std::vector<StepShape> shapes;
  for (const std::string& step : steps) shapes.push_back(parse_step_shape(step));

  const Host host = open_host(options, overrides);
  describe(host, overrides);
  Runner runner;
  add_host(runner, host);
  for (const PluginFile& file : host.registry.files()) {
    if (file.kind != EGG_KIND_BACKEND) continue;
    if (file.verdict == Verdict::kAccepted) {
      add_backend(runner, host, file.name, shapes);
    } else {
      print_error("eggroll_bench", file.reason);
    }
  }
  if (benchmark::RunSpecifiedBenchmarks() == 0) {
    throw Error("no benchmark was run, expected a --benchmark_filter that matches one; see --benchmark_list_tests");
  }
  return runner.failed() ? 1 : 0;
}

}  // namespace
}  // namespace eggroll::bench

int main(int argc, char** argv) {
  eggroll::open_standard_descriptors();
  try {
    return eggroll::bench::run(argc, argv);
  } catch (...) {
    std::fflush(stdout);
    eggroll::print_error("eggroll_bench", eggroll::sentence_of_exception());
    return 1;
  }
}
