#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/append_file.h"
#include "agent/base/clock.h"
#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/base/nearest.h"
#include "agent/base/sha256.h"

namespace kagent {
namespace {

TEST(Sha256, MatchesTheStandardsVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("kagent-sha-" + std::to_string(::getpid()))).string();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, (std::size_t{1} << 20) + 7}) {
    const std::string text(bytes, 'a');
    ASSERT_TRUE(write_file(path, text));
    const Result<std::string> digest = sha256_of_file(path);
    ASSERT_TRUE(digest) << digest.error().message;
    EXPECT_EQ(digest.value(), sha256_hex(text)) << bytes;
  }
  std::filesystem::remove(path);
  EXPECT_FALSE(sha256_of_file(path));
}

TEST(Nearest, FindsATypingMistakeAndNothingElse) {
  EXPECT_EQ(nearest("slove", {"judge", "solve", "show"}), "solve");
  EXPECT_EQ(nearest("3/90", {"3/9", "3/43"}), "3/9");
  EXPECT_FALSE(nearest("xyzzy", {"judge", "solve"}));
  EXPECT_FALSE(nearest("x", {}));
}

TEST(Clock, WritesUtcWithMilliseconds) {
  EXPECT_THAT(now_utc(), ::testing::MatchesRegex("2[0-9-]{9}T[0-9:]{8}[.][0-9]{3}Z"));
}

TEST(JsonText, IsReadWithoutExceptionsAndBounded) {
  EXPECT_EQ(parse_json(R"({"a": ["[[", 1]})").value()["a"][1], 1);
  EXPECT_EQ(parse_json("{").error().code, Code::kParse);
  EXPECT_TRUE(parse_json(std::string(100, '[') + std::string(100, ']')).ok());
  EXPECT_EQ(parse_json(std::string(1'000'000, '[')).error().code, Code::kParse);
}

TEST(JsonText, IsPrintedWhateverBytesItsTextsHold) { EXPECT_EQ(pretty("a\xff"), "\"a\xEF\xBF\xBD\""); }

TEST(JsonText, FieldsOfAnotherTypeAreNotThere) {
  const nlohmann::json other = {{"flag", "yes"}, {"list", {{"a", 1}}}, {"object", {1, 2}}, {"number", "7"}};
  EXPECT_FALSE(flag_or(other, "flag", false));
  EXPECT_EQ(array_in(other, "list"), nlohmann::json::array());
  EXPECT_EQ(object_in(other, "object"), nlohmann::json::object());
  EXPECT_EQ(number_or(other, "number", 2.5), 2.5);
  EXPECT_EQ(object_in(nlohmann::json(7), "a"), nlohmann::json::object());

  const nlohmann::json object = {{"n", 7}, {"s", "x"}};
  EXPECT_EQ(integer_or(object, "n", 0), 7);
  EXPECT_EQ(integer_or(object, "s", -1), -1);
  EXPECT_EQ(text_or(object, "s", ""), "x");
  EXPECT_EQ(text_or(object, "n", "none"), "none");
  EXPECT_EQ(text_or(nlohmann::json::array(), "s", "none"), "none");
}

class Files : public ::testing::Test {
 protected:
  Files() { std::filesystem::create_directories(folder_); }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string folder_ =
      (std::filesystem::temp_directory_path() / ("kagent-file-" + std::to_string(::getpid()))).string();
};

TEST_F(Files, AreWrittenWholeAndReadBack) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_file(folder_ + "/deep/er/x", bytes).ok());
  EXPECT_EQ(read_file(folder_ + "/deep/er/x").value(), bytes);
  ASSERT_TRUE(write_file(folder_ + "/deep/er/x", "new").ok());
  EXPECT_EQ(read_file(folder_ + "/deep/er/x").value(), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/deep/er"), {}), 1);
}

TEST_F(Files, ThatExistAreNeverCreatedAgain) {
  ASSERT_TRUE(create_file(folder_ + "/x", "first").ok());
  EXPECT_EQ(create_file(folder_ + "/x", "second").error().code, Code::kBusy);
  EXPECT_EQ(read_file(folder_ + "/x").value(), "first");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, GrowByWholeAppends) {
  AppendFile file = AppendFile::open(folder_ + "/log").value();
  ASSERT_TRUE(file.append("one\n").ok());
  ASSERT_TRUE(file.append("two\n").ok());
  ASSERT_TRUE(file.truncate(4).ok());
  ASSERT_TRUE(file.append("three\n").ok());
  EXPECT_EQ(read_file(folder_ + "/log").value(), "one\nthree\n");
  EXPECT_EQ(AppendFile::open(folder_ + "/none/log").error().code, Code::kNotFound);
}

TEST_F(Files, AreNotAppendedToByTwoWriters) {
  AppendFile first = AppendFile::open(folder_ + "/log").value();
  AppendFile second = AppendFile::open(folder_ + "/log").value();
  ASSERT_TRUE(first.append("one\n").ok());
  EXPECT_EQ(second.append("two\n").error().code, Code::kBusy);
  EXPECT_EQ(read_file(folder_ + "/log").value(), "one\n");
}

TEST_F(Files, ThatCannotBeReadOrWrittenSayWhy) {
  EXPECT_EQ(read_file(folder_ + "/none").error().code, Code::kNotFound);
  EXPECT_EQ(read_file(folder_).error().code, Code::kIo);
  ASSERT_TRUE(write_file(folder_ + "/x", "12345").ok());
  EXPECT_EQ(read_file(folder_ + "/x", 4).error().code, Code::kIo);
  const Status written = write_file(folder_ + "/x/y", "z");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find(folder_ + "/x"), std::string::npos);
}

TEST(OwnFile, IsAPlainFileAndNothingThatPointsElsewhere) {
  const std::string folder = std::filesystem::temp_directory_path() / ("kagent-own-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/plain", "text").ok());
  EXPECT_EQ(read_own_file(folder + "/plain").value(), "text");
  std::filesystem::create_symlink(folder + "/plain", folder + "/link");
  ASSERT_EQ(::mkfifo((folder + "/fifo").c_str(), 0600), 0);
  for (const char* name : {"/link", "/fifo", "/missing", ""}) {
    EXPECT_FALSE(read_own_file(folder + name).ok()) << name;
  }
  EXPECT_FALSE(AppendFile::open(folder + "/link").ok());
  EXPECT_FALSE(AppendFile::open(folder + "/fifo").ok());
  EXPECT_EQ(read_own_file(folder + "/plain").value(), "text");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kagent
