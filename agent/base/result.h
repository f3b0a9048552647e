// Result<T>: a value or an Error. An Error is something that kagent or its environment did (a file that cannot be
// read, a server that cannot be reached); what a candidate did is an outcome, and outcomes are plain data.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace kagent {

// Errors carry one line that says what was wrong and what to do; `code` lets callers branch.
enum class Code { kInternal, kUsage, kNotFound, kIo, kParse, kTransport, kAuth, kBusy, kTimeout, kCancelled };

struct Error {
  Code code = Code::kInternal;
  std::string message;

  // Puts context in front: "reading runs/x: no such file".
  [[nodiscard]] Error within(const std::string& context) const { return {code, context + ": " + message}; }
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  // Precondition of value(): ok(). Precondition of error(): !ok().
  [[nodiscard]] const T& value() const& { return std::get<T>(state_); }
  [[nodiscard]] T& value() & { return std::get<T>(state_); }
  [[nodiscard]] T&& value() && { return std::get<T>(std::move(state_)); }
  [[nodiscard]] const Error& error() const { return std::get<Error>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};
using Status = Result<Ok>;

}  // namespace kagent
