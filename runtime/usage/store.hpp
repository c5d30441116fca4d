// The usage store: an SQLite file to which intervals of use are appended, and that survives any crash.
//
// A row is one tenant's use of one device from `begin` to `end`. Rows are appended in one transaction a flush
// (write-ahead log, synchronised to the disk): after a crash of the daemon or of the machine, every flush
// that has returned is there, and none by half. Nothing is ever changed but by retire(): whole days go when
// they are too old, and the intervals of an hour that is long past become one row, so that the file does not
// grow by a row every few seconds for ever. Both keep the sums.
//
// One connection, for one thread. Readers of other processes do not disturb the writer, nor it them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/control/usage.hpp"

struct sqlite3;

namespace fairgv::usage {

using control::UsageAmounts;
using control::UsageBy;
using control::UsageQuery;
using control::UsageSum;

/// Times are milliseconds since 1970 (UTC).
struct Row {
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;
  std::string tenant;
  std::uint32_t uid = 0;
  std::uint32_t device = 0;
  std::string device_name;
  UsageAmounts amounts;
};

class Store {
 public:
  /// Makes the file if there is none, for its owner only; its folder must be there, or at least the folder
  /// around it.
  static Result<Store> open(const std::string& path);
  /// Of a file that is there; changes nothing.
  static Result<Store> open_to_read(const std::string& path);
  Store(Store&& other) noexcept = default;
  Store& operator=(Store&& other) noexcept = default;

  /// All or none of them.
  Result<void> append(std::span<const Row> rows);
  /// Forgets rows that began before `forget_before_ms`, and makes the rows of an hour one if they ended
  /// before `merge_before_ms`.
  Result<void> retire(std::int64_t forget_before_ms, std::int64_t merge_before_ms);

  /// The use in intervals that began from `since` on and before `until`, by key and in its order. With `uid`
  /// only that user's.
  Result<std::vector<UsageSum>> sum(const UsageQuery& query, std::optional<std::uint32_t> uid = {}) const;
  Result<std::uint64_t> rows() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  class Statement;

  Store(std::unique_ptr<sqlite3, Close> database, std::string path)
      : database_(std::move(database)), path_(std::move(path)) {}
  static Result<Store> connect(const std::string& path, int flags);
  Result<void> prepare_tables();
  Result<void> execute(const char* sql);
  Error failure(const std::string& what) const;

  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

}  // namespace fairgv::usage
