// The three forms of scores: Markdown for people (a terminal shows it as well), JSON for programs, CSV for tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agent/score/scores.h"

namespace kagent::score {

// Names that came from outside (models, GPUs) are in one printable line, and are no Markdown or HTML.
std::string to_markdown(const Run& run, const Scores& scores);

// docs/scores.md lists the fields. What is not known is null.
nlohmann::json to_json(const Run& run, const Scores& scores);

// A header, then a row a sample, and one for each task that has none; every row carries what it is a score of. After
// RFC 4180, and a cell that a spreadsheet would take for a formula begins with an apostrophe.
std::string to_csv(const Run& run, const Scores& scores);

}  // namespace kagent::score
