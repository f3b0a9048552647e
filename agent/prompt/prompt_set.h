// A prompt set: the text templates under prompts/<set>/ (mustache syntax; docs/prompts.md lists what they may use).
#pragma once

#include <map>
#include <string>

#include "agent/base/result.h"

namespace kagent {

struct PromptSet {
  std::string name;
  std::map<std::string, std::string> files;  // "prompt.md" -> text
  std::string sha256;                        // of all names and texts
};

// Reads prompts/<name>/*.md under `root`. prompt.md, feedback.md, example.md and device_header.md must be there. A
// mistyped name is answered with the nearest right one. Errors: kNotFound, kIo.
Result<PromptSet> load_prompt_set(const std::string& root, const std::string& name);

}  // namespace kagent
