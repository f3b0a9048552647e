#include "harness/compile/errors.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "harness/compile/scan.h"
#include "harness/compile/source.h"

namespace kagent::compile {
namespace {

constexpr std::size_t kMostErrors = 50;
constexpr std::size_t kMostLine = 2000;  // bytes

struct Located {
  std::string_view file;
  int line = 0;
  std::string_view message;
};

// `answer.cu(12): error: no such name`, `... catastrophic error #5: ...`
std::optional<Located> located(std::string_view line) {
  for (std::size_t open = line.find('('); open != std::string_view::npos; open = line.find('(', open + 1)) {
    Scan scan(line, open + 1);
    const std::optional<int> number = scan.number();
    if (!number || !scan.take("): ")) continue;
    scan.take("catastrophic ");
    if (!scan.take("error") && !scan.take("fatal error")) continue;
    scan.run([](char c) { return c != ':'; });
    if (!scan.take(": ")) continue;
    return Located{line.substr(0, open), *number, line.substr(scan.at())};
  }
  return std::nullopt;
}

}  // namespace

nlohmann::json errors_in(const std::string& log) {
  nlohmann::json errors = nlohmann::json::array();
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line) && errors.size() < kMostErrors) {
    if (line.size() > kMostLine) line.resize(kMostLine);
    const std::optional<Located> error = located(line);
    if (!error) continue;
    const bool own = error->file == kAnswerName;
    std::string message = (own ? "" : std::string(error->file) + ": ") + std::string(error->message);
    std::replace_if(
        message.begin(), message.end(), [](unsigned char c) { return c < 32; }, ' ');
    errors.push_back({{"line", own ? nlohmann::json(error->line) : nlohmann::json()}, {"message", message}});
  }
  return errors;
}

}  // namespace kagent::compile
