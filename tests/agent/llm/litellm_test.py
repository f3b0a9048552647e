#!/usr/bin/env python3
"""The real client against LiteLLM's proxy, a server nobody here wrote: three dialects, streamed and whole, wrong key, wrong model.

    litellm_test.py LLM_CLIENT

The proxy comes from .deps/litellm (see requirements-litellm.txt beside this file) or from $KAGENT_LITELLM, the program
itself. Its models are mocks, so nothing leaves this machine. Exit 77: skipped, with the reason.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("KAGENT_LITELLM", ROOT / ".deps/litellm/bin/litellm"))
KEY = "sk-litellm-test-0123456789"
REPLY = "Hello from the mock: naïve café, one\ntwo"
DIALECTS = ("openai", "anthropic", "gemini")
START_S = 120.0

CONFIG = {
    "model_list": [{"model_name": "mock-model",
                    "litellm_params": {"model": "openai/mock-model", "api_key": "unused", "mock_response": REPLY}}],
    "general_settings": {"master_key": KEY},
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder: str) -> tuple[subprocess.Popen, str]:
    """The running proxy and its address."""
    config = pathlib.Path(folder, "config.yaml")
    config.write_text(json.dumps(CONFIG))  # JSON is YAML
    port = free_port()
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with open(pathlib.Path(folder, "log"), "wb") as log:
        proxy = subprocess.Popen([PROGRAM, "--config", config, "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"],
                                 env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and proxy.poll() is None:
        try:
            urllib.request.urlopen(address + "/health/liveliness", timeout=2).close()
            return proxy, address
        except OSError:
            time.sleep(0.3)
    stop(proxy)
    raise RuntimeError("LiteLLM did not start:\n" + pathlib.Path(folder, "log").read_text(errors="replace")[-3000:])


def stop(proxy: subprocess.Popen) -> None:
    proxy.terminate()
    try:
        proxy.wait(10)
    except subprocess.TimeoutExpired:
        proxy.kill()
        proxy.wait()


class LiteLlm(unittest.TestCase):
    client: str
    address: str
    proxy: subprocess.Popen

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.proxy, cls.address = start(cls.folder.name)

    @classmethod
    def tearDownClass(cls) -> None:
        stop(cls.proxy)
        cls.folder.cleanup()

    def ask(self, dialect: str, *options: str, key: str = KEY, model: str = "mock-model", base: str = "") -> dict:
        done = subprocess.run([self.client, f"{dialect}:{model}", base or self.address, "Say hello.", *options],
                              env=os.environ | {"KAGENT_CLIENT_KEY": key}, capture_output=True, text=True, timeout=100)
        self.assertNotIn(key, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_answers_in_three_dialects_streamed_and_whole(self) -> None:
        for dialect in DIALECTS:
            for options in ((), ("--whole",), ("--check",)):
                with self.subTest(dialect=dialect, options=options):
                    reply = self.ask(dialect, *options)
                    self.assertEqual(reply.get("text"), REPLY, reply)
                    self.assertEqual(reply["attempts"], 1)
                    self.assertGreater(reply["input_tokens"], 0)
                    self.assertGreater(reply["output_tokens"], 0)
                    self.assertIn(reply["finish_reason"], ("stop", "end_turn", "STOP"))
                    # LiteLLM's Gemini reply does not say which model answered.
                    self.assertEqual(reply["model"], "" if dialect == "gemini" else "mock-model")

    def test_a_wrong_key_is_one_line_before_anything_is_asked(self) -> None:
        for dialect in ("openai", "anthropic"):  # LiteLLM has no Gemini list of models to check with
            with self.subTest(dialect=dialect):
                error = self.ask(dialect, "--check", key="sk-wrong-key-0123456789")["error"]
                self.assertIn("the key in KAGENT_CLIENT_KEY", error)
                self.assertNotIn("\n", error)

    def test_a_wrong_key_is_an_error_at_once(self) -> None:
        for dialect in DIALECTS:
            with self.subTest(dialect=dialect):
                error = self.ask(dialect, key="sk-wrong-key-0123456789")["error"]
                self.assertRegex(error, "HTTP 40[01]")
                self.assertNotIn("after", error)

    def test_a_wrong_model_is_an_error_that_names_it(self) -> None:
        for dialect in DIALECTS:
            with self.subTest(dialect=dialect):
                error = self.ask(dialect, model="no-such-model")["error"]
                self.assertIn("no-such-model", error)
                self.assertNotIn("after", error)

    def test_base_urls_in_their_usual_forms(self) -> None:
        for base in (self.address + "/", self.address + "/v1", self.address + "/v1/", self.address + "/v1/chat/completions"):
            with self.subTest(base=base):
                self.assertEqual(self.ask("openai", base=base).get("text"), REPLY)


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"skipped: LiteLLM is not installed ({PROGRAM}); {pathlib.Path(__file__).parent}/requirements-litellm.txt says how")
        sys.exit(77)
    LiteLlm.client = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
