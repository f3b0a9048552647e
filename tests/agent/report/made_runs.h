// Runs as a log may hold them: hostile, damaged, waiting, and large.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "agent/run/run_directory.h"

namespace kagent::report {

// Texts that would do something if they were taken for more than text. A script that ran would change the title.
inline const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> kTexts = {
      "</code></pre></details><script>document.title='ran'</script>",
      "\" onmouseover=\"document.title='ran'\" x='",
      "</style><style>*{display:none}</style><img src=x onerror=\"document.title='ran'\">",
      "<svg onload=\"document.title='ran'\"></svg><a href=\"javascript:document.title='ran'\">x</a>",
      std::string("nul\0here", 8),
      "not UTF-8: \xff\xfe \xc0\xaf \xed\xa0\x80",
      "if (admin \xE2\x80\xAE\xE2\x81\xA6// begin\xE2\x81\xA9 \xE2\x81\xA6) {",
      "<!-- --><![CDATA[ ]]></textarea></title><base href=//x><meta http-equiv=refresh content=\"0;url=x\">",
      "=HYPERLINK(\"http://x\")",
      "<h1 id=main>twice</h1>&lt;&#x3c;",
  };
  return kTexts;
}

inline std::string all_hostile() {
  std::string all;
  for (const std::string& one : hostile_texts()) all += one + "\n";
  return all;
}

inline std::string answer_of(const std::string& extra, int lines) {
  std::string cuda = "// " + extra + "\n__global__ void k(const float* x, float* y) {\n";
  for (int i = 0; i < lines; ++i) cuda += fmt::format("  y[{}] = x[{}] * {}.5f + \"s\"[0];  // line {}\n", i, i, i, i);
  return "Here it is. " + extra + "\n\n```cuda\n" + cuda +
         "}\n```\n\n```python\nclass ModelNew(Model):\n    def forward(self, x):\n        # " + extra +
         "\n        return x\n```\n";
}

inline nlohmann::json accepted(double ratio, const std::string& extra) {
  using nlohmann::json;
  const auto timed = [](double r) {
    return json{{"ms", {{"mean", r}, {"median", r}}},
                {"peak_bytes", 400},
                {"speedup", {{"ratio", r}, {"low", r * 0.97}, {"high", r * 1.03}}}};
  };
  json v = {{"outcome", "accepted"}, {"backend", "cuda"}, {"faster", ratio > 1.1}, {"counts", ratio > 1.1}};
  v["plan"] = {{"tier", "tf32"}, {"library_ops", json::array()}, {"launches", 1}, {"custom_share", 0.9}};
  v["environment"] = {{"device", {{"name", "NVIDIA H200"}, {"driver", "580"}}}, {"torch", "2.11.0"}};
  v["candidate"] = {{"ms", {{"mean", 1.0}, {"median", 1.0}}}, {"peak_bytes", 100}};
  v["baselines"] = {{"eager", timed(ratio)}, {"graphed_eager", timed(ratio * 0.8)}, {"null_plan", timed(ratio * 0.9)}};
  for (const char* rule : {"readable_code", "official_check", "accuracy", "sensitivity", "ghost"})
    v["rules"].push_back({{"rule", rule},
                          {"version", 2},
                          {"outcome", "pass"},
                          {"what", "nothing found " + extra},
                          {"evidence", {{"seen", extra}}}});
  v["profile"]["plan"]["kernels"] = {
      {{"name", extra + "k"}, {"share", 1.0}, {"ms", 0.9}, {"count", 1}, {"step", 0}, {"line", 3}}};
  v["compile"]["kernels"][extra + "k"] = {{"registers", 32}};
  v["visible"] = {{{"seed", 42},
                   {"scale", 1.0},
                   {"calls", 1},
                   {"passed", true},
                   {"outputs", {{{"name", extra}, {"max_abs", 1e-6}}}}}};
  v["phases"] = {{{"phase", "compile"}, {"s", 1.5}}, {{"phase", "time"}, {"s", 2.5}}};
  return v;
}

inline nlohmann::json rejected(const std::string& reason) {
  return {{"outcome", "rejected"}, {"backend", "cuda"}, {"stage", "visible"}, {"kind", "mismatch"},
          {"reason", reason},      {"line", 3},         {"block", "cuda"}};
}

inline nlohmann::json emulated() {
  nlohmann::json v = accepted(3, "");
  v["backend"] = "emulate";
  v["warnings"] = {"emulated on the CPU"};
  return v;
}

// A run that is written sample by sample.
class MadeRun {
 public:
  MadeRun(const std::string& folder, const std::vector<std::string>& tasks, int samples,
          const std::string& model = "openai:m")
      : run_(run::RunDirectory::create_or_resume(folder,
                                                 {{"tasks", tasks},
                                                  {"model", model},
                                                  {"protocol", "feedback"},
                                                  {"samples", samples},
                                                  {"prompt_set", "default"},
                                                  {"prompt_set_sha256", std::string(64, 'a')}},
                                                 {{"kagent", "0.1.0"}})
                 .value()) {}

  // Its log is held until the next task is begun.
  void begin(const std::string& task) {
    log_.reset();
    log_ = run_.open_task(task).value();
    sample_ = 0;
    prompt_.clear();
    append("start", {{"task", task}, {"task_sha256", blob("import torch\nclass Model:  # " + task + "\n    pass\n")}});
  }
  void ask(const std::string& prompt) {
    append("request", {{"sample", ++sample_}, {"prompt_sha256", blob(prompt)}, {"provider", "openai"}});
  }
  void reply(const std::string& answer, const std::string& model = "m-1") {
    append("reply", {{"sample", sample_},
                     {"answer_sha256", blob(answer)},
                     {"model", model},
                     {"provider", "openai"},
                     {"cost", {{"usd", 0.01}}},
                     {"usage", {{"input_tokens", 1000}, {"output_tokens", 200}}}});
  }
  void verdict(nlohmann::json verdict,
               const std::string& plan = R"({"forward":[{"launch":"k","grid":[1,1,1],"block":[32,1,1],"args":[]}]})") {
    append("judge", {{"sample", sample_}});
    append("verdict", {{"sample", sample_},
                       {"verdict", std::move(verdict)},
                       {"artifacts", {{"plan.json", blob(plan)}, {"compile.log", blob("")}}}});
  }
  void end() { append("end", {{"reason", "all samples used"}}); }

  [[nodiscard]] const run::RunDirectory& run() const { return run_; }

 private:
  std::string blob(const std::string& text) { return log_->blobs().put(text).value(); }
  void append(const std::string& kind, const nlohmann::json& body) {
    if (Status done = log_->append(kind, body); !done) throw std::runtime_error(done.error().message);
  }

  run::RunDirectory run_;
  std::unique_ptr<run::TaskLog> log_;
  int sample_ = 0;
  std::string prompt_;
};

inline std::string first_prompt(int lines) {
  std::string prompt = "You write CUDA kernels.\nThis is attempt 1 of at most 5.\n";
  for (int i = 0; i < lines; ++i)
    prompt += fmt::format("Line {} of what every prompt says, with some words in it.\n", i);
  return prompt;
}

// Every text that a model, a compiler or a server could have written is hostile.
inline void make_hostile(const std::string& folder) {
  MadeRun made(folder, {"3/1", "3/2", "<script>document.title='ran'</script>"}, 2, "openai:" + hostile_texts()[0]);
  const std::string bad = nlohmann::json::parse(
      nlohmann::json(all_hostile()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  made.begin("3/1");
  made.ask(first_prompt(20) + all_hostile());
  made.reply(answer_of(all_hostile(), 20), bad);
  made.verdict(rejected(bad));
  made.ask(first_prompt(20) + "# Your earlier attempts\n" + all_hostile());
  made.reply(all_hostile() + std::string(300'000, 'x') + "\n" + answer_of("y", 3), bad);
  made.verdict(accepted(2, bad), all_hostile());
  made.end();
  made.begin("3/2");
  made.ask(all_hostile());
  made.reply(all_hostile(), bad);
  made.verdict({{"outcome", "rejected"},
                {"stage", 3},
                {"rules", {1, "x", {{"rule", {1}}}}},
                {"visible", {1, nullptr}},
                {"profile", {{"plan", 3}}},
                {"compile", {{"kernels", {{"k", 7}}}}},
                {"baselines", "none"},
                {"phases", {3}},
                {"line", 1e300},
                {"warnings", {bad, 4}}},
               "[]");
}

// Emulated verdicts only; a task without reply, one that waits for its verdict, one that was never begun.
inline void make_unfinished(const std::string& folder) {
  MadeRun made(folder, {"3/1", "3/2", "3/3", "3/4"}, 2);
  made.begin("3/1");
  made.ask(first_prompt(20));
  made.reply(answer_of("", 5));
  made.verdict(emulated());
  made.begin("3/2");
  made.ask(first_prompt(20));
  made.begin("3/3");
  made.ask(first_prompt(20));
  made.reply("I cannot do this one.\n");
}

// A log with a changed line, a missing prompt and a changed answer.
inline void make_damaged(const std::string& folder) {
  namespace fs = std::filesystem;
  {
    MadeRun made(folder, {"3/1", "3/2"}, 1);
    for (const char* task : {"3/1", "3/2"}) {
      made.begin(task);
      made.ask(first_prompt(30));
      made.reply(answer_of("only " + std::string(task), 5));
      made.verdict(accepted(2, ""));
      made.end();
    }
  }
  fs::resize_file(folder + "/tasks/3-2/events.jsonl", 200);
  std::string text = "{\"kind\": \"start\"}\n";
  FILE* file = std::fopen((folder + "/tasks/3-2/events.jsonl").c_str(), "w");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/blobs")) {
    if (!entry.is_regular_file()) continue;
    if (entry.file_size() > 1000) fs::remove(entry.path());  // the prompt
  }
}

inline void make_large(const std::string& folder, int tasks, int samples) {
  std::vector<std::string> ids;
  for (int t = 1; t <= tasks; ++t) ids.push_back(fmt::format("3/{}", t));
  MadeRun made(folder, ids, samples);
  for (int t = 1; t <= tasks; ++t) {
    made.begin(ids[static_cast<std::size_t>(t - 1)]);
    std::string feedback;
    for (int s = 1; s <= samples; ++s) {
      made.ask(first_prompt(250) + feedback);
      const std::string answer = answer_of(fmt::format("task {} sample {}", t, s), 400);
      made.reply(answer);
      if (t % 5 == 0) {
        made.verdict(rejected("outputs differ"));
      } else {
        made.verdict(accepted(0.4 + 0.09 * t + 0.1 * s, ""));
      }
      feedback += fmt::format("## Attempt {}\nWhat you sent:\n{}", s, answer);
    }
    made.end();
  }
}

}  // namespace kagent::report
