#include "serve/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "eggroll/error.h"
#include "report/document.h"
#include "serve/connections.h"
#include "serve/findings_pages.h"
#include "serve/watch.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr const char* kHost = "127.0.0.1";
constexpr auto kPatience = std::chrono::seconds(2);  // how long a client may neither send nor take anything
constexpr auto kPause = std::chrono::seconds(1);     // between two looks
// A connection's longest life. It also ends after five requests or an idle second, which a byte now and then puts off.
constexpr auto kLongest = std::chrono::seconds(10);

// Names that a browser resolves to this machine only. Another name in a request's Host means that a foreign page has
// made its own name resolve to this machine; its script could read our replies.
bool is_local(const std::string& host) {
  const std::string name = host.substr(0, host.find(':'));
  return name == "localhost" || name == kHost;
}

const char* type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

void refuse(httplib::Response& response, int status, const std::string& sentence) {
  response.status = status;
  response.set_content(sentence + "\n", "text/plain; charset=utf-8");
}

// Sends the text as content of a known length that is asked for in parts, because the library does not compress such
// content: its brotli takes seconds for the summaries of 2,000 runs.
void send(httplib::Response& response, std::string text, const std::string& type) {
  const size_t whole = text.size();
  response.set_content_provider(whole, type,
                                [text = std::move(text)](size_t offset, size_t size, httplib::DataSink& sink) {
                                  return sink.write(text.data() + offset, size);
                                });
}

void reply(httplib::Response& response, const ordered_json& json) {
  // Names and logs may hold any bytes; bytes that are no UTF-8 become U+FFFD.
  send(response, json.dump(-1, ' ', false, ordered_json::error_handler_t::replace), "application/json");
}

// Starts a thread for each connection that waits for one, up to a number that slow clients do not reach by chance.
// cpp-httplib's own pool has one thread for each core, and a failure to start one ends the process.
class Threads : public httplib::TaskQueue {
 public:
  // Nothing in old versions of the library; in newer ones, whether the task was taken.
  using Taken = decltype(std::declval<httplib::TaskQueue>().enqueue(nullptr));

  Taken enqueue(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      if (idle_ <= tasks_.size() && threads_.size() < kMost) add_thread();
      if (!threads_.empty()) tasks_.push_back(std::exchange(task, nullptr));
    }
    ready_.notify_one();
    if (task) task();
    return static_cast<Taken>(true);
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static constexpr size_t kMost = 256;

  void add_thread() {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads; the existing ones take turns.
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      ready_.wait(lock, [this] { return ended_ || !tasks_.empty(); });
      --idle_;
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;  // guards the members below
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;  // number of idle threads
  bool ended_ = false;
};

}  // namespace

class Server::Work {
 public:
  Work(const std::filesystem::path& results, uint16_t port) : watch_(results) {
    // The library's own choice lets two servers share a port.
    http_.set_socket_options([](auto socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http_.set_tcp_nodelay(true);
    http_.set_keep_alive_max_count(5);
    http_.set_keep_alive_timeout(1);  // stopping waits for it
    http_.set_read_timeout(kPatience);
    http_.set_write_timeout(kPatience);
    http_.set_payload_max_length(0);  // a GET has none
    http_.new_task_queue = [] { return new Threads(); };
    http_.set_default_headers({{"Cache-Control", "no-store"},
                               {"Cross-Origin-Resource-Policy", "same-origin"},
                               {"Referrer-Policy", "no-referrer"},
                               {"X-Content-Type-Options", "nosniff"}});
    add_routes();
    if (port == 0) {
      port_ = http_.bind_to_any_port(kHost);
    } else {
      port_ = http_.bind_to_port(kHost, port) ? port : -1;
    }
    if (port_ <= 0) {
      throw Error(
          fmt::format("port {} of {} cannot be listened on: another process listens there, or ports below 1024 are for "
                      "root alone; choose another with --port, or 0 for any that is free",
                      port, kHost));
    }
    watching_ = std::thread([this] { keep_looking(); });
    try {
      answering_ = std::thread([this] { http_.listen_after_bind(); });
    } catch (...) {
      stop_looking();
      throw;
    }
    // Waits, because stop() has no effect before the server listens.
    while (!http_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  ~Work() {
    http_.stop();
    answering_.join();
    stop_looking();
  }

  uint16_t port() const { return static_cast<uint16_t>(port_); }

 private:
  void stop_looking() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    watch_.stop();
    watching_.join();
  }

  void add_routes() {
    http_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      if (!is_local(request.get_header_value("Host"))) {
        refuse(response, 403, "this page answers to localhost and 127.0.0.1 alone; open it by one of these names");
      } else if (request.method != "GET") {
        refuse(response, 405, "this page only answers GET; nothing can be changed here");
      } else {
        return httplib::Server::HandlerResponse::Unhandled;
      }
      return httplib::Server::HandlerResponse::Handled;
    });
    http_.set_post_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      // gnuplot writes styles into its figures.
      const bool has_styles = request.path == "/findings";
      response.set_header("Content-Security-Policy",
                          fmt::format("default-src 'none'; script-src 'self'; style-src 'self'{}; img-src 'self'; "
                                      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                                      has_styles ? " 'unsafe-inline'" : ""));
    });
    http_.Get("/api/runs", [this](const httplib::Request& request, httplib::Response& response) {
      reply(response, watch_.runs(request.get_param_value("since")));
    });
    http_.Get("/api/run", [this](const httplib::Request& request, httplib::Response& response) {
      reply_of_run(response, watch_.run(request.get_param_value("folder")));
    });
    http_.Get("/api/curve", [this](const httplib::Request& request, httplib::Response& response) {
      reply_of_run(response, watch_.curves(request.get_param_value("folder")));
    });
    http_.Get("/findings", [this](const httplib::Request& request, httplib::Response& response) {
      std::vector<std::string> folders;
      const auto [begin, end] = request.params.equal_range("folder");
      for (auto folder = begin; folder != end; ++folder) folders.push_back(folder->second);
      const std::optional<FindingsPages::Answer> page = findings_.page(folders);
      if (!page) return refuse(response, 404, "no run is in that folder; the page at / lists them");
      response.status = page->is_made ? 200 : 202;
      send(response, page->html, type_of(".html"));
    });
    for (const std::span<const Asset> assets : {serve_assets(), page_assets()}) {
      for (const Asset& asset : assets) {
        const auto answer = [&asset](const httplib::Request&, httplib::Response& response) {
          send(response, std::string(asset.text), type_of(asset.name));
        };
        http_.Get(asset.name == "index.html" ? "/" : "/" + std::string(asset.name), answer);
      }
    }
    http_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      refuse(response, response.status,
             response.status == 414 ? "too many runs are chosen for one address; choose fewer, or open their folder"
                                    : "there is nothing here; the page is at /");
    });
    http_.set_exception_handler([](const httplib::Request&, httplib::Response& response, auto) {
      refuse(response, 500, "this could not be answered; report it as a bug");
    });
  }

  static void reply_of_run(httplib::Response& response, const std::optional<ordered_json>& json) {
    if (json) {
      reply(response, *json);
    } else {
      // Folders are looked up among the known runs, so that no path leads out of the results.
      refuse(response, 404, "no run is in that folder; /api/runs lists them");
    }
  }

  void keep_looking() {
    Connections connections(port(), kLongest);
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      watch_.look();
      connections.end_old();
      lock.lock();
      wake_.wait_for(lock, kPause, [this] { return stopping_; });
    }
  }

  Watch watch_;
  FindingsPages findings_{watch_};
  httplib::Server http_;
  int port_ = -1;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread watching_;
  std::thread answering_;
};

Server::Server(const std::filesystem::path& results, uint16_t port) : work_(std::make_unique<Work>(results, port)) {}
Server::~Server() = default;
uint16_t Server::port() const { return work_->port(); }
std::string Server::address() const { return fmt::format("http://{}:{}/", kHost, port()); }

}  // namespace eggroll
