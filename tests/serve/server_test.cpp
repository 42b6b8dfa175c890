// The page and its API over HTTP, and the clients that are refused.
#include "serve/server.h"

#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <sstream>

#include "report/findings.h"
#include "serve/findings_pages.h"
#include "serve/results.h"
#include "support/patience.h"
#include "system/files.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ServerTest : public ResultsTest {
 protected:
  ServerTest() { add_grid(); }

  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    return httplib::Client("127.0.0.1", server_.port()).Get(path, headers);
  }
  // The answer that is no page which waits for it.
  httplib::Response findings(const std::string& query) const {
    httplib::Response reply;
    EXPECT_TRUE(wait_patiently([&] {
      reply = *get("/findings?" + query);
      return reply.status != 202;
    }));
    return reply;
  }
  // Waits until the first look is over.
  ordered_json all_runs() const {
    ordered_json reply;
    EXPECT_TRUE(wait_patiently([&] {
      reply = ordered_json::parse(get("/api/runs")->body);
      return reply.at("runs").size() == 4 && reply.at("unread") == 0;
    }));
    return reply;
  }

  Server server_{results_, 0};
};

TEST_F(ServerTest, ThePageAndAllItsPartsAreThere) {
  const auto page = get("/");
  ASSERT_EQ(page->status, 200);
  EXPECT_THAT(page->get_header_value("Content-Type"), HasSubstr("text/html"));
  EXPECT_THAT(page->body, Not(HasSubstr("http")));  // the page has nothing from another host, not even a link
  for (const char* part : {"/chart.js", "/main.js", "/style.css", "/icon.svg", "/chart-licence.txt", "/findings.js"}) {
    EXPECT_EQ(get(part)->status, 200) << part;
  }
  EXPECT_THAT(get("/main.js")->get_header_value("Content-Type"), HasSubstr("text/javascript"));
  EXPECT_THAT(get("/chart-licence.txt")->body, HasSubstr("Permission is hereby granted"));
  EXPECT_EQ(get("/index.html")->status, 404);
}

TEST_F(ServerTest, BrowsersAreToldToAskNobodyElse) {
  all_runs();
  for (const char* path : {"/", "/api/runs", "/findings?folder=.", "/none"}) {
    const auto reply = get(path);
    EXPECT_EQ(reply->get_header_value_count("Content-Security-Policy"), 1U) << path;
    EXPECT_THAT(reply->get_header_value("Content-Security-Policy"), HasSubstr("script-src 'self';"));
    EXPECT_THAT(reply->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_EQ(reply->get_header_value("X-Content-Type-Options"), "nosniff");
  }
}

TEST_F(ServerTest, RunsCurvesAndDetailsAreAnswered) {
  const ordered_json reply = all_runs();
  EXPECT_EQ(run_in(reply, "sweeps/grid/points/512-1").at("bits"), 3.75);
  const auto curve = get("/api/curve?folder=sweeps%2Fgrid%2Fpoints%2F512-1");
  EXPECT_EQ(ordered_json::parse(curve->body).at("held_out").at("bits").back(), 3.75);
  const auto run = get("/api/run?folder=sweeps%2Fgrid%2Fpoints%2F512-1");
  EXPECT_EQ(ordered_json::parse(run->body).at("record").at("seed"), 1);
  EXPECT_EQ(run->get_header_value("Content-Type"), "application/json");
}

TEST_F(ServerTest, FindingsAreThoseOfTheReport) {
  all_runs();
  write_findings(collect({results_ / "sweeps/grid"}), "grid", folder_ / "report");
  const std::string published = read_file(folder_ / "report" / "findings.html");
  const std::string served = findings("folder=sweeps/grid").body;
  EXPECT_THAT(served, HasSubstr("<title>Findings: grid</title>"));
  EXPECT_THAT(served, HasSubstr("<a href=\"/#/run?folder=sweeps/grid/points/512-1\">points/512-1</a>"));
  EXPECT_THAT(served, Not(HasSubstr("plots/")));
  EXPECT_THAT(served, Not(HasSubstr("tables/")));
  EXPECT_THAT(served, Not(HasSubstr(".csv")));
  EXPECT_THAT(served, HasSubstr("runs link to their pages."));
  const auto cells_of = [](const std::string& page) {
    const std::regex cell("<td class=n[^>]*>[^<]*");
    return std::vector<std::string>(std::sregex_token_iterator(page.begin(), page.end(), cell), {});
  };
  EXPECT_THAT(cells_of(served), ::testing::SizeIs(::testing::Gt(50)));
  EXPECT_EQ(cells_of(served), cells_of(published));

  EXPECT_THAT(findings("folder=sweeps/grid/points/512-0&folder=sweeps/grid/points/2048-0").body,
              HasSubstr("<title>Findings: 2 chosen runs</title>"));
  for (const char* query : {"", "folder=none", "folder=sweeps/grid&folder=none"}) {
    EXPECT_EQ(get(std::string("/findings?") + query)->status, 404) << query;
  }
}

TEST_F(ServerTest, NoRequestWaitsForAReport) {
  Watch watch(results_);
  FindingsPages pages(watch);
  const auto ask = [&] { return pages.page({"sweeps/grid"}).value(); };
  const auto expect_to_wait = [&](const std::string& says) {
    const FindingsPages::Answer answer = ask();
    EXPECT_FALSE(answer.is_made);
    EXPECT_THAT(answer.html, HasSubstr("<meta http-equiv=refresh content=1>"));
    EXPECT_THAT(answer.html, HasSubstr("<p>" + says + "; this page shows the report as soon as it is made.</p>"));
  };
  expect_to_wait("The runs are still being read");
  watch.look();
  expect_to_wait("The report on grid is being made");
  ASSERT_TRUE(wait_patiently([&] { return ask().is_made; }));
  const std::string before = ask().html;
  EXPECT_THAT(before, HasSubstr("<div class=p>Made at 20"));
  // The old report stays until the newer one is there.
  add_running();
  watch.look();
  ASSERT_TRUE(wait_patiently([&] {
    const FindingsPages::Answer answer = ask();
    EXPECT_TRUE(answer.is_made);
    return answer.html != before;
  }));
  EXPECT_THAT(ask().html, HasSubstr("5 runs in 1 study"));
  EXPECT_FALSE(pages.page({"none"}));
}

TEST_F(ServerTest, FindingsFollowTheRunsAndSayWhereThereAreNone) {
  const std::string running = add_running();
  ASSERT_TRUE(wait_patiently([&] { return findings("folder=" + running).status == 200; }));
  const auto said = [&] { return get("/findings?folder=" + running)->body; };
  EXPECT_TRUE(wait_patiently([&] { return said().find("No run here is completed yet") != std::string::npos; }));
  SyntheticRun run;
  run.seed = 2;
  add_point("2048-2", run);
  EXPECT_TRUE(wait_patiently([&] { return said().find("Findings: 2048-2") != std::string::npos; }));
}

TEST_F(ServerTest, NothingIsCompressed) {
  for (const char* path : {"/api/runs", "/chart.js"}) {
    EXPECT_FALSE(get(path, {{"Accept-Encoding", "gzip, br"}})->has_header("Content-Encoding")) << path;
  }
}

TEST_F(ServerTest, ItSeesWhatIsWrittenMeanwhile) {
  const std::string since = all_runs().at("version");
  const std::string running = add_running();
  ordered_json reply;
  ASSERT_TRUE(wait_patiently([&] {
    reply = ordered_json::parse(get("/api/runs?since=" + since)->body);
    return !reply.at("runs").empty();
  }));
  EXPECT_THAT(folders_in(reply), ElementsAre(running));
}

TEST_F(ServerTest, NoPathLeadsOutOfTheResults) {
  all_runs();
  write_synthetic_run(folder_ / "outside", {});
  for (const char* folder :
       {"../outside", "sweeps/../../outside", "/etc", "%2e%2e%2Foutside",
        "sweeps/grid/points/512-0/../../../../../outside", "", "sweeps/grid/points", "sweeps/grid/points/512-0%00"}) {
    for (const char* path : {"/api/run?folder=", "/api/curve?folder=", "/findings?folder="}) {
      const bool has_runs = std::string(folder) == "sweeps/grid/points" && *(path + 1) == 'f';
      EXPECT_EQ(get(std::string(path) + folder)->status, has_runs ? 202 : 404) << path << folder;
    }
  }
  for (const char* path : {"/../outside/record.json", "/%2e%2e/outside/record.json", "/sweeps/grid/sweep.json"}) {
    EXPECT_EQ(get(path)->status, 404) << path;
  }
}

TEST_F(ServerTest, OtherNamesOfThisMachineAreRefused) {
  for (const char* host : {"localhost", "localhost:1234", "127.0.0.1", "127.0.0.1:80"}) {
    EXPECT_EQ(get("/", {{"Host", host}})->status, 200) << host;
  }
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""}) {
    for (const char* path : {"/", "/api/runs", "/chart.js", "/none"}) {
      const auto reply = get(path, {{"Host", host}});
      EXPECT_EQ(reply->status, 403) << host << path;
      EXPECT_THAT(reply->body, Not(HasSubstr("grid")));
    }
  }
}

// A connection that has sent only the beginning of a request.
class SlowClient {
 public:
  explicit SlowClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    send("GET / HTTP/1.1\r\nX: ");
  }
  // Whether the server has not yet closed the connection.
  bool is_open() const {
    char byte = 0;
    return ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }
  void send(const std::string& text) const { ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }

 private:
  Descriptor socket_;
};

TEST_F(ServerTest, SlowClientsKeepNobodyOut) {
  all_runs();
  std::vector<std::unique_ptr<SlowClient>> clients(100);
  int answered = 0;  // while all slow clients were there
  EXPECT_TRUE(wait_patiently([&] {
    for (auto& client : clients) {
      if (!client || !client->is_open()) client = std::make_unique<SlowClient>(server_.port());
      client->send("x");
    }
    EXPECT_EQ(get("/api/runs")->status, 200);
    answered +=
        std::all_of(clients.begin(), clients.end(), [](const auto& client) { return client->is_open(); }) ? 1 : 0;
    return answered == 5;
  }));
}

TEST_F(ServerTest, ARequestThatNeverEndsIsEnded) {
  const SlowClient client(server_.port());
  EXPECT_TRUE(wait_patiently([&] {
    client.send("x");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return !client.is_open();
  }));
  EXPECT_EQ(get("/")->status, 200);
}

TEST_F(ServerTest, ARequestWithABodyOrALongHeaderIsRefused) {
  httplib::Client client("127.0.0.1", server_.port());
  // Newer versions of the library end the connection before they have read all of it.
  auto reply = client.Get("/" + std::string(100'000, 'x'));
  EXPECT_TRUE(!reply || reply->status == 414);
  reply = client.Get("/findings?folder=" + std::string(9'000, 'x'));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 414);
  EXPECT_EQ(reply->body, "too many runs are chosen for one address; choose fewer, or open their folder\n");
  reply = client.Get("/", httplib::Headers{{"X-Long", std::string(100'000, 'x')}});
  EXPECT_TRUE(!reply || reply->status >= 400);
}

TEST_F(ServerTest, OnlyGetIsAnswered) {
  httplib::Client client("127.0.0.1", server_.port());
  EXPECT_EQ(client.Post("/api/runs", "{}", "application/json")->status, 405);
  EXPECT_EQ(client.Put("/", "x", "text/plain")->status, 405);
  EXPECT_EQ(client.Delete("/api/run?folder=x")->status, 405);
  EXPECT_EQ(client.Options("/api/runs")->status, 405);
  EXPECT_EQ(client.Head("/")->status, 405);
}

TEST_F(ServerTest, NothingIsListenedOnButTheLocalAddress) {
  std::ostringstream wanted;
  wanted << std::uppercase << std::hex << ":" << std::setw(4) << std::setfill('0') << server_.port() << " ";
  std::vector<std::string> addresses;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string slot;
      std::string address;
      std::string remote;
      std::string state;
      words >> slot >> address >> remote >> state;
      if (state == "0A" && (address + " ").ends_with(wanted.str()))
        addresses.push_back(address.substr(0, address.find(':')));
    }
  }
  EXPECT_THAT(addresses, ElementsAre("0100007F"));
}

TEST_F(ServerTest, APortInUseIsRefused) {
  EXPECT_THAT(message_of([&] { Server(results_, server_.port()); }),
              HasSubstr("port " + std::to_string(server_.port()) + " of 127.0.0.1 cannot be listened on"));
}

}  // namespace
}  // namespace eggroll::test
