"""A headless Chromium, driven by the W3C WebDriver protocol through chromedriver. Standard library alone."""

import base64
import http.client
import json
import re
import subprocess
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ENTER, ESCAPE, TAB, SHIFT, SPACE = "\ue007", "\ue00c", "\ue004", "\ue008", " "
PATIENCE_S = 30


class Refused(Exception):
    """The driver said no."""


class Browser:
    """One browser with one window. `quit` ends it and its driver."""

    def __init__(self, folder, size=(1200, 900)):
        command = ["chromedriver", "--port=0", f"--log-path={folder}/chromedriver.log"]
        self.driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started = (re.search(r"started successfully on port (\d+)", line) for line in self.driver.stdout)
        self.port = int(next(filter(None, started))[1])
        # What is shown here is our own page on this machine alone; Chromium's sandbox does not run as root.
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--lang=en"]
        options += [f"--window-size={size[0]},{size[1]}", "--force-color-profile=srgb", "--disable-background-networking"]
        wanted = {"goog:chromeOptions": {"args": options}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = ""
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + answer["sessionId"]

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        text = json.dumps(body if body is not None else {}) if method == "POST" else None
        connection.request(method, self.session + path, text, {"content-type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        if isinstance(answer["value"], dict) and "error" in answer["value"]:
            raise Refused(f"{path}: {answer['value']['error']}: {answer['value']['message'].splitlines()[0]}")
        return answer["value"]

    def quit(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    # Where it is.

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def url(self):
        return self.call("GET", "/url")

    def back(self):
        self.call("POST", "/back")

    def reload(self):
        self.call("POST", "/refresh")

    # What it shows.

    def js(self, script, *arguments):
        """What a script gives: the body of a function."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def js_later(self, script, *arguments):
        """What a script gives to the function that is its last argument."""
        return self.call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def cdp(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def all(self, css):
        found = self.call("POST", "/elements", {"using": "css selector", "value": css})
        return [element[ELEMENT] for element in found]

    def one(self, css):
        """The only element that there is for a selector; waits for it."""
        return self.until(lambda: (self.all(css) or [None])[0], f"an element {css}")

    def text(self, css):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText).join('\\n')", css)

    def is_shown(self, css):
        return self.js("return [...document.querySelectorAll(arguments[0])].some((e) => e.checkVisibility())", css)

    def until(self, true, what):
        """What a function gives once it gives something. Polls, because a page has no other way to say that it is ready."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                if found := true():
                    return found
            except Refused as refused:
                if "stale" not in str(refused):
                    raise
            time.sleep(0.03)
        raise AssertionError(f"waited {PATIENCE_S} s for {what}")

    def shot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def console(self):
        """What the console says since the last call."""
        return self.call("POST", "/se/log", {"type": "browser"})

    # What a person does.

    def click(self, css):
        element = self.one(css)
        self.call("POST", f"/element/{element}/click")

    def keys(self, *keys):
        """Presses keys one after the other, wherever the focus is. A tuple is held together."""
        actions = []
        for key in keys:
            held = key if isinstance(key, tuple) else (key,)
            actions += [{"type": "keyDown", "value": k} for k in held]
            actions += [{"type": "keyUp", "value": k} for k in reversed(held)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, text):
        self.keys(*text)

    def size(self, width, height, mobile=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def scheme(self, name):
        """`light` or `dark`, as the system would say."""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])
