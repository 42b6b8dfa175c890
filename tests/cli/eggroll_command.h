// Runs the eggroll command in a folder of its own, as users do, sends it signals and reads its output and files.
#ifndef EGGROLL_TESTS_CLI_EGGROLL_COMMAND_H
#define EGGROLL_TESTS_CLI_EGGROLL_COMMAND_H

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

#include "record/scratch.h"
#include "support/patience.h"
#include "support/words.h"
#include "system/files.h"

namespace eggroll::test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

struct Result {
  int exit_code = -1;  // -1: a signal ended the process
  int signal = 0;
  std::string out;
  std::string err;
};

// The words as exec takes them; the result points into `words`.
inline std::vector<char*> argv_of(const Arguments& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

// A child process and its output. The destructor kills the process if it still runs.
class Child {
 public:
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& out() const { return result_.out; }
  const std::string& err() const { return result_.err; }
  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
  }

  // Waits until the condition holds, the process ends or the time is up; returns whether the condition holds.
  bool wait_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      collect();
      if (condition()) return true;
      if (ended_) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  Result wait() {
    if (!wait_until([this] { return ended_; })) {
      ADD_FAILURE() << "the command has not ended; it said\n" << result_.out << result_.err;
      signal(SIGKILL);
      wait_until([this] { return ended_; });
    }
    return result_;
  }

 protected:
  Child() = default;
  virtual ~Child() {
    if (ended_ || pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // Reads the new output.
  virtual void drain() = 0;

  // Runs in the forked process.
  [[noreturn]] static void become(const fs::path& folder, const std::vector<char*>& argv) {
    ::unsetenv("EGGROLL_PLUGIN_PATH");
    if (::chdir(folder.c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  static void read_all(int end, std::string& text) {
    std::array<char, 4096> chunk{};
    for (ssize_t got; (got = ::read(end, chunk.data(), chunk.size())) > 0 || (got < 0 && errno == EINTR);) {
      if (got > 0) text.append(chunk.data(), static_cast<size_t>(got));
    }
  }

  pid_t pid_ = -1;
  Result result_;

 private:
  void collect() {
    int status = 0;
    const bool ends_now = !ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_;
    drain();
    if (!ends_now) return;
    ended_ = true;
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  }

  bool ended_ = false;
};

// A process whose outputs are pipes.
class Process : public Child {
 public:
  // largest_file: a limit in bytes, as `ulimit -f` sets it.
  Process(const fs::path& folder, const Arguments& arguments, std::optional<rlim_t> largest_file = std::nullopt) {
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) throw Error("no pipe");
    const std::vector<char*> argv = argv_of(arguments);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      const rlimit limit{largest_file.value_or(RLIM_INFINITY), largest_file.value_or(RLIM_INFINITY)};
      if (largest_file) {
        // ThreadSanitizer writes a file there before main, where SIGXFSZ still ends the process.
        ::setenv("TMPDIR", "/nonexistent", 1);
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(127);
      }
      become(folder, argv);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
    for (const int end : {out_, err_}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  ~Process() override {
    ::close(out_);
    ::close(err_);
  }

  // The processor time that the process itself has taken; other work on the machine hardly changes it.
  double processor_seconds() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0.0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  // The value of this key in /proc/PID/status; "" if the process has ended.
  std::string status(const std::string& key) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(key + ":\t")) return line.substr(key.size() + 2);
    }
    return "";
  }

  // Sends the signal and waits until the process has received it: two waiting signals of one number count as one.
  void signal_and_wait(int number) {
    signal(number);
    EXPECT_TRUE(wait_until([&] {
      const std::string waiting = status("ShdPnd");
      return waiting.empty() || (std::stoull(waiting, nullptr, 16) >> (number - 1) & 1) == 0;
    }));
  }

 private:
  void drain() override {
    read_all(out_, result_.out);
    read_all(err_, result_.err);
  }

  int out_ = -1;
  int err_ = -1;
};

// The result of a command that must succeed.
inline Result good(const Result& result, const std::source_location& place = std::source_location::current()) {
  if (result.exit_code != 0) {
    ADD_FAILURE_AT(place.file_name(), static_cast<int>(place.line()))
        << "exit code " << result.exit_code << ", signal " << result.signal << "\n"
        << result.out << result.err;
  }
  return result;
}

// The output of a command that must succeed and warn of nothing.
inline std::string said(const Result& result, const std::source_location& place = std::source_location::current()) {
  good(result, place);
  if (!result.err.empty()) ADD_FAILURE_AT(place.file_name(), static_cast<int>(place.line())) << result.err;
  return result.out;
}

// Expects a failing exit code and one line on stderr that holds each of these fragments.
inline void expect_one_sentence(const Result& result, const std::vector<std::string>& fragments) {
  EXPECT_EQ(result.signal, 0) << result.err;
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(result.err.starts_with("eggroll: ") && result.err.ends_with("\n")) << result.err;
  for (const std::string& fragment : fragments) EXPECT_THAT(result.err, HasSubstr(fragment));
  for (const char* trace : {"terminate called", "what()", "Assertion", "std::", "Sanitizer", " 0x", "(0x", "[0x"}) {
    EXPECT_THAT(result.err, Not(HasSubstr(trace)));
  }
}

// All that lies below the folder, by its path there: the bytes of files, "" for links and folders.
inline std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    all[entry.path().lexically_relative(folder)] =
        entry.is_regular_file() && !entry.is_symlink() ? read_file(entry.path()) : "";
  }
  return all;
}

class CliTest : public ScratchTest {
 protected:
  CliTest() { fs::create_directory(work_); }

  static Arguments command(const Arguments& arguments) {
    return joined({EGGROLL_BIN_DIR "/eggroll", "--config-dir", EGGROLL_SOURCE_DIR "/configs"}, arguments);
  }
  // The command with a variable of the environment, NAME=VALUE.
  static Arguments command_with(const std::string& variable, const Arguments& arguments) {
    return joined({"/usr/bin/env", variable}, command(arguments));
  }
  Result eggroll(const Arguments& arguments, std::optional<rlim_t> largest_file = std::nullopt) const {
    return Process(work_, command(arguments), largest_file).wait();
  }

  // The command refuses with one sentence that holds each of these fragments.
  void refuses(const Arguments& arguments, const std::vector<std::string>& fragments) const {
    SCOPED_TRACE(testing::PrintToString(arguments));
    expect_one_sentence(eggroll(arguments), fragments);
  }

  // Adds the folder of the test's own configurations and experiments, which goes before the repository's.
  Arguments with_own(const Arguments& arguments) const {
    return command(joined({"--config-dir", (folder_ / "configs").string()}, arguments));
  }
  Result own(const Arguments& arguments) const { return Process(work_, with_own(arguments)).wait(); }
  void write_own(const std::string& name, const std::string& text) const {
    scratch_.put("experiments/" + name + ".yaml", text);
    fs::create_directories(folder_ / "configs");
  }
  // A sweep on count; its section is indented by two. base: what goes before the other defaults.
  void write_own_sweep(const std::string& name, const std::string& base, const std::string& settings,
                       const std::string& section) const {
    write_own(name, "defaults:\n" + base +
                        "  - override dataset: count\n"
                        "  - override fitness: sign\n"
                        "  - override backend: reference\n"
                        "  - _self_\n"
                        "name: " +
                        name + "\nbackend: {threads: 1}\n" + settings + "sweep:\n" + section);
  }

  // A run of about a tenth of a second.
  static Arguments tiny_run(const Arguments& more = {}) {
    return joined({"run", "experiment=count", "model.width=16", "train.population=32", "train.steps=40",
                   "checkpoint.every=10", "eval.every=10", "eval.tokens=512", "dataset.rows=256",
                   "dataset.valid_rows=8", "backend=reference", "backend.threads=1"},
                  more);
  }
  // A sweep of four such runs, in results/sweeps/swept.
  static Arguments tiny_sweep(const Arguments& more = {}) {
    return joined({"sweep", "experiment=count-convergence", "sweep.seeds=1", "train.steps=2", "eval.every=2",
                   "model.width=8", "dataset.rows=64", "dataset.valid_rows=4", "name=swept"},
                  more);
  }

  // A run on the file `text` in work_.
  static Arguments text_run_with(const Arguments& settings, const Arguments& more = {}) {
    return joined(joined({"run", "experiment=plain", "dataset.path=text", "model.width=8", "train.population=16",
                          "train.members_per_stream=8", "backend=reference", "backend.threads=1"},
                         settings),
                  more);
  }
  // An English text of this size.
  static std::string april_text(size_t size = 4000) {
    std::string text;
    while (text.size() < size) text += "It was a bright cold day in April, and the clocks were striking thirteen. ";
    return text.substr(0, size);
  }

  // Begins or resumes the run, and sends it the signal once metrics.jsonl has more lines than this.
  Result stopped(const Arguments& arguments, size_t lines, int signal = SIGINT) const {
    Process process(work_, command(arguments));
    const size_t before = lines_in(run_folder());
    EXPECT_TRUE(process.wait_until([&] { return lines_in(run_folder()) > before + lines; })) << process.err();
    process.signal(signal);
    return process.wait();
  }

  fs::path runs() const { return work_ / "results" / "runs"; }

  // The folder of the only run; empty if no run has begun.
  fs::path run_folder() const {
    if (!fs::exists(runs()) || fs::is_empty(runs())) return {};
    EXPECT_EQ(entries_in(runs()), 1U);
    return fs::directory_iterator(runs())->path();
  }
  static nlohmann::json record_in(const fs::path& run) { return nlohmann::json::parse(read_file(run / "record.json")); }

  // The folder of the only run, as commands that are started in work_ name it.
  std::string run_name() const { return "results/runs/" + run_folder().filename().string(); }

  // The step of every whole line of metrics.jsonl.
  static std::vector<uint64_t> steps_in(const fs::path& run) {
    std::vector<uint64_t> steps;
    if (run.empty() || !fs::exists(run / "metrics.jsonl")) return steps;
    for (const std::string& line : lines_of(read_file(run / "metrics.jsonl"))) {
      steps.push_back(nlohmann::json::parse(line).at("step"));
    }
    return steps;
  }
  // The number of whole lines of metrics.jsonl, for conditions that are checked every millisecond.
  static size_t lines_in(const fs::path& run) {
    if (run.empty() || !fs::exists(run / "metrics.jsonl")) return 0;
    const std::string text = read_file(run / "metrics.jsonl");
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  static std::vector<uint64_t> each_step_once(uint64_t last) {
    std::vector<uint64_t> steps;
    for (uint64_t step = 0; step <= last; ++step) steps.push_back(step);
    return steps;
  }

  // Runs to the end in a folder of its own; returns the digest of the weights.
  std::string undisturbed(const Arguments& arguments) const {
    good(eggroll(joined(arguments, {"results.dir=undisturbed"})));
    const fs::path run = fs::directory_iterator(work_ / "undisturbed")->path();
    const std::string digest = record_in(run).at("weights_sha256");
    fs::remove_all(work_ / "undisturbed");
    return digest;
  }

  // The record says completed and has these weights, and the folder holds no leftover files.
  static void expect_completed(const fs::path& run, const std::string& digest) {
    const nlohmann::json record = record_in(run);
    EXPECT_EQ(record.at("status"), "completed");
    EXPECT_EQ(record.at("weights_sha256"), digest);
    EXPECT_EQ(record.at("error"), nullptr);
    EXPECT_EQ(steps_in(run), each_step_once(record.at("config").at("train").at("steps")));
    for (const auto& entry : fs::recursive_directory_iterator(run)) {
      EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("tmp")));
    }
  }

  const fs::path work_ = folder_ / "here";
};

}  // namespace eggroll::test

#endif
