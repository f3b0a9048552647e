// The question to a judge: the template prompts/audit/judge.md with a model's source, a kernel's code and its plan.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent::audit {

struct Evidence {
  std::string source;  // the task file
  std::string cuda;    // preprocessed.cu: as compiled, kagent's prefix before the answer's own text
  std::string plan;    // as a readable list
};

struct Question {
  std::string prompt;
  bool whole = true;  // nothing was cut; a judge of a part has not judged the kernel
};

struct Limits {
  std::size_t source = 64 << 10;
  std::size_t cuda = 256 << 10;
  std::size_t plan = 128 << 10;
};

// Code and plan are hostile: comments and strings are blanked (blank.h), what is not printable ASCII becomes '?', each
// stands in a fence that is longer than any run of backticks in it, and each is cut at a limit. `again`: why the first
// reply could not be read; empty in the first question. Errors: kParse (the template).
Result<Question> ask_about(const std::string& judge_template, const Evidence& evidence, const std::string& again,
                           const Limits& limits = {});

// The answer's own text: what follows the line that ends kagent's prefix. All of it where there is no such line.
std::string_view without_prefix(std::string_view preprocessed);

// The text between fences that it cannot close.
std::string fenced(std::string_view tag, std::string_view text);

}  // namespace kagent::audit
