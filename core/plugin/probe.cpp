#include "plugin/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "eggroll/error.h"
#include "plugin/library.h"
#include "plugin/watchdog.h"
#include "system/file_calls.h"
#include "system/machine.h"
#include "system/process.h"

namespace eggroll {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PluginFile, name, version, build, abi, spec_hash, verdict, score, reason)

namespace {

using Clock = std::chrono::steady_clock;
using Files = std::vector<PluginFile*>;

// Makes the probe's answer the file's verdict.
void judge(PluginFile& file, const SeamCall& call) {
  if (!call.thrown.empty()) {
    file.reason = fmt::format("{}: {} {}", file.path.string(), file.who(), call.thrown);
  } else if (call.result > 0) {
    file.verdict = Verdict::kAccepted;
    file.score = call.result;
  } else {
    file.verdict = Verdict::kCannotRun;
    file.reason =
        fmt::format("{} cannot run here: {}", file.who(), call.text.empty() ? "it gave no reason" : call.text);
  }
}

LoadedPlugin load(PluginFile& file) {
  LoadedPlugin loaded = load_plugin(file);
  if (loaded.descriptor == nullptr) file.reason = fmt::format("{}: {}", file.path.string(), loaded.reason);
  return loaded;
}

void probe_here(PluginFile& file, std::chrono::milliseconds limit) {
  const LoadedPlugin loaded = load(file);
  if (loaded.descriptor == nullptr) return;
  const auto call = finish_within(limit, [probe = loaded.descriptor->probe] { return call_plugin(probe); });
  if (call) {
    judge(file, *call);
  } else {
    file.reason = abandoned_text(file.name, "probe", limit, file.path);
  }
}

// The child's facts about a file: once it is loaded, and once it is judged.
std::string text_of(const PluginFile& file) {
  nlohmann::json text = file;
  if (file.kind) text["kind"] = *file.kind;
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Takes the child's facts over; returns whether they can be read.
bool take(std::string_view text, PluginFile& file) try {
  const nlohmann::json from = nlohmann::json::parse(text);
  PluginFile taken = file;
  from.get_to(taken);
  if (from.contains("kind")) taken.kind = from["kind"].get<egg_kind>();
  file = std::move(taken);
  return true;
} catch (const nlohmann::json::exception&) {
  return false;
}

// The child's answer for one file. It lies in memory that the child shares with this process, so that no descriptor is
// there for a plugin to write to, to flood or to hand on.
struct Answer {
  enum Stage : uint32_t { kAsked, kLoaded, kJudged };

  std::atomic<uint32_t> stage;
  struct Text {
    uint32_t size;
    std::array<char, (size_t{32} << 10) - sizeof(uint32_t)> bytes;  // each of a file's texts is printed()

    void set(const std::string& text) {
      size = static_cast<uint32_t>(std::min(text.size(), bytes.size()));
      std::memcpy(bytes.data(), text.data(), size);
    }
    std::string_view get() const { return {bytes.data(), std::min<size_t>(size, bytes.size())}; }
  };
  std::array<Text, 2> texts;  // of the stages after the first

  void set(Stage reached, const PluginFile& file) {
    texts[reached - 1U].set(text_of(file));
    stage.store(reached);
  }
};

// Zeroes, shared with children.
class Answers {
 public:
  explicit Answers(size_t count) : bytes_(count * sizeof(Answer)) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  ~Answers() { ::munmap(memory_, bytes_); }
  Answer& operator[](size_t i) const { return static_cast<Answer*>(memory_)[i]; }

 private:
  size_t bytes_;
  void* memory_;
};

// Runs in the child. What a plugin prints there is dropped, no file of this process is open to it, and its crash leaves
// no core file.
[[noreturn]] void probe_all(const Files& files, const Answers& answers, pid_t parent) {
  kill_with_parent(parent);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  close_from(STDERR_FILENO + 1);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGPIPE}) {
    ::signal(number, SIG_DFL);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    PluginFile& file = *files[i];
    const LoadedPlugin loaded = load(file);
    answers[i].set(Answer::kLoaded, file);
    if (loaded.descriptor != nullptr) judge(file, call_plugin(loaded.descriptor->probe));
    answers[i].set(Answer::kJudged, file);
  }
  ::_exit(0);
}

// A process that probes files. When the object goes, it is killed with what it started, and reaped.
class Prober {
 public:
  explicit Prober(const Files& files) : answers_(files.size()) {
    std::fflush(nullptr);  // or a plugin that calls exit() would write it once more
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ == 0) {
      ::setpgid(0, 0);
      probe_all(files, answers_, parent);
    }
    if (child_ < 0) {
      throw Error(fmt::format("no process could be started to try plugins in ({}); allow more processes (ulimit -u)",
                              std::generic_category().message(errno)));
    }
    ::setpgid(child_, child_);  // whichever of the two comes first
  }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  ~Prober() { end(); }

  // Takes the verdict over; returns whether there is one. If not, file.reason says why, and no other file is judged.
  bool take_verdict(size_t i, PluginFile& file, std::chrono::milliseconds limit) {
    bool loaded = false;
    for (const Answer::Stage stage : {Answer::kLoaded, Answer::kJudged}) {
      const std::string name = loaded ? file.name : file.path.stem().string();
      if (!reaches(answers_[i], stage, limit)) {
        file.reason =
            is_over_ ? fmt::format("{}: {}ended the process that {} it with {}; fix or remove it", file.path.string(),
                                   loaded ? file.who() + " " : "", loaded ? "probed" : "loaded", ending_of(status_))
                     : abandoned_text(name, loaded ? "probe" : "its constructors", limit, file.path);
        return false;
      }
      if (!take(answers_[i].texts[stage - 1U].get(), file)) {
        file.reason = fmt::format("{}: wrote into memory that is not its own when it was tried; fix or remove it",
                                  file.path.string());
        return false;
      }
      loaded = true;
    }
    return true;
  }

 private:
  // Waits until the child reaches the stage or ends, or until the limit has passed.
  bool reaches(const Answer& answer, uint32_t stage, std::chrono::milliseconds limit) {
    const auto until = Clock::now() + limit;
    for (auto pause = std::chrono::microseconds(50); answer.stage.load() < stage; pause = std::min(2 * pause, kPause)) {
      if (is_over_ || Clock::now() >= until) return false;
      is_over_ = ::waitpid(child_, &status_, WNOHANG) == child_;  // it may have reached the stage just before
      if (!is_over_) std::this_thread::sleep_for(pause);
    }
    return true;
  }

  void end() {
    ::kill(-child_, SIGKILL);
    if (!is_over_) wait_for(child_);
  }

  static constexpr std::chrono::microseconds kPause{5000};

  Answers answers_;
  pid_t child_ = 0;
  bool is_over_ = false;
  int status_ = 0;
};

// Probes the files in one process, in their order, up to the first that gets no verdict.
void probe_together(const Files& files, std::chrono::milliseconds limit) {
  if (files.empty()) return;
  Prober prober(files);
  for (size_t i = 0; i < files.size() && prober.take_verdict(i, *files[i], limit);) ++i;
}

void probe_alone(PluginFile& file, std::chrono::milliseconds limit) {
  PluginFile fresh;
  fresh.path = file.path;
  fresh.is_of_build = file.is_of_build;
  file = std::move(fresh);
  probe_together({&file}, limit);
}

// Probes the files of the build in one process, all others each in its own. A refused file of the build is probed again
// alone, because a file before it may be the cause.
void probe_apart(const Files& files, std::chrono::milliseconds limit) {
  Files together;
  for (PluginFile* file : files) {
    if (file->is_of_build) together.push_back(file);
  }
  probe_together(together, limit);
  for (PluginFile* file : files) {
    if (!file->is_of_build || file->verdict == Verdict::kRejected) probe_alone(*file, limit);
  }
}

}  // namespace

void probe_files(std::vector<PluginFile>& files, std::chrono::milliseconds limit) {
  // Remembers files, because a driver that this process has used by now cannot be asked again in a fork.
  static auto& known = *new std::map<std::filesystem::path, PluginFile>();
  Files unknown;
  for (PluginFile& file : files) {
    if (!known.contains(file.path)) unknown.push_back(&file);
  }
  if (can_compute_after_fork()) {
    probe_apart(unknown, limit);
  } else {
    for (PluginFile* file : unknown) probe_here(*file, limit);
  }
  for (const PluginFile* file : unknown) known.emplace(file->path, *file);
  for (PluginFile& file : files) file = known.at(file.path);
}

}  // namespace eggroll
