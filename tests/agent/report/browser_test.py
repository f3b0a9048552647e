#!/usr/bin/env python3
"""Reports of made runs in a headless Chromium, from file://: nothing loads, nothing runs, nothing overflows, all is reachable by keyboard.

    browser_test.py REPORT_RUNS KAGENT

Chromium is driven over its DevTools protocol through pipes. Exit 77: skipped, with the reason.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WAIT_S = 60.0
RUNS = ("hostile", "unfinished", "damaged", "large")
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
DEAD_LINKS = """[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))
  .filter(h => !h || h[0] != '#' || !document.getElementById(h.slice(1)))"""
FOCUS = """(() => { const e = document.activeElement; return e.tagName + ' ' + (e.className || '') })()"""
HEADING_JUMPS = """(() => { let last = 0, wrong = []; for (const h of document.querySelectorAll('h1,h2,h3,h4')) {
  const n = +h.tagName[1]; if (n > last + 1) wrong.push(h.textContent.slice(0, 80)); last = n } return wrong })()"""
# Elements that this program writes; anything else came out of a model's text.
STRANGE = """[...new Set([...document.querySelectorAll('*')].map(e => e.tagName.toLowerCase()))].filter(t => !(
  'html head meta title style body a header h1 h2 h3 h4 p nav ul li main section dl div dt dd span table caption thead tbody tr th td ' +
  'details summary pre code article blockquote footer strong figure svg rect line text polygon polyline circle').split(' ').includes(t))"""
HANDLERS = "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).filter(a => /^on|^style$/.test(a.name)).length"


class Browser:
    def __init__(self, program: str, profile: str):
        to_child, self.write = os.pipe()
        self.read, from_child = os.pipe()

        def descriptors():  # the protocol's: 3 to read, 4 to write
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self) -> dict:
        while b"\0" not in self.buffer:
            part = os.read(self.read, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended")
            self.buffer += part
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method: str, **parameters):
        self.number += 1
        body = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            body["sessionId"] = self.session
        data = json.dumps(body).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while True:
            got = self.message()
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def value(self, expression: str):
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:500])
        return got["result"].get("value")

    def open(self, path: pathlib.Path, width: int):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.events = []
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            if self.value("document.readyState") == "complete" and self.value("location.href") != "about:blank":
                break
            time.sleep(0.05)
        self.value("(() => { const all = document.querySelectorAll('details'), open = all.length < 600; all.forEach(d => d.open = open) })()")
        time.sleep(0.3)  # what a handler or a load would need

    def press(self, key: str, code: int):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def close(self):
        self.process.kill()
        self.process.wait()


class Page(unittest.TestCase):
    folder: pathlib.Path
    browser: Browser

    def report(self, run: str) -> pathlib.Path:
        return self.folder / run / "report" / "report.html"

    def each(self):
        for run in RUNS:
            for width in (360,) if run == "large" else (360, 1280):
                with self.subTest(run=run, width=width):
                    self.browser.open(self.report(run), width)
                    yield run, width

    def test_runs_and_loads_nothing_and_fits_the_screen(self):
        for run, _ in self.each():
            self.assertNotEqual(self.browser.value("document.title"), "ran")
            self.assertTrue(self.browser.value("document.title").endswith("kagent report"))
            self.assertEqual(self.browser.value("document.scripts.length"), 0)
            self.assertEqual(self.browser.value(STRANGE), [])
            self.assertEqual(self.browser.value(HANDLERS), 0)
            self.assertLessEqual(self.browser.value(OVERFLOW), 0)
            loaded = [e["params"]["request"]["url"] for e in self.browser.events if e.get("method") == "Network.requestWillBeSent"]
            self.assertEqual(loaded, [self.report(run).as_uri()])
            said = [e for e in self.browser.events
                    if e.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
            self.assertEqual(said, [])

    def test_the_style_sheet_is_let_in_and_scripts_are_not(self):
        self.browser.open(self.report("hostile"), 1280)
        self.assertEqual(self.browser.value("getComputedStyle(document.querySelector('.card')).borderStyle"), "solid")
        self.browser.value("(() => { const s = document.createElement('script'); s.textContent = 'document.title=\"ran\"';"
                           "document.body.append(s); const i = document.createElement('img'); i.src = 'x.png'; document.body.append(i) })()")
        time.sleep(0.3)
        self.browser.value("0")
        self.assertNotEqual(self.browser.value("document.title"), "ran")
        refused = [e for e in self.browser.events if e.get("method") == "Log.entryAdded" and e["params"]["entry"]["source"] == "security"]
        self.assertTrue(refused)

    def test_every_link_has_a_target_and_headings_are_in_order(self):
        for _ in self.each():
            self.assertEqual(self.browser.value(DEAD_LINKS), [])
            self.assertEqual(self.browser.value(HEADING_JUMPS), [])
            self.assertEqual(self.browser.value("document.querySelectorAll('h1').length"), 1)
            self.assertEqual(self.browser.value("[...document.querySelectorAll('table')].filter(t => !t.caption).length"), 0)

    def test_the_keyboard_reaches_the_skip_link_and_what_opens(self):
        self.browser.open(self.report("unfinished"), 1280)
        self.browser.press("Tab", 9)
        self.assertEqual(self.browser.value(FOCUS), "A skip")
        self.assertGreaterEqual(self.browser.value("document.activeElement.getBoundingClientRect().left"), 0)
        met = set()
        for _ in range(60):
            self.browser.press("Tab", 9)
            met.add(self.browser.value(FOCUS).split()[0])
        self.assertIn("SUMMARY", met)
        self.browser.value("document.querySelector('details').open = false; document.querySelector('summary').focus()")
        self.browser.press(" ", 32)
        self.assertTrue(self.browser.value("document.querySelector('details').open"))

    def test_a_task_opens_when_it_is_linked_to(self):
        self.browser.open(self.report("large"), 1280)
        self.browser.value("document.querySelector('a[href=\"#task-7\"]').click()")
        time.sleep(0.2)
        self.assertTrue(self.browser.value("document.getElementById('task-7').closest('details').open"))


def main() -> int:
    program = next((found for found in map(shutil.which, NAMES) if found), None)
    if program is None:
        print("skipped: no headless Chromium here: apt-get install chromium-headless-shell fonts-dejavu-core")
        return 77
    runs, kagent = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix="kagent-report-") as folder:
        Page.folder = pathlib.Path(folder)
        subprocess.run([runs, folder], check=True)
        for run in RUNS:
            begin = time.monotonic()
            subprocess.run([kagent, "report", str(Page.folder / run)], check=True)
            print(f"{run}: {Page.folder.joinpath(run, 'report/report.html').stat().st_size / 1e6:.2f} MB in {time.monotonic() - begin:.2f} s")
        Page.browser = Browser(program, folder + "/profile")
        try:
            result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Page))
        finally:
            Page.browser.close()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
