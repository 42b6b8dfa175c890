// Headless Chromium, driven over two pipes by the DevTools protocol: JSON messages that end with a zero byte.
#ifndef EGGROLL_TESTS_SERVE_BROWSER_H
#define EGGROLL_TESTS_SERVE_BROWSER_H

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/patience.h"
namespace eggroll::test {

class Browser {
 public:
  using Json = nlohmann::json;

  // The path of the executable; nothing if none is installed.
  static std::optional<std::string> find() {
    const char* const path_list = std::getenv("PATH");
    std::istringstream folders(path_list != nullptr ? path_list : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
      for (const char* name : {"chromium-headless-shell", "chromium", "google-chrome"}) {
        const std::string path = folder + "/" + name;
        if (::access(path.c_str(), X_OK) == 0) return path;
      }
    }
    return std::nullopt;
  }

  // profile: a folder for Chromium's own files.
  Browser(const std::string& executable, const std::filesystem::path& profile) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const std::string profile_flag = "--user-data-dir=" + profile.string();
    // The sandbox is off, because it cannot be set up for root in a container, and the tests open only our own page.
    std::vector<const char*> argv = {executable.c_str(), "--headless", "--no-sandbox", "--disable-gpu",
                                     "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
                                     // Every name except our address fails to resolve.
                                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", profile_flag.c_str(),
                                     "about:blank", nullptr};
    process_ = ::fork();
    if (process_ == 0) {
      ::setpgid(0, 0);
      // The child reads descriptor 3 and writes 4. Both ends move above 10 first, so that neither takes the other's
      // place.
      const int reads = ::fcntl(to[0], F_DUPFD, 10);
      const int writes = ::fcntl(from[1], F_DUPFD, 10);
      ::dup2(reads, 3);
      ::dup2(writes, 4);
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDERR_FILENO);
      ::execv(executable.c_str(), const_cast<char**>(argv.data()));
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
    const Json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}}).at("sessionId");
    for (const char* domain : {"Network.enable", "Page.enable", "Runtime.enable"}) call(domain);
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser() {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(to_);
    ::close(from_);
  }

  void open(const std::string& url) { call("Page.navigate", {{"url", url}}); }

  // The value of an expression of JavaScript.
  Json evaluate(const std::string& expression) {
    const Json reply = call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}});
    if (reply.contains("exceptionDetails")) {
      throw std::runtime_error(expression + ": " + reply.at("exceptionDetails").dump());
    }
    return reply.at("result").value("value", Json());
  }

  // Waits until the expression is true; returns whether it is. The page may load itself again meanwhile, which ends an
  // evaluation with an error of this number.
  bool wait_for(const std::string& expression) {
    return wait_patiently([&] {
      try {
        return evaluate("Boolean(" + expression + ")") == true;
      } catch (const std::runtime_error& error) {
        if (std::string(error.what()).find("-32000") == std::string::npos) throw;
        return false;
      }
    });
  }

  Json call(const std::string& method, const Json& parameters = Json::object()) {
    Json message = {{"id", ++last_id_}, {"method", method}, {"params", parameters}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump();
    if (::write(to_, text.c_str(), text.size() + 1) < 0) throw std::runtime_error("the browser is gone");
    while (true) {
      const Json reply = receive();
      if (reply.value("id", 0) != last_id_) continue;
      if (reply.contains("error")) throw std::runtime_error(method + ": " + reply.at("error").dump());
      return reply.at("result");
    }
  }

  // Every address that the page has requested.
  const std::vector<std::string>& requested() const { return requested_; }
  // The errors of the page's scripts.
  const std::vector<std::string>& exceptions() const { return exceptions_; }

 private:
  Json receive() {
    size_t end = 0;
    while ((end = received_.find('\0')) == std::string::npos) {
      pollfd ready{from_, POLLIN, 0};
      std::array<char, 65536> chunk{};
      if (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) <= 0)
        throw std::runtime_error("the browser says nothing");
      const ssize_t got = ::read(from_, chunk.data(), chunk.size());
      if (got <= 0) throw std::runtime_error("the browser has ended");
      received_.append(chunk.data(), static_cast<size_t>(got));
    }
    const Json message = Json::parse(received_.substr(0, end));
    received_.erase(0, end + 1);
    const std::string method = message.value("method", "");
    if (method == "Network.requestWillBeSent") requested_.push_back(message["params"]["request"]["url"]);
    if (method == "Runtime.exceptionThrown") exceptions_.push_back(message["params"]["exceptionDetails"].dump());
    return message;
  }

  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
  int last_id_ = 0;
  std::string session_;
  std::string received_;
  std::vector<std::string> requested_;
  std::vector<std::string> exceptions_;
};

}  // namespace eggroll::test

#endif
