// What kagent asks of a language model, whoever serves it: one prompt in, one whole reply out.
// A Provider is used by one thread at a time. Strings that come from a server are hostile text; everything that leaves
// this folder has the key removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/base/result.h"

namespace kagent::llm {

struct Request {
  std::string prompt;
  std::string task;  // "3/4": which recorded reply (replay), which file (spool)
  int sample = 1;    // from 1
  bool wait = true;  // false: Pending at once where people are waited for (spool)

  std::optional<double> temperature;
  std::optional<int> max_output_tokens;         // reasoning included, in all three dialects
  std::optional<std::string> reasoning_effort;  // "low", "medium", "high", ..., or a token budget; docs/providers.md
  std::string extra;                            // JSON object text merged into the request; empty: nothing
  bool stream = true;

  double connect_timeout_s = 20;
  double idle_timeout_s = 600;       // seconds without a byte; a reasoning model may say nothing for minutes
  std::optional<double> deadline_s;  // of the whole call, waits between attempts included
};

// Errors: kUsage (a number out of range, `extra` no JSON object or one that replaces the prompt or the model).
Status valid_request(const Request& request);

// As reported by the server; what it did not report stays empty.
struct Usage {
  std::optional<std::int64_t> input_tokens;      // all of the prompt, cached part included
  std::optional<std::int64_t> output_tokens;     // reasoning included
  std::optional<std::int64_t> reasoning_tokens;  // part of output_tokens
  std::optional<std::int64_t> cached_tokens;     // part of input_tokens read from a cache
};

// One HTTP request, for the log.
struct Attempt {
  int number = 1;
  int http_status = 0;  // 0: no answer
  std::string problem;  // one line; empty: it gave the reply
  double elapsed_s = 0;
  double wait_s = 0;  // before the next attempt; 0: there is none
  std::string request_id;
  Usage usage;  // what a failed attempt had reported before it failed
};

struct Reply {
  std::string text;
  std::string model;     // as the server returned it (spool: as stated beside the answer; replay: as recorded)
  std::string provider;  // "openai", "anthropic", "gemini", "spool", ...
  std::string vendor;    // the host that answered, or the vendor that spool states
  Usage usage;
  double elapsed_s = 0;       // of the attempt that gave the reply
  std::string finish_reason;  // the provider's own word
  bool truncated = false;     // stopped by the token limit: complete as a reply, but the answer may be cut
  bool refused = false;       // the provider's filter or the model refused
  std::string request_id;
  std::string request;  // JSON: URL and all that was sent but the prompt; no headers
  std::string raw;      // JSON: the response's metadata; no text, no headers that hold keys
  std::vector<Attempt> attempts;
};

// No answer yet, and the caller chose not to wait: not an error, the same request goes on later.
struct Pending {
  std::string prompt_path;  // for people: the file to have answered
  std::string waiting_for;  // for people: the file that is missing
};

// There will never be an answer to this sample: a recorded run is at its end.
struct NoMore {
  std::string why;
};

using Answer = std::variant<Reply, Pending, NoMore>;

// What a caller may want to see while a request runs. Every function has a default that does nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void say(std::string_view /*line*/) {}        // for people, one line
  virtual void attempt(const Attempt& /*done*/) {}      // for the log, before the next attempt begins
  virtual void received(std::size_t /*text_bytes*/) {}  // answer text so far, of this attempt
  virtual bool cancelled() { return false; }            // asked about once a second
};

class Provider {
 public:
  virtual ~Provider() = default;

  // "openai:gpt-x", as given to --model.
  [[nodiscard]] virtual std::string name() const = 0;

  // Cheap and at once, before anything is counted: key, model name, host, folder.
  // Errors: kAuth, kUsage (model name, address), kTransport (unreachable), kNotFound, kIo.
  virtual Status check() = 0;
  // The part of check() that asks nobody and writes nothing.
  virtual Status check_here() { return Ok{}; }

  // Whether a request that got Pending stands until it is answered, so that asking again is still that request.
  [[nodiscard]] virtual bool requests_stand() const { return false; }

  // Retries inside; an error means that no reply was had.
  // Errors: kAuth, kUsage, kTransport, kTimeout, kBusy (rate limit to the end), kParse, kCancelled, kNotFound, kIo.
  virtual Result<Answer> complete(const Request& request, Progress& progress) = 0;
};

}  // namespace kagent::llm
