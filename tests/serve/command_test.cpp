// `eggroll serve` as its users meet it.
#include <httplib.h>

#include "cli/eggroll_command.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

class ServeCommandTest : public CliTest {
 protected:
  // Until it has said where the page is; returns the port.
  static int port_of(Process& process) {
    EXPECT_TRUE(process.wait_until([&] { return process.out().find('\n') != std::string::npos; }));
    const size_t colon = process.out().find(':', process.out().find("127.0.0.1"));
    return colon == std::string::npos ? 0 : std::atoi(process.out().c_str() + colon + 1);
  }
};

TEST_F(ServeCommandTest, ItSaysWhereThePageIsAndEndsWithASignal) {
  fs::create_directory(work_ / "results");
  for (const int signal : {SIGINT, SIGTERM}) {
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

TEST_F(ServeCommandTest, APortInUseIsOneSentence) {
  fs::create_directory(work_ / "results");
  Process first(work_, command({"serve", "results", "--port", "0"}));
  const std::string port = std::to_string(port_of(first));
  expect_one_sentence(eggroll({"serve", "results", "--port", port}), {"port " + port, "--port"});
}

TEST_F(ServeCommandTest, BadInputIsOneSentence) {
  expect_one_sentence(eggroll({"serve", "none"}), {"none is no folder"});
  expect_one_sentence(eggroll({"serve"}), {"results", "eggroll serve --help"});
  fs::create_directory(work_ / "results");
  expect_one_sentence(eggroll({"serve", "results", "--port", "70000"}), {"70000"});
}

}  // namespace
}  // namespace eggroll::test
