#include "agent/run/event_log.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "agent/base/clock.h"
#include "agent/base/file.h"
#include "agent/base/sha256.h"

namespace kagent::run {

Result<std::unique_ptr<EventLog>> EventLog::open(const std::string& folder, const std::string& name,
                                                 const std::string& first_prev) {
  const std::string path = folder + "/" + name;
  if (Status made = make_folder(folder); !made) return made.error();
  Result<Lease> lease = Lease::take(folder);
  if (!lease) return lease.error();

  std::string text;
  if (Result<std::string> read = read_own_file(path); read) {
    text = std::move(read).value();
  } else if (read.error().code != Code::kNotFound) {
    return read.error();
  }
  Result<Chain> chain = parse_chain_of(path, text, first_prev);
  if (!chain) return chain.error();
  Result<AppendFile> file = AppendFile::open(path);
  if (!file) return file.error();
  std::unique_ptr<EventLog> log(
      new EventLog(std::move(lease).value(), std::move(file).value(), std::move(chain).value()));
  if (Status repaired = log->repair(folder); !repaired) return repaired.error();
  return log;
}

// Gives a whole last event its newline, or moves a torn tail to a file of its own.
Status EventLog::repair(const std::string& folder) {
  if (chain_.newline_missing) {
    if (Status appended = file_.append("\n"); !appended) return appended;
    chain_.bytes += 1;
    chain_.newline_missing = false;
  }
  if (chain_.torn.empty()) return Ok{};
  std::string aside = fmt::format("{}/torn-{}", folder, chain_.bytes);
  std::error_code failed;
  for (int again = 2; std::filesystem::exists(aside, failed); ++again)
    aside = fmt::format("{}/torn-{}-{}", folder, chain_.bytes, again);
  if (Status kept = create_file(aside, chain_.torn); !kept) return kept;
  chain_.torn.clear();
  return file_.truncate(chain_.bytes);
}

Status EventLog::append(const std::string& kind, nlohmann::json body) {
  if (body.is_null()) body = nlohmann::json::object();
  if (!body.is_object()) return Error{Code::kInternal, fmt::format("the {} event is no JSON object", kind)};
  const std::string line = chain_line(kind, std::move(body), chain_.events.size(), chain_.head, now_utc());
  if (line.size() > kMaxLineBytes)
    return Error{Code::kInternal, fmt::format("an event of kind {} is larger than 16 MiB", kind)};
  // What is written must be readable again, so the reader itself is asked.
  Result<nlohmann::json> event = parse_line(line, chain_.events.size(), chain_.head);
  if (!event) return Error{Code::kInternal, "not logged: " + event.error().message};
  if (Status appended = file_.append(line + "\n"); !appended) return appended;
  chain_.bytes += line.size() + 1;
  chain_.head = sha256_hex(line);
  chain_.events.push_back(std::move(event).value());
  return Ok{};
}

}  // namespace kagent::run
