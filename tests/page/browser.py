# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium for tests, through chromedriver's HTTP interface.

    with Browser() as b:
        b.open(url); b.run("return document.title")
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def missing():
    """Why no browser can be started; None if one can."""
    if not shutil.which("chromedriver"):
        return "chromedriver is not installed"
    if not any(shutil.which(p) for p in PROGRAMS):
        return "Chromium is not installed"
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    def __init__(self, width=1280, height=900):
        self.folder = os.path.abspath("browser-profile")
        os.makedirs(self.folder, exist_ok=True)
        self.port = free_port()
        self.log = open("chromedriver.log", "ab")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=%d" % self.port], stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log)
        self.session = None
        try:
            self.start(width, height)
        except BaseException:
            self.close()
            raise

    def start(self, width, height):
        for _ in range(300):
            try:
                if self.ask("GET", "/status")["ready"]:
                    break
            except OSError:
                time.sleep(0.1)
        args = ["--headless=new", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-sync",
                "--disable-component-update", "--disable-dev-shm-usage",
                "--no-proxy-server", "--hide-scrollbars",
                "--user-data-dir=" + self.folder,
                "--window-size=%d,%d" % (width, height)]
        if os.getuid() == 0:
            args.append("--no-sandbox")
        options = {"args": args, "binary": next(
            p for p in map(shutil.which, PROGRAMS) if p)}
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]
        self.size(width, height)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            "http://127.0.0.1:%d%s" % (self.port, path), data, method=method,
            headers={"Content-Type": "application/json"})
        try:
            with NO_PROXY.open(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:2000]) from None

    def post(self, path, **body):
        return self.ask("POST", self.session + path, body)

    def cdp(self, command, **params):
        """A command of the DevTools protocol."""
        return self.post("/goog/cdp/execute", cmd=command, params=params)

    def open(self, url):
        self.post("/url", url=url)

    def run(self, script, *args):
        return self.post("/execute/sync", script=script, args=list(args))

    def wait(self, expression, seconds=120):
        """Waits until the JavaScript expression is true; returns its value."""
        end = time.time() + seconds
        while True:
            value = self.run("return " + expression)
            if value or time.time() > end:
                return value
            time.sleep(0.05)

    def size(self, width, height, mobile=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width,
                 height=height, deviceScaleFactor=1, mobile=mobile)

    def media(self, scheme="light", kind=""):
        self.cdp("Emulation.setEmulatedMedia", media=kind, features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def vision(self, deficiency):
        self.cdp("Emulation.setEmulatedVisionDeficiency", type=deficiency)

    def picture(self, path, whole=False):
        out = self.cdp("Page.captureScreenshot", format="png",
                       captureBeyondViewport=whole, **self.clip(whole))
        with open(path, "wb") as f:
            f.write(base64.b64decode(out["data"]))

    def clip(self, whole):
        if not whole:
            return {}
        w, h = self.run("const e = document.documentElement;"
                        "return [e.clientWidth, e.scrollHeight]")
        return {"clip": {"x": 0, "y": 0, "width": w, "height": h, "scale": 1}}

    def pdf(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.cdp("Page.printToPDF")["data"]))

    def messages(self):
        """Messages of the console since the last call."""
        return ["%s %s" % (m["level"], m["message"]) for m in
                self.post("/se/log", type="browser")]

    def requests(self):
        """Addresses that were requested since the last call."""
        out = []
        for entry in self.post("/se/log", type="performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                out.append(message["params"]["request"]["url"])
        return out

    def close(self):
        try:
            if self.session:
                self.ask("DELETE", self.session)
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
