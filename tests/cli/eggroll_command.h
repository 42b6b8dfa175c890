// The eggroll command as its users meet it: run in a folder of its own, watched, signalled, and its files read back.
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
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "record/scratch.h"
#include "support/patience.h"
#include "system/files.h"

namespace eggroll::test {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

struct Result {
  int exit_code = -1;  // -1 where a signal ended the process
  int signal = 0;
  std::string out;
  std::string err;
};

// One process, killed with this object at the latest.
class Process {
 public:
  // largest_file: a limit in bytes, as `ulimit -f` sets it.
  Process(const fs::path& folder, const Arguments& arguments, std::optional<rlim_t> largest_file = std::nullopt) {
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) throw Error("no pipe");
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      ::unsetenv("EGGROLL_PLUGIN_PATH");
      const rlimit limit{largest_file.value_or(RLIM_INFINITY), largest_file.value_or(RLIM_INFINITY)};
      if (largest_file) {
        // ThreadSanitizer writes a file there before main, where SIGXFSZ still ends the process.
        ::setenv("TMPDIR", "/nonexistent", 1);
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(127);
      }
      if (::chdir(folder.c_str()) != 0) ::_exit(127);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
    for (const int end : {out_, err_}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (!ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }

  pid_t pid() const { return pid_; }
  const std::string& out() const { return result_.out; }
  const std::string& err() const { return result_.err; }
  void signal(int number) const { ::kill(pid_, number); }

  // The processor time that the process itself has taken; other work on the machine hardly changes it.
  double processor_seconds() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0.0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  // The line of /proc/PID/status that begins with the key, without it; "" where the process has ended.
  std::string status(const std::string& key) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(key + ":\t")) return line.substr(key.size() + 2);
    }
    return "";
  }

  // Signals, and waits until the process has heard it: two signals of one number that both wait count as one.
  void signal_and_wait(int number) {
    signal(number);
    EXPECT_TRUE(wait_until([&] {
      const std::string waiting = status("ShdPnd");
      return waiting.empty() || (std::stoull(waiting, nullptr, 16) >> (number - 1) & 1) == 0;
    }));
  }

  // Waits until the condition holds, the process ends or patience does; returns whether the condition holds.
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

 private:
  static void drain(int end, std::string& text) {
    std::array<char, 4096> chunk{};
    for (ssize_t got; (got = ::read(end, chunk.data(), chunk.size())) > 0 || (got < 0 && errno == EINTR);) {
      if (got > 0) text.append(chunk.data(), static_cast<size_t>(got));
    }
  }

  void collect() {
    int status = 0;
    const bool ends_now = !ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_;
    drain(out_, result_.out);
    drain(err_, result_.err);
    if (!ends_now) return;
    ended_ = true;
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool ended_ = false;
  Result result_;
};

// Every refusal has a failing exit code and one line on stderr that holds each of these fragments.
inline void expect_one_sentence(const Result& result, const std::vector<std::string>& fragments) {
  EXPECT_EQ(result.signal, 0) << result.err;
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(result.err.starts_with("eggroll: ") && result.err.ends_with("\n")) << result.err;
  for (const std::string& fragment : fragments) EXPECT_THAT(result.err, testing::HasSubstr(fragment));
  for (const char* trace : {"terminate called", "what()", "Assertion", "std::", "Sanitizer", " 0x", "(0x", "[0x"}) {
    EXPECT_THAT(result.err, testing::Not(testing::HasSubstr(trace)));
  }
}

class CliTest : public ScratchTest {
 protected:
  CliTest() { fs::create_directory(work_); }

  Arguments command(const Arguments& arguments) const {
    Arguments all = {EGGROLL_BIN_DIR "/eggroll", "--config-dir", EGGROLL_SOURCE_DIR "/configs"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  Result eggroll(const Arguments& arguments, std::optional<rlim_t> largest_file = std::nullopt) const {
    return Process(work_, command(arguments), largest_file).wait();
  }

  // A run of about a tenth of a second.
  static Arguments tiny_run(const Arguments& more = {}) {
    Arguments all = {"run",
                     "experiment=count",
                     "model.width=16",
                     "train.population=32",
                     "train.steps=40",
                     "checkpoint.every=10",
                     "eval.every=10",
                     "eval.tokens=512",
                     "dataset.rows=256",
                     "dataset.valid_rows=8",
                     "backend=reference",
                     "backend.threads=1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // A run on the file `text` in work_.
  static Arguments text_run_with(const Arguments& settings, const Arguments& more) {
    Arguments all = {"run",
                     "experiment=plain",
                     "dataset.path=text",
                     "model.width=8",
                     "train.population=16",
                     "train.members_per_stream=8",
                     "backend=reference",
                     "backend.threads=1"};
    all.insert(all.end(), settings.begin(), settings.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  fs::path runs() const { return work_ / "results" / "runs"; }

  // The folder of the only run; empty where no run has begun.
  fs::path run_folder() const {
    if (!fs::exists(runs()) || fs::is_empty(runs())) return {};
    EXPECT_EQ(entries_in(runs()), 1U);
    return fs::directory_iterator(runs())->path();
  }
  static nlohmann::json record_in(const fs::path& run) { return nlohmann::json::parse(read_file(run / "record.json")); }

  // The step of every whole line of metrics.jsonl.
  static std::vector<uint64_t> steps_in(const fs::path& run) {
    std::vector<uint64_t> steps;
    if (run.empty() || !fs::exists(run / "metrics.jsonl")) return steps;
    const std::string text = read_file(run / "metrics.jsonl");
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      steps.push_back(nlohmann::json::parse(text.substr(begin, end - begin)).at("step"));
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
    Arguments all = arguments;
    all.push_back("results.dir=undisturbed");
    const Result result = eggroll(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
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
      EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::HasSubstr("tmp")));
    }
  }

  const fs::path work_ = folder_ / "here";
};

}  // namespace eggroll::test

#endif
