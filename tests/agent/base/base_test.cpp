#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/base/nearest.h"
#include "agent/base/sha256.h"

namespace kagent {
namespace {

TEST(Sha256, MatchesTheStandardsVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Nearest, FindsATypingMistakeAndNothingElse) {
  EXPECT_EQ(nearest("slove", {"judge", "solve", "show"}), "solve");
  EXPECT_EQ(nearest("3/90", {"3/9", "3/43"}), "3/9");
  EXPECT_FALSE(nearest("xyzzy", {"judge", "solve"}));
  EXPECT_FALSE(nearest("x", {}));
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

TEST_F(Files, ThatCannotBeReadOrWrittenSayWhy) {
  EXPECT_EQ(read_file(folder_ + "/none").error().code, Code::kNotFound);
  EXPECT_EQ(read_file(folder_).error().code, Code::kIo);
  ASSERT_TRUE(write_file(folder_ + "/x", "12345").ok());
  EXPECT_EQ(read_file(folder_ + "/x", 4).error().code, Code::kIo);
  const Status written = write_file(folder_ + "/x/y", "z");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find(folder_ + "/x"), std::string::npos);
}

}  // namespace
}  // namespace kagent
