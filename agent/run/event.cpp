#include "agent/run/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "agent/base/json_text.h"
#include "agent/run/blob_store.h"

namespace kagent::run {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxSample = 1000;

enum class Type { kText, kFlag, kNumber, kObject, kSample, kBlob, kBlobs };

struct Field {
  const char* kind;  // "" for every kind
  const char* name;
  Type type;
  bool required;
};

constexpr Field kFields[] = {
    {"", "kind", Type::kText, true},
    {"", "time", Type::kText, true},
    {"start", "task", Type::kText, true},
    {"start", "task_sha256", Type::kBlob, false},
    {"request", "sample", Type::kSample, true},
    {"request", "prompt_sha256", Type::kBlob, true},
    {"request", "most_usd", Type::kNumber, false},
    {"attempt", "sample", Type::kSample, true},
    {"reply", "sample", Type::kSample, true},
    {"reply", "answer_sha256", Type::kBlob, true},
    {"reply", "model", Type::kText, false},
    {"reply", "provider", Type::kText, false},
    {"reply", "vendor", Type::kText, false},
    {"reply", "finish_reason", Type::kText, false},
    {"reply", "request_id", Type::kText, false},
    {"reply", "truncated", Type::kFlag, false},
    {"reply", "refused", Type::kFlag, false},
    {"reply", "usage", Type::kObject, false},
    {"reply", "elapsed_s", Type::kNumber, false},
    {"judge", "sample", Type::kSample, true},
    {"judge", "seeds", Type::kObject, false},
    {"verdict", "sample", Type::kSample, true},
    {"verdict", "verdict", Type::kObject, true},
    {"verdict", "artifacts", Type::kBlobs, false},
    {"end", "reason", Type::kText, false},
    {"resume", "sample", Type::kSample, false},
    {"audit_request", "task", Type::kText, true},
    {"audit_request", "sample", Type::kSample, true},
    {"audit_request", "judge", Type::kText, true},
    {"audit_request", "ask", Type::kSample, true},
    {"audit_request", "prompt_sha256", Type::kBlob, true},
    {"audit_request", "subject", Type::kBlobs, true},
    {"audit_request", "whole", Type::kFlag, true},
    {"audit_attempt", "task", Type::kText, true},
    {"audit_attempt", "sample", Type::kSample, true},
    {"audit_attempt", "judge", Type::kText, true},
    {"audit_reply", "task", Type::kText, true},
    {"audit_reply", "sample", Type::kSample, true},
    {"audit_reply", "judge", Type::kText, true},
    {"audit_reply", "ask", Type::kSample, true},
    {"audit_reply", "prompt_sha256", Type::kBlob, true},
    {"audit_reply", "answer_sha256", Type::kBlob, true},
    {"audit_reply", "model", Type::kText, true},
    {"audit_reply", "vendor", Type::kText, true},
};

constexpr const char* kKinds[] = {"start",  "request", "attempt",       "reply",         "judge",      "verdict",
                                  "resume", "end",     "audit_request", "audit_attempt", "audit_reply"};

bool is_blob(const json& value) { return value.is_string() && is_sha256(value.get_ref<const std::string&>()); }

bool fits(const json& value, Type type) {
  switch (type) {
    case Type::kText:
      return value.is_string();
    case Type::kFlag:
      return value.is_boolean();
    case Type::kNumber:
      return value.is_number();
    case Type::kObject:
      return value.is_object();
    case Type::kSample:
      return value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= kMaxSample;
    case Type::kBlob:
      return is_blob(value);
    case Type::kBlobs:
      return value.is_object() && std::all_of(value.begin(), value.end(), is_blob);
  }
  return false;
}

}  // namespace

std::string event_problem(const json& event) {
  if (!event.is_object()) return "an event is a JSON object";
  const std::string kind = text_or(event, "kind", "");
  for (const Field& field : kFields) {
    if (*field.kind != '\0' && kind != field.kind) continue;
    const auto found = event.find(field.name);
    if (found == event.end() ? field.required : !fits(*found, field.type))
      return fmt::format("{} event: {} is missing or not what it must be", kind.empty() ? "an" : kind, field.name);
  }
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds))
    return fmt::format("unknown kind \"{}\"", kind);
  return "";
}

std::set<std::string> blobs_of(const json& event) {
  std::set<std::string> blobs;
  const std::string kind = text_or(event, "kind", "");
  for (const Field& field : kFields) {
    if (kind != field.kind || !event.contains(field.name)) continue;
    const json& value = event[field.name];
    if (field.type == Type::kBlob) blobs.insert(value.get<std::string>());
    if (field.type == Type::kBlobs) {
      for (const json& hash : value) blobs.insert(hash.get<std::string>());
    }
  }
  return blobs;
}

}  // namespace kagent::run
