#include "plugin/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "eggroll/error.h"
#include "plugin/library.h"
#include "plugin/watchdog.h"
#include "system/files.h"
#include "system/machine.h"
#include "system/process.h"

namespace eggroll {
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

// What the child says of a file, in a line: once it is loaded, with `done` false, and once it is judged.
std::string line_of(const PluginFile& file, bool done) {
  const nlohmann::json line = {{"done", done},
                               {"kind", file.kind ? nlohmann::json(*file.kind) : nlohmann::json()},
                               {"name", file.name},
                               {"version", file.version},
                               {"build", file.build},
                               {"abi", file.abi},
                               {"spec_hash", file.spec_hash},
                               {"verdict", file.verdict},
                               {"score", file.score},
                               {"reason", file.reason}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Takes the line over; returns whether the file is done.
bool take_line(const std::string& text, PluginFile& file) {
  const nlohmann::json line = nlohmann::json::parse(text);
  if (!line.at("kind").is_null()) file.kind = line.at("kind").get<egg_kind>();
  line.at("name").get_to(file.name);
  line.at("version").get_to(file.version);
  line.at("build").get_to(file.build);
  line.at("abi").get_to(file.abi);
  line.at("spec_hash").get_to(file.spec_hash);
  line.at("verdict").get_to(file.verdict);
  line.at("score").get_to(file.score);
  line.at("reason").get_to(file.reason);
  return line.at("done").get<bool>();
}

void send(int pipe, const std::string& line) {
  if (write_all(pipe, line) != 0) ::_exit(1);
}

// Runs in the child. What a plugin prints there is dropped, and its crash leaves no core file.
[[noreturn]] void probe_from(const Files& files, size_t first, int pipe, pid_t parent) {
  die_with(parent);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGPIPE}) {
    ::signal(number, SIG_DFL);
  }
  for (size_t i = first; i < files.size(); ++i) {
    PluginFile& file = *files[i];
    const LoadedPlugin loaded = load(file);
    send(pipe, line_of(file, loaded.descriptor == nullptr));
    if (loaded.descriptor == nullptr) continue;
    judge(file, call_plugin(loaded.descriptor->probe));
    send(pipe, line_of(file, true));
  }
  ::_exit(0);
}

// A process that probes the files from `first` on. Killed and reaped with the object.
class Prober {
 public:
  Prober(const Files& files, size_t first) {
    Pipe pipe = open_pipe();
    std::fflush(nullptr);  // or a plugin that calls exit() would write it once more
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ == 0) probe_from(files, first, pipe.input->get(), parent);
    if (child_ < 0) {
      throw Error(fmt::format("no process could be started to try plugins in ({}); allow more processes (ulimit -u)",
                              std::generic_category().message(errno)));
    }
    output_.emplace(std::move(pipe.output));
  }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  ~Prober() { end(); }

  // The next line; nothing where the process ended, or said nothing for so long.
  std::optional<std::string> line(std::chrono::milliseconds limit) {
    const auto until = Clock::now() + limit;
    while (text_.find('\n') == std::string::npos) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      pollfd ready{output_->get(), POLLIN, 0};
      const int events = ::poll(&ready, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
      if (events == 0) {
        hangs_ = true;
        return std::nullopt;
      }
      std::array<char, 4096> part{};
      const ssize_t got = events > 0 ? ::read(output_->get(), part.data(), part.size()) : -1;
      if (got == 0 || (got < 0 && errno != EINTR)) return std::nullopt;
      if (got > 0) text_.append(part.data(), static_cast<size_t>(got));
    }
    const size_t end = text_.find('\n');
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

  bool hangs() const { return hangs_; }

  // Kills the process if it still runs. Returns how it ended: "SIGSEGV", "exit code 0".
  std::string end() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);  // changes nothing where it has ended
      status_ = wait_for(child_);
      child_ = 0;
    }
    return ending_of(status_);
  }

 private:
  std::optional<Descriptor> output_;
  pid_t child_ = 0;
  int status_ = 0;
  std::string text_;
  bool hangs_ = false;
};

// Probes the files from `first` on in one process, up to the last file or to the one that ends the process. Returns the
// number of the next file.
size_t probe_in_child(const Files& files, size_t first, std::chrono::milliseconds limit) {
  Prober prober(files, first);
  bool loaded = false;
  for (size_t i = first; i < files.size();) {
    PluginFile& file = *files[i];
    const std::optional<std::string> line = prober.line(limit);
    if (!line) {
      const std::string name = loaded ? file.name : file.path.stem().string();
      file.reason = prober.hangs() ? abandoned_text(name, loaded ? "probe" : "its constructors", limit, file.path)
                                   : fmt::format("{}: {}ended the process that {} it with {}; fix or remove it",
                                                 file.path.string(), loaded ? file.who() + " " : "",
                                                 loaded ? "probed" : "loaded", prober.end());
      return i + 1;
    }
    loaded = !take_line(*line, file);
    if (!loaded) ++i;
  }
  return files.size();
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
    for (size_t next = 0; next < unknown.size();) next = probe_in_child(unknown, next, limit);
  } else {
    for (PluginFile* file : unknown) probe_here(*file, limit);
  }
  for (const PluginFile* file : unknown) known.emplace(file->path, *file);
  for (PluginFile& file : files) file = known.at(file.path);
}

}  // namespace eggroll
