// SPDX-License-Identifier: Apache-2.0
#include "testkit/server/persistence.hpp"

#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace kube::testkit::detail {
namespace {

constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS objects (
    api_group TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    revision INTEGER NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (api_group, resource, namespace, name)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS position (id INTEGER PRIMARY KEY CHECK (id = 0), revision INTEGER NOT NULL);
  INSERT OR IGNORE INTO position VALUES (0, 0);
)";

struct StatementDeleter {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, StatementDeleter>;

}  // namespace

class Persistence::Database {
 public:
  explicit Database(const std::filesystem::path& file) : file_(file.string()) {
    // The file will contain secrets, so a new one is readable by its owner only. SQLite creates its
    // other files with the same mode.
    const int created = ::open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (created >= 0) ::close(created);
    if (sqlite3_open(file_.c_str(), &handle_) != SQLITE_OK) {
      const std::string why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "out of memory";
      sqlite3_close(handle_);
      throw Error(fmt::format("{}: {}", file_, why));
    }
    try {
      // The exclusive lock detects early that another server uses the file. With synchronous =
      // NORMAL, the log reaches the page cache, which survives the process.
      run("PRAGMA locking_mode = EXCLUSIVE");
      run("PRAGMA journal_mode = WAL");
      run("PRAGMA synchronous = NORMAL");
      run(kSchema);
      begin_ = prepare("BEGIN");
      commit_ = prepare("COMMIT");
      rollback_ = prepare("ROLLBACK");
      store_ = prepare("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)");
      remove_ = prepare(
          "DELETE FROM objects WHERE api_group = ? AND resource = ? AND namespace = ? AND name = "
          "?");
      advance_ = prepare("UPDATE position SET revision = ?");
    } catch (...) {
      close();
      throw;
    }
  }
  ~Database() { close(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[noreturn]] void fail() const {
    throw Error(fmt::format("{}: {}", file_, sqlite3_errmsg(handle_)));
  }
  void run(const char* sql) {
    if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  StatementPtr prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr) != SQLITE_OK) fail();
    return StatementPtr{statement};
  }
  void bind(sqlite3_stmt* statement, int index, std::string_view text) const {
    // An empty string_view may have a null pointer, which SQLite would bind as NULL.
    if (sqlite3_bind_text(statement, index, text.empty() ? "" : text.data(),
                          static_cast<int>(text.size()), SQLITE_TRANSIENT) != SQLITE_OK) {
      fail();
    }
  }
  void bind(sqlite3_stmt* statement, int index, std::uint64_t number) const {
    if (sqlite3_bind_int64(statement, index, static_cast<sqlite3_int64>(number)) != SQLITE_OK) {
      fail();
    }
  }
  void step(sqlite3_stmt* statement) const {
    const int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    if (result != SQLITE_DONE) fail();
  }

  void store(std::string_view group, std::string_view resource, std::string_view namespace_,
             std::string_view name, std::uint64_t revision, std::string_view json) {
    bind_key(store_.get(), group, resource, namespace_, name);
    bind(store_.get(), 5, revision);
    bind(store_.get(), 6, json);
    step(store_.get());
  }
  void remove(std::string_view group, std::string_view resource, std::string_view namespace_,
              std::string_view name) {
    bind_key(remove_.get(), group, resource, namespace_, name);
    step(remove_.get());
  }
  void advance(std::uint64_t revision) {
    bind(advance_.get(), 1, revision);
    step(advance_.get());
  }
  /// Runs `work` in a transaction: all of it takes effect, or nothing.
  template <typename Work>
  void transact(Work work) {
    roll_back();  // in case an earlier rollback ran out of memory
    step(begin_.get());
    try {
      work();
      step(commit_.get());
    } catch (...) {
      roll_back();
      throw;
    }
  }

 private:
  void bind_key(sqlite3_stmt* statement, std::string_view group, std::string_view resource,
                std::string_view namespace_, std::string_view name) const {
    bind(statement, 1, group);
    bind(statement, 2, resource);
    bind(statement, 3, namespace_);
    bind(statement, 4, name);
  }
  /// Rolls back the open transaction, if any.
  void roll_back() const noexcept {
    if (sqlite3_get_autocommit(handle_) != 0) return;
    sqlite3_step(rollback_.get());
    sqlite3_reset(rollback_.get());
  }
  void close() noexcept {
    for (StatementPtr* statement : {&begin_, &commit_, &rollback_, &store_, &remove_, &advance_})
      statement->reset();
    sqlite3_close(std::exchange(handle_, nullptr));
  }

  const std::string file_;
  sqlite3* handle_ = nullptr;
  StatementPtr begin_;
  StatementPtr commit_;
  StatementPtr rollback_;
  StatementPtr store_;
  StatementPtr remove_;
  StatementPtr advance_;
};

Persistence::Persistence(const std::filesystem::path& file)
    : database_(std::make_unique<Database>(file)) {}
Persistence::~Persistence() = default;

Persistence::Content Persistence::load() {
  Content content;
  const auto text = [this](sqlite3_stmt* row, int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    if (bytes == nullptr) database_->fail();
    return std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
  };
  const StatementPtr rows = database_->prepare(
      "SELECT api_group, resource, namespace, name, revision, json FROM objects ORDER BY revision");
  int result = 0;
  while ((result = sqlite3_step(rows.get())) == SQLITE_ROW) {
    content.objects.push_back(
        {text(rows.get(), 0), text(rows.get(), 1), text(rows.get(), 2), text(rows.get(), 3),
         static_cast<std::uint64_t>(sqlite3_column_int64(rows.get(), 4)), text(rows.get(), 5)});
  }
  if (result != SQLITE_DONE) database_->fail();
  const StatementPtr position = database_->prepare("SELECT revision FROM position");
  if (sqlite3_step(position.get()) != SQLITE_ROW) database_->fail();
  content.revision = static_cast<std::uint64_t>(sqlite3_column_int64(position.get(), 0));
  return content;
}

void Persistence::record(const Change& change) {
  database_->transact([&] {
    if (change.type == Change::Type::kDeleted) {
      database_->remove(change.group, change.resource, change.namespace_, change.name);
    } else {
      database_->store(change.group, change.resource, change.namespace_, change.name,
                       change.revision, change.json());
    }
    database_->advance(change.revision);
  });
}

void Persistence::replace(const Content& content) {
  database_->transact([&] {
    database_->run("DELETE FROM objects");
    for (const ObjectState& object : content.objects) {
      database_->store(object.group, object.resource, object.namespace_, object.name,
                       object.revision, object.json);
    }
    database_->advance(content.revision);
  });
}

}  // namespace kube::testkit::detail
