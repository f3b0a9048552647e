#include "agent/task/blind.h"

#include <gtest/gtest.h>

namespace kagent {
namespace {

TEST(BlindView, KeepsImportsHelpersAndClassesOnly) {
  const char* source = R"py("""A model for batch 10."""
import torch
from torch import (
    nn,
)

SIZE = 128  # hidden
# batch is 10
def helper(x):
    return x

@decorated(
    SIZE
)
class Model(nn.Module):
    """Text
at column zero = 5, not a statement
"""

    def forward(self, x):
        y = (x,
1)
# a comment at column zero does not end the class
        return helper(y)

batch_size, more = 10, [
    512,
]
if True:
    other = 3

def get_inputs():
    return [torch.rand(10, 512)]

def get_init_inputs():
    return [128]

def afterwards():
    return 256
)py";
  EXPECT_EQ(blind_view(source), R"py(import torch
from torch import (
    nn,
)

def helper(x):
    return x

@decorated(
    SIZE
)
class Model(nn.Module):
    """Text
at column zero = 5, not a statement
"""

    def forward(self, x):
        y = (x,
1)
        return helper(y)
)py");
}

TEST(BlindView, KeepsAClassThatComesAfterItsInputs) {
  EXPECT_EQ(blind_view("def get_inputs():\n    return [7]\nclass Model:\n    pass\n"), "class Model:\n    pass\n");
}

TEST(BlindView, IsNotMisledByQuotesBracketsAndBackslashes) {
  EXPECT_EQ(blind_view("class A:\n  x = '\\'(' # \"\"\"\nn = 1\n"), "class A:\n  x = '\\'(' # \"\"\"\n");
  EXPECT_EQ(blind_view("class A:\n  x = 1 + \\\n2\nn = 1\n"), "class A:\n  x = 1 + \\\n2\n");
  EXPECT_EQ(blind_view("class A:\n  x = 'a\\\nb'\nn = 1\n"), "class A:\n  x = 'a\\\nb'\n");
  EXPECT_EQ(blind_view("class A:\n  pass\r\nn = 1\r\n"), "class A:\n  pass\n");
}

TEST(BlindView, SurvivesAnyText) {
  for (const char* text :
       {"", "\n", "@", "'''", "\\", "(", ")))", "def", "class", "\xff\xfe", "'\\", "@a\n@b\n", "#"}) {
    EXPECT_LE(blind_view(text).size(), std::string_view(text).size() + 1) << text;
  }
}

}  // namespace
}  // namespace kagent
