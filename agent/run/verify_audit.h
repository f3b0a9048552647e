// Checks a run's audit.jsonl (docs/audit.md) as verify.h checks task logs.
#pragma once

#include <set>
#include <string>

#include "agent/run/verify.h"

namespace kagent::run {

// Is this a kind of event that stands in audit.jsonl, and only there?
bool is_of_audit(const std::string& kind);

// Adds to the report, and to `blobs` what the audit names. A run without an audit is as good as one with.
void verify_audit(const RunDirectory& run, VerifyReport& report, std::set<std::string>& blobs);

}  // namespace kagent::run
