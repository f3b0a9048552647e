#include "agent/prompt/prompt_set.h"

#include <fmt/format.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/base/nearest.h"
#include "agent/base/printable.h"
#include "agent/base/sha256.h"

namespace kagent {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> set_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.is_directory(failed)) names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace

Result<PromptSet> load_prompt_set(const std::string& root, const std::string& name) {
  const fs::path folder = fs::path(root) / "prompts" / name;
  std::error_code failed;
  if (name.empty() || name.find('/') != std::string::npos || !fs::is_directory(folder, failed)) {
    const auto near = nearest(name, set_names(fs::path(root) / "prompts"));
    return Error{Code::kNotFound, fmt::format("no prompt set {} under {}/prompts{}", name_text(name), root,
                                              near ? fmt::format("; did you mean {}?", name_text(*near)) : "")};
  }
  PromptSet set;
  set.name = name;
  std::string all;
  for (const char* file : {"device_header.md", "example.md", "feedback.md", "prompt.md"}) {
    Result<std::string> text = read_file((folder / file).string());
    if (!text) return text.error().within("prompt set " + name);
    set.files[file] = text.value();
    all += fmt::format("{}\n{}\n{}", file, text.value().size(), text.value());
  }
  set.sha256 = sha256_hex(all);
  return set;
}

}  // namespace kagent
