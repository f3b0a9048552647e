// A run as one page and as tables (docs/report.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agent/base/result.h"
#include "agent/report/gather.h"

namespace kagent::report {

// One HTML page that loads and runs nothing.
std::string to_page(const Gathered& all);

// What `kagent score --json` prints; each sample also has its reason, its rules and the hashes of its texts.
nlohmann::json to_json(const Gathered& all);

// Writes report.html, .csv, .json and .md into a folder, which is made if need be. Errors: kIo.
Status write(const Gathered& all, const std::string& folder);

}  // namespace kagent::report
