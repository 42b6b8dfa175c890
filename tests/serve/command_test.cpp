// `eggroll serve` as its users meet it.
#include <httplib.h>

#include <atomic>
#include <thread>

#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class ServeCommandTest : public CliTest {
 protected:
  // Waits until the command has printed its address; returns the port.
  static int port_of(Process& process) {
    EXPECT_TRUE(process.wait_until([&] { return process.out().find('\n') != std::string::npos; }));
    const size_t colon = process.out().find(':', process.out().find("127.0.0.1"));
    return colon == std::string::npos ? 0 : std::atoi(process.out().c_str() + colon + 1);
  }
};

TEST_F(ServeCommandTest, ItSaysWhereThePageIsAndEndsWithASignal) {
  fs::create_directory(work_ / "results");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Process process(work_, command({"serve", "results", "--port", "0"}));
    const int port = port_of(process);
    ASSERT_GT(port, 0) << process.out();
    EXPECT_EQ(httplib::Client("127.0.0.1", port).Get("/")->status, 200);
    process.signal(signal);
    const Result result = process.wait();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out, HasSubstr("shows results; Ctrl-C ends it"));
  }
}

TEST_F(ServeCommandTest, AClientThatNeverEndsItsRequestDoesNotKeepItFromEnding) {
  ::signal(SIGPIPE, SIG_IGN);  // the client may write to a connection that the server has closed
  fs::create_directory(work_ / "results");
  Process process(work_, command({"serve", "results", "--port", "0"}));
  httplib::Client client("127.0.0.1", port_of(process));
  std::atomic<bool> ended{false};
  std::atomic<bool> begun{false};
  std::thread slow([&] {
    client.Get("/api/runs", [&](const char*, size_t) { return !ended; });
    // The body of this request never ends.
    client.Post(
        "/", 1 << 20,
        [&](size_t, size_t, httplib::DataSink& sink) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          const bool written = !ended && sink.write("x", 1);
          begun = true;
          return written;
        },
        "text/plain");
  });
  EXPECT_TRUE(wait_patiently([&] { return begun.load(); }));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 0);
  ended = true;
  slow.join();
}

TEST_F(ServeCommandTest, APortInUseIsOneSentence) {
  fs::create_directory(work_ / "results");
  Process first(work_, command({"serve", "results", "--port", "0"}));
  const std::string port = std::to_string(port_of(first));
  expect_one_sentence(eggroll({"serve", "results", "--port", port}), {"port " + port, "--port"});
}

TEST_F(ServeCommandTest, BadInputIsOneSentence) {
  expect_one_sentence(eggroll({"serve", "none"}), {"'none' does not exist", "eggroll ls"});
  write_plainly(work_ / "file", "");
  expect_one_sentence(eggroll({"serve", "file"}), {"file is no folder"});
  expect_one_sentence(eggroll({"serve"}), {"results", "eggroll serve --help"});
  fs::create_directory(work_ / "results");
  expect_one_sentence(eggroll({"serve", "results", "--port", "70000"}), {"--port", "70000", "0 to 65535"});
}

}  // namespace
}  // namespace eggroll::test
