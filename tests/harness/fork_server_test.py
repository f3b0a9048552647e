"""The fork server: its children are what fresh processes would be."""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ["KAGENT_BUILD"]
WORKER = ["worker.py", "--role", "reference", "--backend", "cpu", "--library", f"{BUILD}/lib/libkagent_harness.so"]


# Stands for kagent: adopts orphans, has a worker forked, prints its number and stays.
_ADOPTER = """
import ctypes, json, os, socket, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1) == 0  # PR_SET_CHILD_SUBREAPER
channel, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
subprocess.Popen([sys.executable, "-s", "-B", sys.argv[1]], stdin=end)
(stdin, to_child), (from_child, stdout) = os.pipe(), os.pipe()
socket.send_fds(channel, [json.dumps({"argv": sys.argv[2:], "environment": {}}).encode()], [stdin, stdout, 2])
pid = json.loads(channel.recv(4096))["pid"]
os.write(to_child, b'{"cmd": "hello"}\\n')
os.read(from_child, 1)
print(pid, flush=True)
import time
time.sleep(1000)
"""


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


class ForkServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.channel, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        cls.server = subprocess.Popen([sys.executable, "-s", "-B", os.path.join(ROOT, "harness", "fork_server.py")], stdin=end,
                                      env={"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0", "FROM_THE_SERVER": "1"})
        end.close()

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        assert cls.server.wait(20) == 0

    def fork(self, argv, **environment):
        """(process id, its stdin, its stdout)"""
        stdin, to_child = os.pipe()
        from_child, stdout = os.pipe()
        null = os.open(os.devnull, os.O_WRONLY)
        socket.send_fds(self.channel, [json.dumps({"argv": argv, "environment": environment}).encode()], [stdin, stdout, null])
        reply = json.loads(self.channel.recv(4096))
        for fd in (stdin, stdout, null):
            os.close(fd)
        self.assertTrue(reply["ok"], reply)
        ends = os.fdopen(to_child, "w"), os.fdopen(from_child)
        for end in ends:
            self.addCleanup(end.close)
        return reply["pid"], *ends

    def ask(self, child, **request):
        child[1].write(json.dumps(request) + "\n")
        child[1].flush()
        return json.loads(child[2].readline())

    def test_a_worker_answers_and_ends_with_its_input(self):
        task = os.path.join(ROOT, "tasks", "level3", "9_resnet18.py")
        child = self.fork(WORKER)
        self.assertTrue(self.ask(child, cmd="hello")["ok"])
        self.assertTrue(self.ask(child, cmd="task", file=task)["ok"])
        child[1].close()
        self.assertEqual(child[2].read(), "")

    def test_two_children_share_nothing(self):
        first, second = self.fork(WORKER), self.fork(WORKER)
        self.ask(first, cmd="hello")
        self.ask(first, cmd="task", file=os.path.join(ROOT, "tasks", "level3", "9_resnet18.py"))
        self.ask(second, cmd="hello")
        self.assertIn("send plan first", self.ask(second, cmd="run", seed=1, scale=1.0, out="/nonexistent")["error"]["message"])
        self.assertIn("send task first", self.ask(second, cmd="plan", plan="{}", device={}, reference=True)["error"]["message"])

    def test_a_child_leads_its_own_group_and_ends_with_it(self):
        pid, _, stdout = self.fork(WORKER)
        self.assertEqual(os.getpgid(pid), pid)
        os.killpg(pid, 9)
        self.assertEqual(stdout.read(), "")

    def test_a_child_ends_with_its_adopter_even_when_it_is_deaf(self):
        """A stopped child hears neither its input's end nor a signal that can be held off."""
        adopter = subprocess.Popen([sys.executable, "-B", "-c", _ADOPTER, os.path.join(ROOT, "harness", "fork_server.py"), *WORKER],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(adopter.stdout.close)
        pid = int(adopter.stdout.readline())
        os.kill(pid, signal.SIGSTOP)
        adopter.kill()
        adopter.wait()
        for _ in range(100):
            if not os.path.exists(f"/proc/{pid}") or _state(pid) == "Z":  # whoever adopts it next may be slow to fetch it
                return
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        self.fail("the child outlived its adopter")

    def test_an_unknown_program_ends_at_once(self):
        _, _, stdout = self.fork(["another.py"])
        begin = time.monotonic()
        self.assertEqual(stdout.read(), "")
        self.assertLess(time.monotonic() - begin, 5)

    def test_it_has_not_started_cuda(self):
        """A process that has, and every child of it, could not use it."""
        self.fork(["another.py"])[2].read()
        with open(f"/proc/{self.server.pid}/maps", encoding="ascii") as file:
            self.assertFalse([line for line in file if "/dev/nvidia" in line])

    def test_children_start_cuda_themselves(self):
        if not os.path.exists("/dev/nvidiactl"):
            self.skipTest("needs a GPU")
        child = self.fork(["cuda" if word == "cpu" else word for word in WORKER], CUDA_VISIBLE_DEVICES="0")
        hello = self.ask(child, cmd="hello")
        self.assertTrue(hello["ok"], hello)
        self.assertGreater(hello["device"]["sm_count"], 0)


if __name__ == "__main__":
    unittest.main()
