# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of the program with its live view, for tests.

    with Program("oltp_read_only", "--time=5") as p:
        p.get("/metrics")
"""
import json
import os
import re
import subprocess
import threading
import urllib.error
import urllib.request

NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def missing():
    """Why there is no live view; None if there is one."""
    out = subprocess.run(
        [os.environ["SYSBENCH"], "cpu", "--events=1", "--report=none,web=0",
         "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "without libmicrohttpd" in out.stdout:
        return "the program was built without libmicrohttpd"
    return None


class Program:
    def __init__(self, test, *options, where="127.0.0.1:0", reports=""):
        self.text = ""
        self.child = subprocess.Popen(
            [os.environ["SYSBENCH"], test, "--db-driver=null",
             "--report=%sweb=%s" % (reports, where), *options, "run"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = None
        for line in self.child.stderr:
            self.text += line
            if line.startswith("Live view: "):
                self.url = line.split()[-1]
                break
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.output = ""
        self.other = threading.Thread(target=self.read_output, daemon=True)
        self.other.start()

    def read(self):
        for line in self.child.stderr:
            self.text += line

    def read_output(self):
        for line in self.child.stdout:
            self.output += line

    @property
    def port(self):
        return int(re.search(r":(\d+)/$", self.url).group(1))

    def get(self, path, **headers):
        """Status, headers and text of an answer."""
        request = urllib.request.Request(self.url.rstrip("/") + path,
                                         headers=headers)
        try:
            with NO_PROXY.open(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()
        except urllib.error.URLError as error:
            raise ConnectionError("%s; status %r, messages %r" % (
                error.reason, self.child.poll(), self.text)) from error

    def json(self, path):
        return json.loads(self.get(path)[2])

    def wait(self, seconds=120):
        """The exit status."""
        status = self.child.wait(seconds)
        self.reader.join()
        self.other.join()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *why):
        if self.child.poll() is None:
            self.child.kill()
        self.wait()
        self.child.stdout.close()
        self.child.stderr.close()
