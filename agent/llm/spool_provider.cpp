#include "agent/llm/spool_provider.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/base/file.h"
#include "agent/base/printable.h"
#include "agent/llm/dialect.h"
#include "agent/llm/secret.h"

namespace kagent::llm {
namespace {

constexpr std::size_t kMostAnswer = std::size_t{16} << 20;
constexpr std::size_t kMostIdentity = std::size_t{64} << 10;

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// The file's text; nothing if it is not there.
Result<std::optional<std::string>> read_if_there(const std::string& path, std::size_t most) {
  Result<std::string> text = read_own_file(path, most);  // a link could lead out of the folder, a FIFO waits
  if (text) return std::optional<std::string>(std::move(text).value());
  if (text.error().code == Code::kNotFound) return std::optional<std::string>();
  return text.error();
}

class SpoolProvider : public Provider {
 public:
  SpoolProvider(SpoolSettings settings, std::shared_ptr<Clock> clock)
      : settings_(std::move(settings)), clock_(std::move(clock)) {}

  [[nodiscard]] std::string name() const override { return "spool:" + settings_.folder; }

  [[nodiscard]] bool requests_stand() const override { return true; }

  Status check() override {
    if (Status made = make_folder(settings_.folder); !made) return made;
    return check_here();
  }

  Status check_here() override {
    std::error_code failed;
    if (std::filesystem::exists(settings_.folder, failed) && !std::filesystem::is_directory(settings_.folder, failed))
      return Error{Code::kUsage,
                   fmt::format("{} is no folder; --model spool:FOLDER wants one", name_text(settings_.folder))};
    Result<nlohmann::json> stated = read_identity(in_folder("spool.json"));
    if (!stated) return stated.error();
    return Ok{};
  }

  Result<Answer> complete(const Request& request, Progress& progress) override {
    if (Status valid = valid_request(request); !valid) return valid.error();
    const std::string stem = in_folder(spool_stem(request.task, request.sample));
    if (Status put = put_prompt(stem + ".prompt.md", request.prompt); !put) return put.error();
    const double begin_s = clock_->now_s();
    Result<std::optional<std::string>> text = pick_up(stem + ".answer.md", request, progress);
    if (!text) return text.error();
    if (!text.value()) return Answer(Pending{stem + ".prompt.md", stem + ".answer.md"});
    Result<nlohmann::json> identity = identity_of(stem);
    if (!identity) return identity.error();
    Reply reply;
    reply.text = *std::move(text).value();
    reply.provider = "spool";
    reply.model = text_of(identity.value(), "model");
    if (reply.model.empty()) reply.model = kUnstatedModel;
    reply.vendor = text_of(identity.value(), "vendor");
    reply.finish_reason = "answer file";
    reply.elapsed_s = clock_->now_s() - begin_s;
    reply.request =
        nlohmann::json{{"file", stem + ".prompt.md"}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    reply.raw = identity.value().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return Answer(std::move(reply));
  }

 private:
  [[nodiscard]] std::string in_folder(const std::string& name) const { return settings_.folder + "/" + name; }

  // An answer belongs to one prompt: a file with another prompt is never overwritten and never answered.
  static Status put_prompt(const std::string& path, const std::string& prompt) {
    Result<std::optional<std::string>> there = read_if_there(path, std::size_t{1} << 30);
    if (!there) return there.error();
    if (!there.value()) return write_file(path, prompt);
    if (*there.value() == prompt) return Ok{};
    return Error{Code::kUsage,
                 fmt::format("{} holds another prompt, so its answer would not be to this one: use another "
                             "folder, or remove that prompt and its answer",
                             path)};
  }

  // Taken when two looks, poll_s apart, find the same text with something in it.
  Result<std::optional<std::string>> pick_up(const std::string& path, const Request& request, Progress& progress) {
    const double begin_s = clock_->now_s();
    std::optional<std::string> last;
    bool told = false;
    while (true) {
      Result<std::optional<std::string>> now = read_if_there(path, kMostAnswer);
      if (!now) return now;
      const bool is_answer = now.value() && !is_blank(*now.value());
      if (is_answer && last == now.value()) return now;
      if (progress.cancelled()) return Error{Code::kCancelled, "cancelled while waiting for " + path};
      const bool late = request.deadline_s && clock_->now_s() - begin_s >= *request.deadline_s;
      if (!is_answer && (!settings_.wait || !request.wait || late)) return std::optional<std::string>();
      if (!is_answer && !told) {
        progress.say(fmt::format("waiting for {}{}", path, now.value() ? ", which is empty so far" : ""));
        told = true;
      }
      last = std::move(now).value();
      clock_->sleep(settings_.poll_s);
    }
  }

  // An object with strings only, so that who answered is stated plainly. A missing file is an empty object.
  static Result<nlohmann::json> read_identity(const std::string& path) {
    Result<std::optional<std::string>> text = read_if_there(path, kMostIdentity);
    if (!text) return text.error();
    if (!text.value()) return nlohmann::json::object();
    nlohmann::json stated = read_json(*text.value());
    const Error wrong = {
        Code::kParse,
        fmt::format("{} must be like {{\"vendor\": \"...\", \"model\": \"...\", \"note\": \"...\"}}", path)};
    if (!stated.is_object()) return wrong;
    for (const auto& [name, value] : stated.items()) {
      if (!value.is_string() || (name != "vendor" && name != "model" && name != "note")) return wrong;
    }
    return stated;
  }

  // What stands beside the answer goes before what stands in the folder.
  Result<nlohmann::json> identity_of(const std::string& stem) const {
    Result<nlohmann::json> stated = read_identity(in_folder("spool.json"));
    if (!stated) return stated;
    Result<nlohmann::json> own = read_identity(stem + ".meta.json");
    if (!own) return own;
    stated.value().update(own.value());
    stated.value()["reached"] = "by files (spool)";
    return stated;
  }

  SpoolSettings settings_;
  std::shared_ptr<Clock> clock_;
};

}  // namespace

std::string spool_stem(std::string_view task, int sample) {
  std::string stem;
  for (const char c : task) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c == '.' && !stem.empty());
    stem += plain ? c : '-';
  }
  return fmt::format("{}.{}", stem.substr(0, 200), sample);
}

std::unique_ptr<Provider> spool_provider(SpoolSettings settings, std::shared_ptr<Clock> clock) {
  return std::make_unique<SpoolProvider>(std::move(settings), std::move(clock));
}

}  // namespace kagent::llm
