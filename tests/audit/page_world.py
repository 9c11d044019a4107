"""What the checks of the review page need: data by the contract between the audit and the page, a server that speaks as `regroup review`
does, a browser, and what the page must compute, written a second time."""
import base64
import http.server
import io
import json
import math
import pathlib
import random
import re
import secrets
import threading
import time

from PIL import Image, ImageDraw
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service

PAGE = pathlib.Path(__file__).resolve().parents[2] / "regroup/audit/page"
CLASSES = ["bag", "coat", "dress", "hat", "jeans", "sandal", "shirt", "shorts", "skirt", "sneaker"]
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "\u202egnp.gab\u202c", "=cmd|' /C calc'!A0",
           "x" * 10000, "line\nbreak\ttab\x00\x1b[31m", "\ud800 lone", "'quoted\"", "{{title}}${x}", "Z" + "\u0300" * 300]


# The data ---------------------------------------------------------------------------------------------------------

def shape(kind, seed, side):
    """A picture of a class: one of ten shapes, in any colour."""
    rng = random.Random(seed)
    image = Image.new("RGB", (64, 64), tuple(rng.randrange(150, 240) for _ in range(3)))
    draw, ink = ImageDraw.Draw(image), tuple(rng.randrange(20, 140) for _ in range(3))
    x, y, r = rng.randrange(26, 38), rng.randrange(26, 38), rng.randrange(14, 24)
    if kind % 5 == 0:
        draw.ellipse((x - r, y - r, x + r, y + r), fill=ink)
    elif kind % 5 == 1:
        draw.rectangle((x - r, y - r, x + r, y + r), fill=ink)
    else:
        points = kind % 5 + 1
        turns = [2 * math.pi * i / points for i in range(points)]
        draw.polygon([(x + r * math.sin(turn), y - r * math.cos(turn)) for turn in turns], fill=ink)
    if kind >= 5:
        draw.ellipse((x - r / 3, y - r / 3, x + r / 3, y + r / 3), fill=(255, 255, 255))
    return image.resize((side, side), Image.BILINEAR)


def sheets_of(pictures, size, columns=10, rows=10):
    sheets = []
    for first in range(0, len(pictures), columns * rows):
        sheet = Image.new("RGB", (columns * size, rows * size))
        for cell, picture in enumerate(pictures[first:first + columns * rows]):
            sheet.paste(picture, (cell % columns * size, cell // columns * size))
        out = io.BytesIO()
        sheet.save(out, "JPEG", quality=90)
        sheets.append(base64.b64encode(out.getvalue()).decode())
    return {"size": size, "columns": columns, "rows": rows, "sheets": sheets}


def make_data(count=300, classes=CLASSES, key="check", seed=1, partners=64, photos=None, side=32, names=None,
              pictures=True, text=False):
    """`count` listed labels, the worst first, and some more that serve as evidence and as duplicates' partners."""
    rng = random.Random(seed)
    total, k = count + partners, len(classes)
    columns = {name: [] for name in ("id", "index", "part", "name", "given", "right", "likely", "none", "group", "width",
                                     "height")}
    drawn, truths = [], []
    for i in range(total):
        is_listed = i < count
        right = 1 - 0.995 * math.exp(-2.3 * i / count) if is_listed else 0.97
        truth = rng.randrange(k) if is_listed else i % k
        is_wrong = is_listed and rng.random() > right
        given = (truth + rng.choice([1, 1, 1, 2, max(1, k - 1)])) % k if is_wrong else truth
        other = truth if is_wrong else (given + 1 + rng.randrange(k - 1)) % k if k > 1 else -1
        none = is_listed and pictures and rng.random() < 0.03
        rest = [c for c in rng.sample(range(k), min(k, 9)) if c not in (given, other)][:max(0, min(7, k - 2))]
        weights = sorted((rng.random() ** 3 for _ in rest), reverse=True)
        left = 0.15 * min(right, 1 - right) + 1e-3
        likely = [(given, max(right - left, 0.001)), (other, max(1 - right - left, 0.001))]
        likely += [(c, w * left) for c, w in zip(rest, weights)]
        likely = sorted((pair for pair in likely if pair[0] >= 0), key=lambda pair: -pair[1])
        columns["id"].append(i * 7 + 3)
        columns["index"].append(i * 3)
        columns["part"].append(0 if i % 10 else 1)
        columns["name"].append((names or default_name)(i, classes[given]))
        columns["given"].append(given)
        columns["right"].append(round(right, 5))
        columns["likely"].append([value for c, p in likely for value in (c, round(p, 4))])
        columns["none"].append(round(0.6 + 0.39 * rng.random(), 3) if none else round(0.1 * rng.random(), 3))
        columns["group"].append(-1)
        truths.append(truth)
        if photos:
            files = photos[truth]
            picture = Image.open(files[i % len(files)]).convert("RGB")
            picture.thumbnail((side, side))
            drawn.append(picture)
        elif pictures:
            drawn.append(shape(truth, seed * 100000 + i, side))
        columns["width"].append(drawn[-1].width if drawn else 0)
        columns["height"].append(drawn[-1].height if drawn else 0)
    if text:
        columns["text"] = [f"I have not received my {classes[t]} yet, and number {i} was ordered last week." for i, t in enumerate(truths)]
    for group in range(min(12, partners // 3)):
        first, second = 5 + 3 * group, count + group
        columns["group"][first] = columns["group"][second] = group
        if group % 2:  # the same label, and one more copy
            columns["given"][second] = columns["given"][first]
            columns["group"][count + 12 + group] = group
        for copy in (second, count + 12 + group if group % 2 else second):
            if drawn:
                drawn[copy] = drawn[first]
                columns["width"][copy], columns["height"][copy] = drawn[first].size
    by_truth = {}
    for i in range(count, total):
        if columns["group"][i] < 0:
            by_truth.setdefault(truths[i], []).append(i)
    evidence = {}
    for i in range(count):
        suggested = next((c for c in columns["likely"][i][::2] if c != columns["given"][i]), None)
        evidence[str(i)] = {"given": by_truth.get(columns["given"][i], [])[:4], "other": by_truth.get(suggested, [])[:4]}
    matrix = None
    if k <= 200:
        matrix = [[0.86 if a == b else 0.1 if b == (a + 1) % k else 0.04 / max(1, k - 2) for b in range(k)] for a in range(k)]
    labels = []
    for name in ("labels of training and validation images", "labels of the test images"):
        rates = [0.05 + 0.3 * rng.random() ** 2 for _ in classes]
        labels.append({"name": name, "labels": 45000, "issues": count // 2, "noise_rate": [0.138, 0.121, 0.155],
                       "matrix": matrix, "classes": [
                           {"labels": 4000 + rng.randrange(900),
                            "noise_rate": [r, max(0, r - 0.03 * rng.random()), r + 0.03 * rng.random()]} for r in rates]})
    chart = ("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 480 240'>"
             "<style>.c{stroke:#0072b2}text{fill:#59636e;font:14px sans-serif}"
             "@media (prefers-color-scheme:dark){.c{stroke:#4ca6e8}text{fill:#9ca6b1}}</style><text x='40' y='24'>Test accuracy</text>"
             "<polyline class='c' fill='none' stroke-width='3' points='40,210 80,140 120,110 200,80 300,66 460,60'/></svg>")
    no_tiles = {"size": side, "columns": 10, "rows": 10, "sheets": []}
    return {"version": 1, "served": False, "title": "photos-rml-1", "key": key, "run": "runs/photos-rml-1",
            "classes": list(classes), "parts": ["train", "val"], "listed": count, "unlisted": 44000,
            "unlisted_wrong": 120.5, "spread": 0.6, "samples": columns,
            "evidence": evidence, "labels": labels, "charts": [chart],
            "facts": [["Method", "rml"], ["Network", "fast"], ["Epochs", "16"],
                      ["Images", "45,000 for training, 5,000 for validation"], ["Judged by", "the course of the training"]],
            "decisions": [], "tile": sheets_of(drawn, side) if drawn else no_tiles}


def default_name(i, label):
    return f"train/{label}/{i:05}.jpg"


def hostile_name(i, label):
    return f"train/{HOSTILE[i % len(HOSTILE)]}/{i}.jpg"


def assemble(data):
    """What the program does: the files put into the template, in one pass."""
    script = "(() => {\n\"use strict\";\n" + "\n".join(path.read_text() for path in sorted(PAGE.glob("*.js"))) + "\n})();"
    escaped = data["title"].replace("&", "&amp;").replace("<", "&lt;") if "title" in data else "review"
    values = {"title": escaped, "nonce": secrets.token_hex(16), "style": (PAGE / "page.css").read_text(), "script": script,
              "data": json.dumps(data).replace("<", "\\u003c")}
    html = (PAGE / "page.html").read_text()
    return re.sub(r"\{\{(\w+)\}\}", lambda marker: values[marker[1]], html).encode()


# The server -------------------------------------------------------------------------------------------------------

class FakeServer:
    """Speaks as `regroup review` does. It can be stopped and started again at the same address."""

    def __init__(self, data):
        self.data = {name: value for name, value in data.items() if name != "tile"} | {"served": True}
        self.page = assemble({"served": True})
        self.token, self.port, self.journal, self.lock = secrets.token_hex(8), 0, [], threading.Lock()
        self.thumb = [encoded(shape(i, i, 96)) for i in range(10)]
        self.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def start(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, body, kind="application/json", status=200):
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("X-Content-Type-Options", "nosniff")
                self.send_header("Cache-Control", "private, max-age=600" if kind == "image/jpeg" else "no-store")
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                path = self.path.removeprefix(f"/{outer.token}/")
                if path == self.path:
                    self.answer(b"No such page.", "text/plain", 404)
                elif path == "":
                    self.answer(outer.page, "text/html; charset=utf-8")
                elif path == "data.json":
                    self.answer(outer.data)
                elif path.startswith("decisions?after="):
                    with outer.lock:
                        self.answer({"seq": len(outer.journal), "decisions": outer.journal[int(path.split("=")[1]):]})
                elif path.startswith(("thumb/", "image/")):
                    sample = (int(path.split("/")[1]) - 3) // 7
                    likely = outer.data["samples"]["likely"][sample]
                    self.answer(outer.thumb[likely[0] % 10], "image/jpeg")
                else:
                    self.answer(b"No such page.", "text/plain", 404)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path != f"/{outer.token}/decisions" or self.headers["Content-Type"] != "application/json":
                    return self.answer(b"Not like this.", "text/plain", 400)
                with outer.lock:
                    outer.journal += json.loads(body)["decisions"]
                    self.answer({"seq": len(outer.journal)})

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler, bind_and_activate=False)
        self.http.daemon_threads = True
        self.http.allow_reuse_address = True
        self.http.server_bind()
        self.http.server_activate()
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def decided(self):
        with self.lock:
            last = {decision["id"]: decision for decision in self.journal}
        return {id: d.get("label", -1) for id, d in last.items() if d["decision"] != "clear"}


def encoded(picture):
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=88)
    return out.getvalue()


# The browser ------------------------------------------------------------------------------------------------------

class Browser:
    def __init__(self, downloads, width=1280, height=800):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb",
                     "--disable-background-networking", "--no-first-run", "--disable-extensions", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads), "download.prompt_for_download": False})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.downloads = downloads
        self.size(width, height)

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, name):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, address):
        # A new document also where only the part behind # differs.
        self.driver.get("about:blank")
        self.driver.get(address)
        self.ready()

    def reload(self):
        self.driver.refresh()
        self.ready()

    def ready(self):
        self.until(lambda: self.js("return document.body && document.body.classList.contains('ready')"), "the page is there")

    def js(self, code, *values):
        return self.driver.execute_script(code, *values)

    def until(self, condition, what, seconds=8):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.03)
        raise AssertionError(f"waited {seconds} s in vain until {what}")

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver, duration=0).send_keys(key).perform()

    def chord(self, held, *keys):
        ActionChains(self.driver, duration=0).key_down(held).send_keys(*keys).key_up(held).perform()

    def click(self, selector):
        self.one(selector).click()

    def click_tile(self, position, key=None):
        chain = ActionChains(self.driver, duration=0)
        if key:
            chain.key_down(key)
        chain.move_to_element_with_offset(self.one(f"#tile-{position} .caption"), 0, 0).click()
        if key:
            chain.key_up(key)
        chain.perform()

    def state(self, position):
        kinds = self.one(f"#tile-{position}").get_attribute("class").split()
        return next(kind for kind in kinds if kind in ("undecided", "kept", "changed", "none"))

    def cursor(self):
        return int(self.one("#grid").get_attribute("aria-activedescendant").removeprefix("tile-"))

    def selected(self):
        return len(self.all(".tile.selected"))

    def saved_csv(self):
        for old in self.downloads.glob("*"):
            old.unlink()
        self.click("#save")
        self.until(lambda: list(self.downloads.glob("decisions*.csv")), "decisions.csv is saved")
        if self.all("dialog[open]"):
            self.press(Keys.ESCAPE)
        return next(self.downloads.glob("decisions*.csv")).read_bytes()


# What the page must do, written a second time ---------------------------------------------------------------------

def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def expected_yield(data, choices, looks):
    """The recalibration and the yield, as audit/recalibrate.h has them. `choices`: class or -1 by position."""
    right = data["samples"]["right"]
    wrong = [min(max(1 - r, 1e-6), 1 - 1e-6) for r in right]
    odds = [math.log(p / (1 - p)) for p in wrong]
    found = {i: int(c != data["samples"]["given"][i]) for i, c in choices.items()}
    low, high, precision = -10.0, 10.0, 1 / data["spread"] ** 2
    for _ in range(60):
        a = (low + high) / 2
        if sum(w - sigmoid(a + odds[i]) for i, w in found.items()) - a * precision > 0:
            low = a
        else:
            high = a
    a = (low + high) / 2
    s = 1 / math.sqrt(precision + sum(sigmoid(a + odds[i]) * (1 - sigmoid(a + odds[i])) for i in found))
    p = [sigmoid(a + odds[i]) for i in range(data["listed"]) if i not in found][:looks]
    spread = sum(x * (1 - x) for x in p)
    deviation = math.sqrt(spread + (s * spread) ** 2)
    return {"shift": a, "expected": sum(p), "low": max(0, sum(p) - 1.96 * deviation), "high": min(len(p), sum(p) + 1.96 * deviation),
            "found": sum(found.values()), "believed": sum(wrong[i] for i in found)}


def expected_csv(data, choices):
    def field(text):
        text = str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if text[:1] in tuple("'=+-@\t\r"):
            text = "'" + text
        return '"' + text.replace('"', '""') + '"' if set(text) & set('",\r\n') else text
    columns, lines = data["samples"], ["index,part,path,decision,label"]
    for i in sorted(choices):
        label = data["classes"][choices[i]] if choices[i] >= 0 else ""
        lines.append(",".join(field(x) for x in (columns["index"][i], data["parts"][columns["part"][i]], columns["name"][i],
                                                 "label" if choices[i] >= 0 else "none", label)))
    return ("\n".join(lines) + "\n").encode()


def suggestion(data, i):
    return next(c for c in data["samples"]["likely"][i][::2] if c != data["samples"]["given"][i])
