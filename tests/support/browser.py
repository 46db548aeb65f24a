"""A headless Chromium driven over the WebDriver protocol, with the standard library alone.

    with Browser() as browser:
        browser.open("/tmp/page.html")
        browser.run("return document.title")

Needs the programs `chromium` and `chromedriver`; find() says whether they are there.
"""
import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--hide-scrollbars"]
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004", "Shift": "\ue008"}


def find():
    """The sentence that says what is missing, or None."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"no {program}"
    return None


class Browser:
    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        self.session = None
        try:
            self.port = self._port()
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.session is not None:
                self.call("DELETE", "")
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.split("port")[1].strip(" .\n"))
        raise RuntimeError("chromedriver did not start")

    def _begin(self):
        arguments = FLAGS + [f"--user-data-dir={self.folder}"]
        capabilities = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                        "goog:chromeOptions": {"binary": shutil.which("chromium"),
                                               "args": arguments}}
        value = self._send("POST", "/session",
                           {"capabilities": {"alwaysMatch": capabilities}})
        self.session = value["sessionId"]

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def call(self, method, path, body=None):
        return self._send(method, f"/session/{self.session}{path}", body)

    def open(self, path, fragment=""):
        """Open a file; the seconds until it was loaded."""
        begin = time.monotonic()
        self.call("POST", "/url", {"url": f"file://{path}{fragment}"})
        return time.monotonic() - begin

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def tool(self, command, **parameters):
        """A command of the developer tools."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def press(self, *keys):
        """Press and release keys one after the other."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "/actions",
                  {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, selector):
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(element.values()))}/click", {})

    def wait(self, script, *arguments, seconds=10):
        """Until the script gives something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {script}")

    def resize(self, width, height):
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def prefer(self, scheme):
        self.tool("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def log(self):
        """What the console said since the last call: errors and warnings."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, path):
        """The whole page as PNG."""
        image = self.tool("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))
