#include "agent/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <regex>
#include <set>

#include "agent/base/file.h"
#include "agent/base/sha256.h"
#include "agent/base/utf8.h"
#include "agent/report/html.h"
#include "agent/report/parts.h"
#include "agent/report/tokens.h"
#include "agent/run/verify.h"
#include "tests/agent/report/made_runs.h"

namespace kagent::report {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

bool is_utf8(const std::string& text_bytes) {
  std::uint32_t code = 0;
  for (std::size_t at = 0; at < text_bytes.size();) {
    const std::size_t length = decode_utf8(text_bytes, at, code);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

class Report : public ::testing::Test {
 protected:
  Report() { fs::remove_all(folder_); }
  ~Report() override { fs::remove_all(folder_); }

  [[nodiscard]] Gathered gathered() const { return gather(run::RunDirectory::open(folder_).value()); }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-report-" + std::to_string(::getpid()))).string();
};

TEST(Text, IsEscapedAndShowsWhatHides) {
  EXPECT_EQ(text("<a href=\"x\" id='y'>&").bytes(), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(text(std::string_view("a\0b\r\n\tc", 7)).bytes(), "a\u2400b\u240D\n\tc");
  EXPECT_EQ(text("\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8B").bytes(), "[U+202E][U+2066][U+200B]");
  EXPECT_EQ(text("\xff\xc0\xaf").bytes(), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text("na\u00EFve \u4E2D").bytes(), "na\u00EFve \u4E2D");
}

TEST(Text, OfAnyBytesIsUtf8WithoutMarkup) {
  std::mt19937 random(1);  // NOLINT: the same bytes at every run
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int i = 0; i < 200; ++i) bytes += static_cast<char>(random() & 0xFF);
    const std::string out = text(bytes).bytes();
    ASSERT_TRUE(is_utf8(out));
    ASSERT_EQ(out.find_first_of("<>\"'"), std::string::npos);
    for (const Language language : {Language::kCuda, Language::kPython}) {
      std::string again;
      for (const Token& token : tokens_of(bytes, language)) again += token.text;
      ASSERT_EQ(again, bytes);
    }
  }
}

TEST(Tokens, AreTheLanguages) {
  const auto kind = [](std::string_view source, Language language, std::string_view piece) {
    for (const Token& token : tokens_of(source, language)) {
      if (token.text == piece) return token.kind;
    }
    return TokenKind::kPlain;
  };
  constexpr std::string_view kCuda =
      "#include <x>\n__global__ void k() { /* a */ int b = 0x1F; const char* s = \"q\\\"\"; } // end";
  EXPECT_EQ(kind(kCuda, Language::kCuda, "__global__"), TokenKind::kKeyword);
  EXPECT_EQ(kind(kCuda, Language::kCuda, "/* a */"), TokenKind::kComment);
  EXPECT_EQ(kind(kCuda, Language::kCuda, "0x1F"), TokenKind::kNumber);
  EXPECT_EQ(kind(kCuda, Language::kCuda, "\"q\\\"\""), TokenKind::kString);
  EXPECT_EQ(kind(kCuda, Language::kCuda, "// end"), TokenKind::kComment);
  constexpr std::string_view kPython = "def f():\n    '''doc\n    def'''\n    return 1.5  # end";
  EXPECT_EQ(kind(kPython, Language::kPython, "def"), TokenKind::kKeyword);
  EXPECT_EQ(kind(kPython, Language::kPython, "'''doc\n    def'''"), TokenKind::kString);
  EXPECT_EQ(kind(kPython, Language::kPython, "# end"), TokenKind::kComment);
}

TEST_F(Report, LetsNothingOfAHostileRunBecomeMarkup) {
  make_hostile(folder_);
  const std::string page = to_page(gathered());
  EXPECT_TRUE(is_utf8(page));
  EXPECT_EQ(page.find('\0'), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("javascript:document.title='"), std::string::npos);
  EXPECT_EQ(page.find("\u202E"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;document.title=&#39;ran&#39;&lt;/script&gt;"));
  std::set<std::string> tags;
  for (std::size_t at = 0; (at = page.find('<', at)) != std::string::npos; ++at)
    tags.insert(page.substr(at + 1, page.find_first_of(" >/", at + 2) - at - 1));
  for (const char* never : {"script", "img", "base", "iframe", "a href=\"javascript", "link", "textarea"})
    EXPECT_EQ(tags.count(never), 0U) << never;
}

TEST_F(Report, HasEveryIdOnceAndATargetForEveryLink) {
  make_hostile(folder_);
  const std::string page = to_page(gathered());
  std::set<std::string> ids;
  const std::regex id(" id=\"?([A-Za-z0-9-]+)");
  for (std::size_t at = 0; (at = page.find('<', at)) != std::string::npos; ++at) {
    const std::string tag = page.substr(at, std::min<std::size_t>(page.find('>', at) - at, 300));
    std::smatch found;
    if (!std::regex_search(tag, found, id)) continue;
    EXPECT_TRUE(ids.insert(found[1]).second) << found[1];
  }
  for (std::size_t at = 0; (at = page.find("href=\"", at)) != std::string::npos; at += 6) {
    const std::string target = page.substr(at + 6, page.find('"', at + 6) - at - 6);
    ASSERT_TRUE(target.starts_with("#")) << target;
    EXPECT_EQ(ids.count(target.substr(1)), 1U) << target;
  }
}

TEST_F(Report, AllowsItsOwnStyleSheetAndNothingElse) {
  EXPECT_THAT(policy_element().bytes(), HasSubstr("default-src 'none'; style-src 'sha256-"));
  EXPECT_EQ(policy_element().bytes().find("unsafe"), std::string::npos);
}

TEST_F(Report, SaysWhatIsNotThereYet) {
  make_unfinished(folder_);
  const std::string page = to_page(gathered());
  EXPECT_THAT(page, HasSubstr("No sample has a measured speed-up"));
  EXPECT_THAT(page, HasSubstr("Asked, and no reply so far."));
  EXPECT_THAT(page, HasSubstr("Answered, and not judged so far."));
  EXPECT_THAT(page, HasSubstr("No model was asked about this task so far."));
  EXPECT_THAT(page, HasSubstr("right by emulation"));
}

TEST_F(Report, ComesOutWhereTheRunIsDamagedAndSaysWhere) {
  make_damaged(folder_);
  const Gathered all = gathered();
  const std::string page = to_page(all);
  EXPECT_THAT(page, HasSubstr("The log of task 3/2 cannot be read"));
  EXPECT_THAT(page, HasSubstr("A text of this sample is missing or damaged"));
  const nlohmann::json json = to_json(all);
  EXPECT_FALSE(json["tasks"][1]["damage"].get<std::string>().empty());
  EXPECT_EQ(json["tasks"][0]["samples"][0]["problems"].size(), 1U);
}

TEST_F(Report, WritesFourFilesAndLeavesTheRunAsItWas) {
  make_large(folder_, 2, 2);
  const run::RunDirectory directory = run::RunDirectory::open(folder_).value();
  const std::string head = run::verify(directory, {}).value().head;
  ASSERT_TRUE(write(gather(directory), folder_ + "/report").ok());
  for (const char* name : {"report.html", "report.csv", "report.json", "report.md"})
    EXPECT_GT(fs::file_size(folder_ + "/report/" + name), 100U);
  const run::VerifyReport after = run::verify(directory, head).value();
  EXPECT_THAT(after.problems, ::testing::IsEmpty());
}

TEST_F(Report, NeutralisesFormulasInTheCsv) {
  {
    MadeRun made(folder_, {"3/1"}, 1, "=cmd|'/c calc'!A0");
    made.begin("3/1");
    made.ask("p");
    made.reply("a", "@SUM(1)");
  }
  ASSERT_TRUE(write(gathered(), folder_ + "/report").ok());
  const std::string csv = read_file(folder_ + "/report/report.csv").value();
  EXPECT_THAT(csv, HasSubstr(",'=cmd"));
  EXPECT_THAT(csv, HasSubstr(",'@SUM"));
  EXPECT_THAT(csv, Not(HasSubstr(",=")));
}

TEST_F(Report, ShowsOfALaterPromptWhatIsNewInIt) {
  make_large(folder_, 1, 2);
  const Gathered all = gathered();
  const std::string prompt = prompt_after(all.tasks[0].samples[1].prompt, all.tasks[0], 1).bytes();
  EXPECT_THAT(prompt, HasSubstr("252 lines as in the prompt of sample 1"));
  EXPECT_THAT(prompt, HasSubstr("the CUDA block of sample 1, word for word"));
  EXPECT_THAT(prompt, HasSubstr("What you sent:"));
  EXPECT_LT(prompt.size(), 3000U);
}

TEST_F(Report, OfALargeRunStaysSmallAndQuick) {
  make_large(folder_, 50, 5);
  const auto begin = std::chrono::steady_clock::now();
  const std::string page = to_page(gathered());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(page.size(), std::size_t{20} << 20);
  EXPECT_LT(took.count(), 20) << "5 s on a quiet machine";
  RecordProperty("bytes", static_cast<int>(page.size()));
  RecordProperty("ms", static_cast<int>(took.count() * 1000));
}

}  // namespace
}  // namespace kagent::report
