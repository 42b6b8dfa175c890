// The script that sbatch gets and the answers of squeue, without a cluster.
#include "experiment/slurm.h"

#include <gmock/gmock.h>

#include "config/yaml.h"
#include "experiment/launcher.h"
#include "record/scratch.h"
#include "system/files.h"
#include "system/text.h"

namespace eggroll::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// configs/launcher/slurm.yaml with these lines instead of its own.
ConfigNode section(const std::map<std::string, std::string>& values = {}) {
  std::string text = read_file(EGGROLL_SOURCE_DIR "/configs/launcher/slurm.yaml");
  for (const auto& [key, value] : values) {
    const size_t begin = text.find("\n" + key + ":") + 1;
    text.replace(begin, text.find('\n', begin) - begin, key + ": " + value);
  }
  return parse_yaml(text, "slurm.yaml");
}

std::vector<std::string> command(const std::map<std::string, std::string>& values) {
  return sbatch_command(read_slurm(section(values)),
                        {"eggroll-rank-0123456789ab", "sweeps/rank/jobs/0123456789ab", 24});
}

TEST(SlurmCommand, WithoutResourcesTheClusterDecides) {
  EXPECT_THAT(command({}), ElementsAre("sbatch", "--parsable", "--job-name=eggroll-rank-0123456789ab", "--array=0-23",
                                       "--chdir=" + std::filesystem::current_path().string(),
                                       "--output=sweeps/rank/jobs/0123456789ab/%a.out", "--nodes=1", "--ntasks=1",
                                       "--requeue", "--open-mode=append", "sweeps/rank/jobs/0123456789ab/job.sh"));
}

TEST(SlurmCommand, ResourcesComeInOrderFurtherOptionsLast) {
  const std::vector<std::string> words = command({{"partition", "low"},
                                                  {"account", "eggs"},
                                                  {"qos", "long"},
                                                  {"time", "\"8:00:00\""},
                                                  {"cpus", "4"},
                                                  {"memory", "16G"},
                                                  {"gpus", "\"a100:2\""},
                                                  {"constraint", "\"avx512&ssd\""},
                                                  {"options", "[\"--exclude=node7\", \"--nice=100\"]"},
                                                  {"at_once", "4"}});
  EXPECT_EQ(words[3], "--array=0-23%4");
  const std::vector<std::string> asked(words.begin() + 10, words.end());
  EXPECT_THAT(asked, ElementsAre("--partition=low", "--account=eggs", "--qos=long", "--time=8:00:00",
                                 "--cpus-per-task=4", "--mem=16G", "--gpus=a100:2", "--constraint=avx512&ssd",
                                 "--exclude=node7", "--nice=100", "sweeps/rank/jobs/0123456789ab/job.sh"));
}

TEST(SlurmCommand, BadSettingsAreNamedWithTheirPlace) {
  const auto refusal = [](const std::string& key, const std::string& value) {
    return message_of([&] { read_slurm(section({{key, value}})); });
  };
  EXPECT_EQ(
      refusal("time", "true"),
      "slurm.yaml:7: launcher.time is true, expected a number above 0, or text as sbatch takes it; correct it, or "
      "leave it null");
  EXPECT_THAT(refusal("cpus", "0"), HasSubstr("launcher.cpus is the integer 0, expected a number above 0"));
  EXPECT_THAT(refusal("at_once", "many"),
              HasSubstr("launcher.at_once is the text 'many', expected an integer above 0"));
  EXPECT_THAT(refusal("poll_seconds", "0"),
              HasSubstr("launcher.poll_seconds is the integer 0, expected a number from"));
  EXPECT_THAT(refusal("options", "--nice"), HasSubstr("launcher.options has the text '--nice', expected a list"));
  EXPECT_THAT(refusal("options", "[nice]"), HasSubstr("launcher.options has the text 'nice', expected a list"));
  EXPECT_THAT(
      message_of([] { open_launcher(parse_yaml("name: slurmm\n", "x.yaml"), {}); }),
      HasSubstr("x.yaml:1: launcher.name is the text 'slurmm', expected local or slurm; did you mean 'slurm'?"));
  EXPECT_THAT(message_of([] {
                open_launcher(section(), {2, ""});
              }),
              HasSubstr("--jobs and --workers are for points on this"));
}

TEST(SlurmCommand, TheScriptQuotesEachPathForTheShell) {
  const std::string script = script_text("/here and/it's/eggroll", "sweeps/a b/jobs/1");
  EXPECT_THAT(script,
              HasSubstr("exec '/here and/it'\\''s/eggroll' point 'sweeps/a b/jobs/1' \"$SLURM_ARRAY_TASK_ID\""));
  const std::string echoed = "set -- " + shell_word("it's $HOME \"x\"") + "; printf %s \"$1\"";
  EXPECT_EQ(run_tool({"sh", "-c", echoed}).output, "it's $HOME \"x\"");
}

TEST(SlurmQueue, ElementsOfArraysAreRead) {
  const auto elements = read_queue(
      "squeue: warning: slow\n"
      "12|0|RUNNING|eggroll-rank-0123456789ab\n12|17|PENDING|eggroll-rank-0123456789ab\n"
      "12|3|COMPLETING|eggroll-rank-0123456789ab\n13|N/A|RUNNING|another\n");
  ASSERT_EQ(elements.size(), 3U);
  EXPECT_EQ(elements[1].job, "12");
  EXPECT_EQ(elements[1].number, 17U);
  EXPECT_EQ(elements[1].name, "eggroll-rank-0123456789ab");
  EXPECT_TRUE(elements[0].runs);
  EXPECT_FALSE(elements[1].runs);
  EXPECT_TRUE(elements[2].runs);
}

TEST(Tool, SaysHowItEnded) {
  EXPECT_EQ(run_tool({"sh", "-c", "echo out; echo err >&2; exit 3"}).exit_code, 3);
  EXPECT_EQ(run_tool({"sh", "-c", "echo out; echo err >&2"}).output, "out\nerr\n");
  EXPECT_EQ(run_tool({"sh", "-c", "kill -TERM $$"}).exit_code, 128 + 15);
  EXPECT_EQ(message_of([] { run_tool({"/nonexistent/sbatch"}); }),
            "cannot start /nonexistent/sbatch: No such file or directory");
}

}  // namespace
}  // namespace eggroll::test
