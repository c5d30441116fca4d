// The daemon's figures, as operators read them: by HTTP, and from the usage store, also after the daemon was
// killed.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// A daemon that serves metrics on a unix socket and keeps a usage store, both in a folder that outlives the
/// daemon.
struct SystemBooks : System {
  void SetUp() override { start_daemon_with(""); }
  /// `device`: lines for [device].
  void start_daemon_with(const std::string& device) {
    start_daemon("slice_ms = 6\n" + device + "[metrics]\nlisten = \"unix:" + metrics_socket() +
                 "\"\n[usage]\nstore = \"" + store() + "\"\nflush_s = 0.2");
  }
  ~SystemBooks() override { tenancy.reset(); }  // before its folder

  std::string metrics_socket() const { return folder / "metrics.sock"; }
  std::string store() const { return folder / "usage.db"; }

  harness::Finished curl(const std::string& page) {
    auto finished = harness::run({{"curl", "--silent", "--show-error", "--fail", "--max-time", "30",
                                   "--unix-socket", metrics_socket(), "http://localhost" + page},
                                  {}});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }

  static nlohmann::json parse(const harness::Finished& finished) {
    EXPECT_EQ(finished.status, 0);
    std::string text;
    for (const std::string& line : finished.lines) text += line + '\n';
    return nlohmann::json::parse(text, nullptr, false);
  }
  /// Device seconds of all tenants: as the daemon reports them, which flushes first; or as the file has them.
  double asked() { return sum_of(fairgv({"usage", "--since", "1h", "--json"})); }
  double stored() { return sum_of(fairgv({"usage", "--since", "1h", "--json", "--store", store()})); }
  static double sum_of(const harness::Finished& finished) {
    double sum = 0;
    const nlohmann::json answer = parse(finished);
    for (const auto& row : answer["rows"]) sum += row["device_seconds"].get<double>();
    return sum;
  }
  /// The same figure by the daemon's books.
  double charged() {
    double sum = 0;
    const nlohmann::json report = ps();
    for (const auto& each : report["tenants"]) sum += each["use"][0]["device_time_ns"].get<double>() / 1e9;
    return sum;
  }

  void start_daemon_again() {
    const auto config = std::filesystem::path(tenancy->socket()).replace_filename("fairgvd.toml");
    const auto started = harness::run({{harness::beside("fairgv"), "run", "--socket", tenancy->socket(),
                                        "--config", config, "--tenant", "again", "--", "true"},
                                       {}});
    ASSERT_TRUE(started);
    ASSERT_EQ(started->status, 0);
  }

  harness::TemporaryFolder folder;
};

/// Prometheus' text format (version 0.0.4), read strictly.
struct Exposition {
  std::map<std::string, std::string> types;  // by family
  std::map<std::string, double> samples;     // by name and labels as written
  std::set<std::string> sampled;             // families

  explicit Exposition(const std::vector<std::string>& lines) {
    const std::regex help("# HELP ([a-z_]+) (.+)"), type("# TYPE ([a-z_]+) (counter|gauge|histogram)");
    const std::regex sample(R"re(([a-z_]+)(\{([a-z]+="([^"\\]|\\.)*",?)+\})? (\+Inf|NaN|[0-9.e+-]+))re");
    std::string helped;
    for (const std::string& line : lines) {
      std::smatch match;
      if (std::regex_match(line, match, help)) {
        helped = match[1];
        EXPECT_FALSE(types.contains(helped)) << helped << " comes twice";
      } else if (std::regex_match(line, match, type)) {
        EXPECT_EQ(helped, match[1]) << "HELP comes before TYPE";
        types[helped] = match[2];
      } else if (std::regex_match(line, match, sample)) {
        add(match[1], match[2], match[5], helped);
      } else {
        ADD_FAILURE() << "not a line of the format: " << line;
      }
    }
  }

  void add(std::string name, const std::string& labels, const std::string& value, const std::string& family) {
    const bool added = samples.emplace(name + labels, std::strtod(value.c_str(), nullptr)).second;
    EXPECT_TRUE(added) << name << labels << " comes twice";
    if (types[family] == "histogram") name = std::regex_replace(name, std::regex("_(bucket|sum|count)$"), "");
    EXPECT_EQ(name, family) << "a sample stands below its family";
    sampled.insert(name);
  }
  double of(const std::string& name) const {
    const auto found = samples.find(name);
    return found == samples.end() ? std::nan("") : found->second;
  }
};

TEST_F(SystemBooks, MetricsOfRealTenantsAreToldInPrometheusFormat) {
  auto alice = start_long_program("alice", 2);
  auto bob = start_long_program("bob", 1);
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  const auto crash = [&] {
    auto victim = start_long_program("victim");
    EXPECT_TRUE(progresses(victim));
    ::kill(tenant("victim")["sessions"][0]["worker_pid"].get<pid_t>(), SIGKILL);
    EXPECT_TRUE(eventually([&] { return sessions_of("victim") == 0; }));
  };
  crash();
  const auto before = ps();
  const auto page = curl("/metrics");
  ASSERT_EQ(page.status, 0);
  const Exposition told(page.lines);
  for (const auto& [family, type] : told.types) {
    EXPECT_TRUE(family.starts_with("fairgv_")) << family;
    EXPECT_EQ(family.ends_with("_total"), type == "counter") << family << " is a " << type;
    EXPECT_TRUE(told.sampled.contains(family)) << family << " has no sample";
  }
  EXPECT_EQ(told.of("fairgv_tenant_weight{tenant=\"alice\"}"), 2);
  EXPECT_EQ(told.of("fairgv_tenant_min_share{tenant=\"alice\"}"), 0);
  EXPECT_EQ(told.of("fairgv_tenant_max_share{tenant=\"alice\"}"), 1);
  EXPECT_EQ(told.of("fairgv_tenant_class{tenant=\"alice\",class=\"normal\"}"), 1);
  EXPECT_EQ(told.of("fairgv_promised_share"), 0.05);
  EXPECT_EQ(told.of("fairgv_promise_limit_share"), 0.9);
  EXPECT_EQ(told.of("fairgv_sessions{tenant=\"bob\"}"), 1);
  EXPECT_EQ(told.of("fairgv_session_faults_total{tenant=\"victim\",reason=\"crash\"}"), 1);
  EXPECT_EQ(told.of("fairgv_session_faults_total{tenant=\"bob\",reason=\"crash\"}"), 0);
  EXPECT_NEAR(told.of("fairgv_entitled_share_ratio{tenant=\"alice\",device=\"0\"}"), 2.0 / 3, 1e-9);
  for (const auto& each : before["tenants"]) {
    const std::string labels = "{tenant=\"" + each["tenant"].get<std::string>() + "\",device=\"0\"}";
    const auto& use = each["use"][0];
    EXPECT_GE(told.of("fairgv_device_seconds_total" + labels), use["device_time_ns"].get<double>() / 1e9);
    EXPECT_GE(told.of("fairgv_launches_total" + labels), use["launches"].get<double>());
    EXPECT_GE(told.of("fairgv_wait_seconds_count" + labels), use["waits"].get<double>());
    EXPECT_GT(use["waits"].get<double>(), 0);
    EXPECT_GT(use["bytes"].get<double>() + use["entitled_ns"].get<double>(), 0);
    EXPECT_GE(use["wait_p99_ns"].get<double>(), use["wait_p50_ns"].get<double>());
  }
  const auto labelled = [](const std::string& le) {
    return "fairgv_wait_seconds_bucket{tenant=\"bob\",device=\"0\",le=\"" + le + "\"}";
  };
  EXPECT_LE(told.of(labelled("0.016777216")), told.of(labelled("17.179869184")));
  EXPECT_EQ(told.of(labelled("+Inf")), told.of("fairgv_wait_seconds_count{tenant=\"bob\",device=\"0\"}"));
  EXPECT_EQ(told.of("fairgv_usage_store_up"), 1);
  EXPECT_EQ(curl("/healthz").lines, std::vector<std::string>{"ok"});
  EXPECT_EQ(curl("/readyz").lines, std::vector<std::string>{"ready"});
  EXPECT_NE(curl("/nothing").status, 0);

  // Counters go on over a restart, and ended programs stay in them.
  ::kill(bob.pid(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return sessions_of("bob") == 0; }));
  const Exposition ended(curl("/metrics").lines);
  ASSERT_EQ(fairgv({"restart"}).status, 0);
  const Exposition after(curl("/metrics").lines);
  EXPECT_EQ(after.of("fairgv_restarts_total"), 1);
  // The dispatcher may learn of bob's end, and charge his last turn, after the table of sessions has.
  for (const char* const name : {"fairgv_device_seconds_total", "fairgv_wait_seconds_count",
                                 "fairgv_launches_total", "fairgv_moved_bytes_total"}) {
    for (const char* const labels : {"{tenant=\"alice\",device=\"0\"}", "{tenant=\"bob\",device=\"0\"}"}) {
      EXPECT_GE(after.of(name + std::string(labels)), ended.of(name + std::string(labels))) << name << labels;
    }
  }
  EXPECT_EQ(after.of("fairgv_session_faults_total{tenant=\"victim\",reason=\"crash\"}"), 1);
  EXPECT_TRUE(progresses(alice));
}

TEST_F(SystemBooks, TheDashboardNamesOnlyMetricsThatAreTold) {
  start_daemon_with("policy = \"cap\"\noversell = true\nmemory = \"1GiB\"\noversubscribe = 2\n");
  auto bob = start_long_program("bob");
  ASSERT_TRUE(progresses(bob));
  ASSERT_EQ(fairgv({"set", "bob", "--max", "50%"}).status, 0);
  const auto program =
      harness::run({{harness::beside("fairgv"), "run", "--socket", tenancy->socket(), "--tenant", "alice",
                     "--max", "50%", "--", workload("matrixMul"), "--repetitions", "3"},
                    {}});
  ASSERT_TRUE(program);
  ASSERT_EQ(program->status, 0);
  const Exposition told(curl("/metrics").lines);
  EXPECT_EQ(told.of("fairgv_bought_share{tenant=\"bob\",device=\"0\"}"), 0.5);
  EXPECT_EQ(told.of("fairgv_device_memory_bytes{device=\"0\"}"), 2.0 * (1U << 30U));
  EXPECT_EQ(told.of("fairgv_device_memory_there_bytes{device=\"0\"}"), 1U << 30U);
  EXPECT_GT(told.of("fairgv_lent_memory_bytes{tenant=\"bob\",device=\"0\"}"), 0);
  std::ifstream file(std::string(FAIRGV_SOURCE_DIR) + "/tools/grafana/fairgv.json");
  const auto dashboard = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(dashboard.is_object());
  const std::regex name("fairgv_[a-z_]+");
  std::size_t named = 0;
  const auto check = [&](const std::string& expression) {
    for (std::sregex_iterator at(expression.begin(), expression.end(), name), end; at != end; ++at) {
      ++named;
      std::string family = at->str();
      if (!told.types.contains(family)) family = std::regex_replace(family, std::regex("_bucket$"), "");
      EXPECT_TRUE(told.types.contains(family)) << at->str() << " in " << expression;
    }
  };
  for (const auto& panel : dashboard["panels"]) {
    EXPECT_FALSE(panel["targets"].empty()) << panel["title"];
    for (const auto& target : panel["targets"]) check(target["expr"]);
  }
  for (const auto& variable : dashboard["templating"]["list"]) {
    if (variable.contains("definition")) check(variable["definition"]);
  }
  EXPECT_GT(named, 20u);
  // Every metric is in the manual, and the other way round.
  std::ifstream manual_file(std::string(FAIRGV_SOURCE_DIR) + "/docs/METRICS.md");
  std::ostringstream text;
  text << manual_file.rdbuf();
  const std::string manual = text.str();
  for (const auto& [family, type] : told.types) {
    EXPECT_NE(manual.find("`" + family), std::string::npos) << family << " is not in docs/METRICS.md";
  }
  const std::regex family_name("`(fairgv_[a-z_]+)");
  for (std::sregex_iterator at(manual.begin(), manual.end(), family_name), end; at != end; ++at) {
    EXPECT_TRUE(told.types.contains((*at)[1])) << at->str() << " of docs/METRICS.md is not told";
  }
}

// The store is as at the last flush, whenever the daemon is killed.
TEST_F(SystemBooks, TheUsageStoreHasAllThatWasFlushedWhenTheDaemonIsKilled) {
  double earlier = 0;  // of the daemons before
  for (int round = 0; round < 3; ++round) {
    auto first = start_long_program("first", 1);
    auto second = start_long_program("second", 3);
    ASSERT_TRUE(progresses(first) && progresses(second));
    const double books = charged();
    ASSERT_GT(books, 0);
    double flushed = 0;
    if (round == 0) {
      flushed = asked();  // the daemon flushes before it answers
      EXPECT_GE(flushed, earlier + books);
    } else {
      // The daemon flushes every flush_s by itself.
      ASSERT_TRUE(eventually([&] { return (flushed = stored()) >= earlier + books; }));
    }
    const pid_t daemon = ps()["daemon"]["pid"];
    const auto looked = std::chrono::steady_clock::now();
    const double last = charged();
    ASSERT_EQ(::kill(daemon, SIGKILL), 0);
    ASSERT_TRUE(eventually([&] { return !alive(daemon); }));
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - looked;
    const double kept = stored();
    EXPECT_GE(kept, flushed) << "round " << round;
    EXPECT_LE(kept, earlier + last + since.count()) << "more than the device can have run";
    earlier = kept;
    ASSERT_NO_FATAL_FAILURE(start_daemon_again());
  }
  EXPECT_EQ(asked(), earlier) << "the next daemon adds nothing of its own";
}

TEST_F(SystemBooks, UsageAgreesWithTheBooksAndIsToldInAllForms) {
  for (const char* const name : {"alice", "bob"}) {
    const auto program =
        harness::run(tenancy->tenant(name, 1, {workload("matrixMul"), "--repetitions", "20"}));
    ASSERT_TRUE(program);
    ASSERT_EQ(program->status, 0);
  }
  ASSERT_TRUE(eventually([&] { return sessions_of("alice") + sessions_of("bob") == 0; }));
  ASSERT_EQ(fairgv({"restart"}).status, 0);
  const auto usage = parse(fairgv({"usage", "--since", "1d", "--json"}));
  const Exposition told(curl("/metrics").lines);
  std::size_t seen = 0;
  for (const auto& row : usage["rows"]) {
    const std::string labels = "{tenant=\"" + row["key"].get<std::string>() + "\",device=\"0\"}";
    EXPECT_NEAR(row["device_seconds"].get<double>(), told.of("fairgv_device_seconds_total" + labels), 1e-6);
    EXPECT_NEAR(row["entitled_seconds"].get<double>(), told.of("fairgv_entitled_seconds_total" + labels),
                1e-6);
    EXPECT_EQ(row["launches"].get<double>(), told.of("fairgv_launches_total" + labels));
    EXPECT_GT(row["moved_bytes"].get<double>(), 0);
    EXPECT_GT(row["memory_byte_seconds"].get<double>(), 0);
    ++seen;
  }
  EXPECT_EQ(seen, 2u);
  for (const char* const by : {"tenant", "user", "device", "day"}) {
    EXPECT_NEAR(sum_of(fairgv({"usage", "--since", "1d", "--by", by, "--json"})),
                sum_of(fairgv({"usage", "--since", "1d", "--json"})), 1e-6)
        << by;
    const auto csv = fairgv({"usage", "--by", by, "--csv"});
    ASSERT_GE(csv.lines.size(), 2u);
    EXPECT_TRUE(csv.lines[0].starts_with(std::string(by) + ",device_seconds,entitled_seconds,"));
  }
  EXPECT_EQ(fairgv({"usage", "--since", "2hh"}).status, 2);
  EXPECT_EQ(fairgv({"usage", "--by", "weekday"}).status, 2);
  EXPECT_EQ(fairgv({"usage", "--since", "1h", "--until", "1d"}).status, 2) << "it ends before it begins";
}

}  // namespace
}  // namespace fairgv::integration
