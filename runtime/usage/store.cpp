#include "runtime/usage/store.hpp"

#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "runtime/base/result.hpp"
#include "runtime/session/own_files.hpp"

namespace fairgv::usage {
namespace {

/// PRAGMA user_version of the tables below.
constexpr std::int64_t kVersion = 1;
/// How long to wait for another process that has the file locked.
constexpr int kPatienceMs = 2'000;

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS usage (
  begin_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL,
  tenant TEXT NOT NULL, uid INTEGER NOT NULL, device INTEGER NOT NULL, device_name TEXT NOT NULL,
  device_ns INTEGER NOT NULL, entitled_ns INTEGER NOT NULL, memory_byte_s REAL NOT NULL,
  commands INTEGER NOT NULL, launches INTEGER NOT NULL, slices INTEGER NOT NULL, bytes INTEGER NOT NULL,
  merged INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX IF NOT EXISTS usage_by_begin ON usage (begin_ms);
CREATE INDEX IF NOT EXISTS usage_to_merge ON usage (end_ms) WHERE merged = 0;
PRAGMA user_version = 1;
)";

constexpr const char* kAppend =
    "INSERT INTO usage (begin_ms, end_ms, tenant, uid, device, device_name, device_ns, entitled_ns, "
    "memory_byte_s, commands, launches, slices, bytes) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)";

/// Workers' claims are added up as real numbers: an absurd claim must not overflow an integer, which SQLite
/// answers with an error.
constexpr const char* kSums =
    "total(memory_byte_s), sum(device_ns), sum(entitled_ns), CAST(total(commands) AS INTEGER), "
    "CAST(total(launches) AS INTEGER), CAST(total(slices) AS INTEGER), CAST(total(bytes) AS INTEGER)";

/// `merged` is 2 until the rows that it replaces are gone.
const std::string kMerge =
    std::string(
        "INSERT INTO usage (begin_ms, end_ms, tenant, uid, device, device_name, memory_byte_s, device_ns, "
        "entitled_ns, commands, launches, slices, bytes, merged) "
        "SELECT min(begin_ms), max(end_ms), tenant, uid, device, device_name, ") +
    kSums +
    ", 2 FROM usage WHERE merged = 0 AND end_ms < ?1 "
    "GROUP BY begin_ms / 3600000, tenant, uid, device, device_name";

constexpr const char* key_of(UsageBy by) {
  switch (by) {
    case UsageBy::tenant:
      return "tenant";
    case UsageBy::user:
      return "CAST(uid AS TEXT)";
    case UsageBy::device:
      return "device || ' ' || device_name";
    case UsageBy::day:
      return "strftime('%Y-%m-%d', begin_ms / 1000, 'unixepoch', 'localtime')";
  }
  return "''";
}

/// SQLite would let everybody read the file, and believes files that others have put beside it (`-wal`,
/// `-journal`).
Result<void> make_file(const std::string& path) {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::absolute(path, code).parent_path();
  std::filesystem::create_directory(folder, code);
  const auto fail = [&](const Error& error) {
    return Error{"cannot open the usage store " + path + ": " + error.message};
  };
  if (auto safe = session::check_folder(folder, session::Neighbours::none); !safe) return fail(safe.error());
  if (auto file = session::open_own_file(path, O_RDWR); !file) return fail(file.error());
  return {};
}

}  // namespace

/// A prepared statement. Values are bound in order; a failure shows in step().
class Store::Statement {
 public:
  Statement(sqlite3* database, const std::string& sql) {
    ::sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr);
  }
  ~Statement() { ::sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(std::int64_t value) { ::sqlite3_bind_int64(statement_, ++bound_, value); }
  void bind(double value) { ::sqlite3_bind_double(statement_, ++bound_, value); }
  /// SQLite's integers are signed: larger values become the largest.
  void bind_count(std::uint64_t value) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    bind(static_cast<std::int64_t>(std::min(value, kMost)));
  }
  void bind(const std::string& text) {
    ::sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  /// SQLITE_ROW, SQLITE_DONE, or an error.
  int step() { return statement_ == nullptr ? SQLITE_ERROR : ::sqlite3_step(statement_); }
  void again() {
    ::sqlite3_reset(statement_);
    bound_ = 0;
  }

  std::int64_t integer(int column) const { return ::sqlite3_column_int64(statement_, column); }
  std::uint64_t count(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  double real(int column) const { return ::sqlite3_column_double(statement_, column); }
  std::string text(int column) const {
    const void* const bytes = ::sqlite3_column_blob(statement_, column);
    if (bytes == nullptr) return {};
    return {static_cast<const char*>(bytes),
            static_cast<std::size_t>(::sqlite3_column_bytes(statement_, column))};
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

void Store::Close::operator()(sqlite3* database) const {
  ::sqlite3_close_v2(database);
}

Error Store::failure(const std::string& what) const {
  return Error{"cannot " + what + " the usage store " + path_ + ": " + ::sqlite3_errmsg(database_.get())};
}

Result<Store> Store::connect(const std::string& path, int flags) {
  sqlite3* made = nullptr;
  const int status = ::sqlite3_open_v2(path.c_str(), &made, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Store store(std::unique_ptr<sqlite3, Close>(made), path);
  if (status != SQLITE_OK) return store.failure("open");
  ::sqlite3_busy_timeout(made, kPatienceMs);
  Statement version(made, "PRAGMA user_version");
  if (version.step() != SQLITE_ROW) return store.failure("open");
  if (version.integer(0) <= kVersion) return store;
  return Error{"the usage store " + path +
               " was made by a newer FairGV: use that, or name another file in [usage]"};
}

Result<Store> Store::open(const std::string& path) {
  FAIRGV_CHECK(make_file(path));
  auto store = connect(path, SQLITE_OPEN_READWRITE);
  if (!store) return store;
  FAIRGV_CHECK(store->prepare_tables());
  return store;
}

Result<Store> Store::open_to_read(const std::string& path) {
  auto store = connect(path, SQLITE_OPEN_READONLY);
  if (!store) return store;
  FAIRGV_CHECK(store->rows());
  return store;
}

Result<void> Store::prepare_tables() {
  for (const char* const sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", kTables}) {
    if (auto done = execute(sql); !done) return done;
  }
  return {};
}

Result<void> Store::execute(const char* sql) {
  if (::sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return failure("write");
}

Result<void> Store::append(std::span<const Row> rows) {
  if (rows.empty()) return {};
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
  Result<void> outcome;
  {
    Statement insert(database_.get(), kAppend);
    for (const Row& row : rows) {
      insert.again();
      insert.bind(row.begin_ms);
      insert.bind(row.end_ms);
      insert.bind(row.tenant);
      insert.bind(std::int64_t{row.uid});
      insert.bind(std::int64_t{row.device});
      insert.bind(row.device_name);
      insert.bind_count(row.amounts.device_ns);
      insert.bind_count(row.amounts.entitled_ns);
      insert.bind(row.amounts.memory_byte_s);
      insert.bind_count(row.amounts.commands);
      insert.bind_count(row.amounts.launches);
      insert.bind_count(row.amounts.slices);
      insert.bind_count(row.amounts.bytes);
      if (insert.step() == SQLITE_DONE) continue;
      outcome = failure("write");
      break;
    }
  }
  if (outcome) outcome = execute("COMMIT");
  if (!outcome) (void)execute("ROLLBACK");
  return outcome;
}

Result<void> Store::retire(std::int64_t forget_before_ms, std::int64_t merge_before_ms) {
  if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return begun;
  const auto run = [&](const std::string& sql, std::optional<std::int64_t> value) -> Result<void> {
    Statement statement(database_.get(), sql);
    if (value) statement.bind(*value);
    if (statement.step() == SQLITE_DONE) return {};
    return failure("clear");
  };
  auto outcome = run("DELETE FROM usage WHERE begin_ms < ?1", forget_before_ms);
  if (outcome) outcome = run(kMerge, merge_before_ms);
  if (outcome) outcome = run("DELETE FROM usage WHERE merged = 0 AND end_ms < ?1", merge_before_ms);
  if (outcome) outcome = run("UPDATE usage SET merged = 1 WHERE merged = 2", std::nullopt);
  if (outcome) outcome = execute("COMMIT");
  if (!outcome) (void)execute("ROLLBACK");
  return outcome;
}

Result<std::vector<UsageSum>> Store::sum(const UsageQuery& query, std::optional<std::uint32_t> uid) const {
  const std::string sql = std::string("SELECT ") + key_of(query.by) + " AS key, " + kSums +
                          " FROM usage WHERE begin_ms >= ? AND begin_ms < ?" + (uid ? " AND uid = ?" : "") +
                          " GROUP BY key ORDER BY key";
  Statement select(database_.get(), sql);
  select.bind(query.since_ms);
  select.bind(query.until_ms);
  if (uid) select.bind(std::int64_t{*uid});
  std::vector<UsageSum> sums;
  int status = select.step();
  for (; status == SQLITE_ROW; status = select.step()) {
    sums.push_back({select.text(0),
                    {.device_ns = select.count(2),
                     .entitled_ns = select.count(3),
                     .memory_byte_s = select.real(1),
                     .commands = select.count(4),
                     .launches = select.count(5),
                     .slices = select.count(6),
                     .bytes = select.count(7)}});
  }
  if (status != SQLITE_DONE) return failure("read");
  return sums;
}

Result<std::uint64_t> Store::rows() const {
  Statement select(database_.get(), "SELECT count(*) FROM usage");
  if (select.step() != SQLITE_ROW) return failure("read");
  return select.count(0);
}

}  // namespace fairgv::usage
