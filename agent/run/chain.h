// The hash chain of one task's events.jsonl: lines of JSON, each carrying the hash of the line before.
//
// A line is one event: {"kind", "prev", "seq", "time", ..., "sum"}. `prev` is the SHA-256 of the previous line's bytes
// (without its newline); the first line's `prev` is the SHA-256 of the run's manifest.json. `seq` counts from 0. So an
// edit, a removal, an insertion or a change of order inside the chain breaks it; a cut at the end leaves a valid chain,
// and shows only against a published head hash. `sum`, always last, is the first 16 digits of the SHA-256 of the line
// before `,"sum"`: it finds a damaged last line, which no later `prev` covers.
//
// Appending is one write of a whole line followed by fsync. A kill or a full disk can leave a last line without its
// newline. If only the newline is missing, the event is whole and counts. Any other tail was never acknowledged: it is
// set aside (torn-<bytes>) and appending goes on after the last whole line. A whole line that does not fit is damage,
// not a torn write: reading stops with an error and nothing is touched.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"

namespace kagent::run {

struct Chain {
  std::vector<nlohmann::json> events;
  std::string head;              // hash of the last line, or `first_prev` if there is none
  std::size_t bytes = 0;         // of whole lines
  std::string torn;              // the bytes after them that are no whole event
  bool newline_missing = false;  // the last event lacks its newline; `bytes` does not count one
};

inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

// Errors: kParse, "line 3: ..." in words.
Result<Chain> parse_chain(std::string_view text, const std::string& first_prev);

// The same of a file, which errors name; where the log begins at another manifest.json than `first_prev`, they name
// that.
Result<Chain> parse_chain_of(const std::string& path, std::string_view text, const std::string& first_prev);

// One line, without its newline. Errors: kParse.
Result<nlohmann::json> parse_line(std::string_view line, std::size_t seq, const std::string& prev);

// The line (without newline) that continues a chain. The chain's own fields replace any in `body`.
std::string chain_line(const std::string& kind, nlohmann::json body, std::size_t seq, const std::string& prev,
                       const std::string& time);

}  // namespace kagent::run
