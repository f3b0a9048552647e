#!/usr/bin/env python3
"""Layers point one way: agent/ and harness/ share only the protocol of docs/, and neither reaches into tests/."""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
EMULATED = "harness/emulate/include"  # where an emulated answer's own headers are found
# What each folder of C++ may include of ours. Within a layer, lower ones do not include higher ones.
AGENT_ORDER = ["base", "answer", "task", "llm", "run", "prompt", "judge", "slurm", "solve", "suite", "audit", "score", "replay", "report",
               "doctor", "command"]


def sources(folder: str):
    for path, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in sorted(names):
            if name.endswith((".h", ".cpp")):
                full = os.path.join(path, name)
                with open(full, encoding="utf-8") as file:
                    yield os.path.relpath(full, ROOT), INCLUDE.findall(file.read())


class Layers(unittest.TestCase):
    def test_every_include_of_ours_is_found(self):
        for folder in ("agent", "harness"):
            found = list(sources(folder))
            self.assertGreater(len(found), 20)
            for path, includes in found:
                for include in includes:
                    places = [os.path.join(ROOT, root, include) for root in ("", EMULATED)]
                    self.assertTrue(any(map(os.path.exists, places)), f"{path} includes {include}")

    def test_agent_and_harness_do_not_include_each_other(self):
        for layer, other in (("agent", "harness"), ("harness", "agent")):
            wrong = [(path, include) for path, includes in sources(layer) for include in includes
                     if include.startswith((other + "/", "tests/"))]
            self.assertEqual(wrong, [])

    def test_lower_parts_of_the_agent_do_not_include_higher_ones(self):
        self.assertEqual(sorted(AGENT_ORDER), sorted(os.listdir(os.path.join(ROOT, "agent")))[1:], "name a new folder here")
        for path, includes in sources("agent"):
            mine = AGENT_ORDER.index(path.split(os.sep)[1])
            for include in includes:
                if include.startswith("agent/"):
                    self.assertLessEqual(AGENT_ORDER.index(include.split("/")[1]), mine, f"{path} includes {include}")


if __name__ == "__main__":
    unittest.main()
