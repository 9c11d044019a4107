#!/usr/bin/python3
"""Uses the review page as a person does, in Debian's chromium: from disk and served.

    apt-get install -y --no-install-recommends chromium chromium-driver python3-selenium python3-pil
    tests/audit/page_check.py                             # the checks
    tests/audit/page_check.py --pictures shots            # screenshots of all tabs: light, dark, phone
    tests/audit/page_check.py --pictures shots --photos train-folder   # the same with photos, train-folder/CLASS/*.jpg
    tests/audit/page_check.py --measure                   # the longest frame while 100,000 labels scroll past

The data, the server and the browser are those of page_world.py.
"""
import argparse
import csv
import io
import pathlib
import re
import sys
import tempfile
import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from page_looks import measure, take_pictures
from page_world import assemble, Browser, expected_csv, expected_yield, FakeServer, HOSTILE, hostile_name, make_data, suggestion


# The checks -------------------------------------------------------------------------------------------------------

CHECKS = []


def check(sentence):
    def remember(function):
        CHECKS.append((sentence, function))
        return function
    return remember


def same(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: expected {str(wanted)[:300]!r}, found {str(found)[:300]!r}")


class World:
    """What the checks share: a browser, ordinary and hostile data, and files of both."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "downloads").mkdir()
        self.browser = Browser(folder / "downloads")
        self.data = make_data()
        self.file = self.write("report.html", self.data)
        self.choices = {}

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(assemble(data))
        return path.as_uri()


@check("The file opens from disk, shows the worst first, and has only what is seen in the document")
def _(w):
    w.browser.open(w.file)
    same(w.browser.cursor(), 0, "the current tile")
    tiles = len(w.browser.all(".tile:not([hidden])"))
    if not 10 < tiles < 120:
        raise AssertionError(f"{tiles} tiles are in the document")
    same(w.browser.text("#tile-0 .given"), w.data["classes"][w.data["samples"]["given"][0]], "the first given label")
    w.browser.until(lambda: w.browser.js("""const c = document.querySelector('#tile-0 canvas');
        return c && c.getContext('2d').getImageData(4, 4, 1, 1).data[3] === 255"""), "the first picture is drawn")


@check("One key decides, and the next undecided tile becomes the current one")
def _(w):
    w.browser.press("a", "k", "n")
    same([w.browser.state(i) for i in range(4)], ["changed", "kept", "none", "undecided"], "states")
    same(w.browser.cursor(), 3, "the current tile")
    w.browser.press("2")
    second = w.data["samples"]["likely"][3][2]
    w.choices = {0: suggestion(w.data, 0), 1: w.data["samples"]["given"][1], 2: -1, 3: second}
    same(w.browser.cursor(), 4, "the current tile after 2")


@check("Undo takes back one after the other, and they can be done again")
def _(w):
    w.browser.press("u", "u")
    same([w.browser.state(i) for i in range(4)], ["changed", "kept", "undecided", "undecided"], "states after two undos")
    w.browser.chord(Keys.SHIFT, "u", "u")
    same(w.browser.state(2), "none", "the state after it was done again")


@check("Suggestions are accepted by a click on the tile and by one in the details")
def _(w):
    ActionChains(w.browser.driver, duration=0).move_to_element(w.browser.one("#tile-6 .shot")).perform()
    w.browser.click("#tile-6 [data-do=accept]")
    same(w.browser.state(6), "changed", "the state of the tile whose button was clicked")
    w.browser.click_tile(8)
    w.browser.click("#detail [data-focus=accept]")
    same(w.browser.state(8), "changed", "the state of the tile that was decided in the details")
    w.browser.press(Keys.BACKSPACE)
    w.choices |= {6: suggestion(w.data, 6), 8: suggestion(w.data, 8)}


@check("Arrows move by tiles and rows, Shift with arrows selects, Space picks, Escape selects nothing")
def _(w):
    b = w.browser
    b.press(Keys.HOME, Keys.ARROW_DOWN)
    columns = b.cursor()
    if columns < 2:
        raise AssertionError(f"{columns} columns")
    b.press(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    same(b.cursor(), 1, "the current tile")
    b.chord(Keys.SHIFT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    same(b.selected(), 3, "selected tiles")
    b.press(Keys.ESCAPE, " ", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, " ")
    same(b.selected(), 2, "picked tiles")
    b.press(Keys.ESCAPE)
    same(b.selected(), 0, "selected tiles after Escape")


@check("Shift-click selects a range, Ctrl-click one more, and a key decides about all of them in one step")
def _(w):
    b = w.browser
    b.click_tile(10)
    b.click_tile(13, Keys.SHIFT)
    b.click_tile(15, Keys.CONTROL)
    same(b.selected(), 5, "selected tiles")
    b.press("k")
    same({b.state(i) for i in (10, 11, 12, 13, 15)}, {"kept"}, "states")
    same(b.state(14), "undecided", "the state of the one between")
    b.press("u")
    same({b.state(i) for i in (10, 11, 12, 13, 15)}, {"undecided"}, "states after one undo")


@check("Dragging selects what the rectangle touches")
def _(w):
    b = w.browser
    b.press(Keys.HOME)
    chain = ActionChains(b.driver, duration=50)
    first, last = b.one("#tile-0 .caption"), b.one("#tile-6 .shot")
    chain.move_to_element(first).click_and_hold().move_to_element(last).release().perform()
    inside = b.js("""const box = (selector) => document.querySelector(selector).getBoundingClientRect();
        const a = box('#tile-0 .caption'), z = box('#tile-6 .shot');
        const x = [(a.left + a.right) / 2, (z.left + z.right) / 2].sort((p, q) => p - q);
        const y = [(a.top + a.bottom) / 2, (z.top + z.bottom) / 2].sort((p, q) => p - q);
        return [...document.querySelectorAll('.tile:not([hidden])')].filter((tile) => { const r = tile.getBoundingClientRect();
          return r.left < x[1] && r.right > x[0] && r.top < y[1] && r.bottom > y[0]; }).length""")
    same(b.selected(), inside, "selected tiles")
    b.press(Keys.ESCAPE)


@check("Recalibration and yield are those of an independent implementation")
def _(w):
    time.sleep(0.1)
    found = w.browser.js("return {...document.getElementById('yield').dataset}")
    for name, value in expected_yield(w.data, w.choices, 400).items():
        if abs(float(found[name]) - value) > 1e-9:
            raise AssertionError(f"{name} is {found[name]}, expected {value}")


@check("The classes that a label may be of have probabilities that agree with that of being wrong, after every decision")
def _(w):
    b = w.browser
    percent = lambda text: 0 if text.startswith("<") else int(text.split()[0])
    for _ in range(2):
        b.press(Keys.ARROW_RIGHT)
        sample = b.cursor()
        if b.state(sample) != "undecided":
            continue
        b.until(lambda: "wrong" in b.text("#detail .chance-line"), "the probability is shown")
        wrong = int(re.search(r"wrong: (\d+)", b.text("#detail .chance-line"))[1])
        shares = [percent(share) for share in b.js("return [...document.querySelectorAll('#detail .likely .share')].map((share) => share.textContent)")]
        given = w.data["samples"]["likely"][sample][::2].index(w.data["samples"]["given"][sample])
        if abs(100 - wrong - shares[given]) > 1:
            raise AssertionError(f"wrong with {wrong} %, and the given label is right with {shares[given]} %")


@check("The saved CSV has the decisions, byte for byte, and nothing is unsaved after it")
def _(w):
    warns = "const e = new Event('beforeunload', {cancelable: true}); dispatchEvent(e); return e.defaultPrevented"
    same(w.browser.js(warns), True, "the warning before it")
    w.csv = w.browser.saved_csv()
    same(w.csv, expected_csv(w.data, w.choices), "decisions.csv")
    same(w.browser.js(warns), False, "the warning after it")


@check("A reload keeps the decisions")
def _(w):
    w.browser.reload()
    last = "kept" if w.choices[3] == w.data["samples"]["given"][3] else "changed"
    same([w.browser.state(i) for i in range(4)], ["changed", "kept", "none", last], "states")


@check("Filters by class, state, score and name show what fits, stand in the address and survive a reload")
def _(w):
    b, columns = w.browser, w.data["samples"]
    b.open(w.file + "#given=3&from=50")
    fits = [i for i in range(w.data["listed"]) if columns["given"][i] == 3]
    shown = int(b.text("#counted").split()[0])
    if not 0 < shown < len(fits):
        raise AssertionError(f"{shown} of {len(fits)} are shown")
    b.open(w.file + "#given=3")
    same(b.text("#counted").split()[0], str(len(fits)), "the number of shown labels")
    b.click("[data-state=undecided]")
    b.one("#search").send_keys("00")
    wanted = [i for i in fits if i not in w.choices and "00" in columns["name"][i].removeprefix("train")]
    b.until(lambda: b.text("#counted").split()[0] == str(len(wanted)), f"{len(wanted)} are shown")
    b.until(lambda: "name=00" in b.driver.current_url, "the name is in the address")
    address = b.driver.current_url
    for part in ("given=3", "state=undecided", "name=00"):
        same(part in address, True, f"{part} in {address}")
    b.reload()
    same(b.text("#counted").split()[0], str(len(wanted)), "the number after the reload")


@check("A click on the matrix filters to the pair, and the browser's back button takes it back")
def _(w):
    b = w.browser
    b.open(w.file)
    titles = b.js("return [...document.querySelectorAll('.heatmap.small td[data-row]')].map((cell) => cell.title)")
    counts = [int((re.search(r": (\d+)", title) or [0, 0])[1]) for title in titles]
    count = max(counts)
    b.all(".heatmap.small td[data-row]")[counts.index(count)].click()
    same(int(b.text("#counted").split()[0]), count, "the number of shown labels")
    b.driver.back()
    b.until(lambda: b.text("#counted").split()[0] == "300", "all are shown again")


@check("Decided tiles stay where they are under a filter of undecided ones, until they are hidden")
def _(w):
    b = w.browser
    b.open(w.file + "#state=undecided")
    count = int(b.text("#counted").split()[0])
    b.press("a", "a")
    same([b.state(0), b.state(1), int(b.text("#counted").split()[0])], ["changed", "changed", count], "the first tiles, and how many are shown")
    b.js("[...document.querySelectorAll('#bar button')].find((x) => x.textContent.startsWith('Hide 2')).click()")
    same(int(b.text("#counted").split()[0]), count - 2, "how many are shown after that")
    b.press("u", "u")


@check("Another class is found by typing, and Enter gives it")
def _(w):
    b = w.browser
    b.open(w.file)
    position = b.cursor()
    b.press("o", "s", "n", "e")
    same(b.state(position), "undecided", "the state while somebody types")
    b.press(Keys.ENTER)
    same(b.text(f"#tile-{position} .becomes"), "→ sneaker", "the class")
    b.press("u")


@check("Accept all shown asks, says how many, and one undo takes it back")
def _(w):
    b = w.browser
    b.open(w.file + "#from=20")
    count = int(b.text("#counted").split()[0])
    open_count = int(re.search(r"\d+", b.text("#accept-all"))[0])
    b.click("#accept-all")
    same(str(open_count) in b.text("dialog"), True, "the number in the question")
    same(b.js("return document.activeElement.textContent"), "Cancel", "the focus")
    b.press("a", "n")
    b.press(Keys.ESCAPE)
    same(b.text("#accept-all"), f"Accept all {open_count}", "the button after Cancel")
    b.click("#accept-all")
    b.click("dialog [data-answer=all]")
    b.until(lambda: f"{count} decided" in b.text("#counted"), "all are decided")
    b.press("u")
    same(b.text("#accept-all"), f"Accept all {open_count}", "the button after undo")


@check("A CSV is loaded back into a page that knows nothing, a decision about an unknown label is saved again")
def _(w):
    b = w.browser
    b.js("localStorage.clear()")
    b.open(w.file)
    same(b.state(0), "undecided", "the state before loading")
    path = w.folder / "back.csv"
    path.write_bytes(w.csv + b"999999,train,elsewhere.jpg,none,\n")
    b.one("#file").send_keys(str(path))
    b.until(lambda: b.state(0) == "changed", "the decisions are loaded")
    same(b.saved_csv(), w.csv + b"999999,train,elsewhere.jpg,none,\n", "the CSV that is saved again")


@check("A decision that was made before is cleared by a row of the CSV")
def _(w):
    b, data = w.browser, make_data(count=30, key="earlier", partners=0)
    ids = data["samples"]["id"]
    data["decisions"] = [{"id": ids[0], "decision": "none"}, {"id": ids[1], "decision": "label", "label": 2}]
    b.open(w.write("earlier.html", data))
    same([b.state(0), b.cursor()], ["none", 2], "the state and the current tile")
    b.press(Keys.HOME, Keys.BACKSPACE)
    text = b.saved_csv().decode().splitlines()
    same([text[1].split(",")[3:], text[2].split(",")[3:]], [["clear", ""], ["label", "dress"]], "the rows")


@check("Two windows of one file see each other's decisions")
def _(w):
    b = w.browser
    b.open(w.file)
    first = b.driver.current_window_handle
    same(b.state(9), "undecided", "the state before")
    b.driver.switch_to.new_window("tab")
    b.open(w.file)
    b.click_tile(9)
    b.press("n")
    b.driver.close()
    b.driver.switch_to.window(first)
    b.until(lambda: b.state(9) == "none", "the first window sees it")


@check("A file that is no CSV of decisions is refused in a sentence")
def _(w):
    path = w.folder / "other.csv"
    path.write_text("a,b\n1,2\n")
    w.browser.one("#file").send_keys(str(path))
    w.browser.until(lambda: "no CSV of decisions" in w.browser.text("#alarm"), "the page says so")


@check("All tabs open, and duplicates with differing labels stand first and are made alike by one click")
def _(w):
    b = w.browser
    for tab, selector in (("none", ".tile"), ("duplicates", ".group-head"), ("classes", ".health tbody tr"), ("run", ".facts dd")):
        b.click(f"#tab-{tab}")
        b.until(lambda: b.all(selector), f"the tab {tab} shows {selector}")
    same("regroup train --config runs/photos-rml-1/config.toml --labels runs/photos-rml-1/audit/corrected.csv --trusted "
         "runs/photos-rml-1/audit/trusted.csv --noise none" in b.text("#run"), True, "the command")
    b.until(lambda: b.js("return document.querySelector('.charts img').naturalWidth > 0"), "the chart is shown")
    b.click("#tab-duplicates")
    same("labels" in b.text(".group-head.differ"), True, "the head of the first group")
    b.click(".group-head.differ button")
    same(b.selected() == 0 and {b.state(0), b.state(1)} == {"kept", "changed"}, True, "both are decided")
    b.press("u")


@check("Findings in a folder of their own are named in the commands")
def _(w):
    data = make_data(count=20, key="apart", partners=0)
    data["findings"] = "elsewhere"
    w.browser.open(w.write("apart.html", data) + "#tab=run")
    said = w.browser.text("#run")
    for words in ("--labels elsewhere/corrected.csv --trusted elsewhere/trusted.csv", "--overwrite --out elsewhere", "regroup review runs/photos-rml-1 --findings elsewhere"):
        same(words in said, True, f"'{words}' on the page")


@check("Hostile names do not run, do not deceive, and are saved as they are")
def _(w):
    b = w.browser
    data = make_data(count=60, classes=HOSTILE, key="hostile", names=hostile_name)
    data["title"] = data["run"] = HOSTILE[1]
    # A label and a path that a spreadsheet would take for formulas are among those that are decided.
    data["samples"]["given"][1], data["samples"]["name"][2] = 3, "@SUM(1+1)*cmd|'/C calc'!A0"
    data["facts"] += [[name, name] for name in HOSTILE]
    data["samples"]["text"] = [HOSTILE[i % len(HOSTILE)] if i % 3 == 0 else "" for i in range(len(data["samples"]["id"]))]
    w.hostile, w.hostile_file = data, w.write("hostile.html", data)
    b.open(w.hostile_file)
    b.js("window.alert = () => { window.harmed = true; }")
    b.press("a", "k", "n", "a")
    harm = """return [...document.querySelectorAll('img')].some((image) => image.getAttribute('src') === 'x')
        || document.scripts.length !== 1 || !!window.harmed"""
    for tab in ("none", "duplicates", "classes", "run", "wrong"):
        b.click(f"#tab-{tab}")
        same(b.js(harm), False, f"harm in the tab {tab}")
    same("\u202e" in b.js("return document.body.textContent"), False, "a character that reverses what follows")
    choices = {0: suggestion(data, 0), 1: data["samples"]["given"][1], 2: -1, 3: suggestion(data, 3)}
    text = b.saved_csv()
    same(text, expected_csv(data, choices), "the CSV")
    (w.folder / "hostile.csv").write_bytes(text)
    b.js("localStorage.clear()")
    b.open(w.hostile_file)
    b.one("#file").send_keys(str(w.folder / "hostile.csv"))
    b.until(lambda: b.state(0) == "changed", "the CSV is loaded")
    same(b.saved_csv(), text, "the CSV after it was loaded")
    same(len(list(csv.reader(io.StringIO(text.decode(), newline="")))), 5, "its rows, as Python reads them")


@check("No tab is wider than a phone, with ordinary and with hostile names")
def _(w):
    b = w.browser
    b.size(375, 667)
    width = """const parts = [document.documentElement, document.body,
        ...document.querySelectorAll('main > :not([hidden]), .bar, .top')];
        return Math.max(...parts.map((part) => part.scrollWidth))"""
    for file in (w.file, w.hostile_file):
        for tab in ("wrong", "none", "duplicates", "classes", "run"):
            b.open(f"{file}#tab={tab}")
            wide = b.js(width)
            if wide > 375:
                raise AssertionError(f"the tab {tab} is {wide} pixels wide")
    b.open(w.file)
    b.click_tile(1)
    same(b.one("#detail [data-focus=keep]").is_displayed(), True, "the button in the details")
    b.open(f"{w.file}#tab=run")
    clipped = b.js("return [...document.querySelectorAll('.command code')].filter((code) => code.scrollHeight > code.clientHeight + 1).length")
    same(clipped, 0, "commands that are not shown whole")
    b.size(1100, 700)
    b.open(w.file)
    room = "return [...document.querySelectorAll('.range input')].every((field) => field.scrollWidth <= field.clientWidth)"
    same(b.js(room), True, "whether the bounds of the probability are readable on a laptop")
    b.size(1280, 800)


@check("A finger that is held selects, further taps add, and a tap alone opens the details")
def _(w):
    b = w.browser
    b.command("Emulation.setTouchEmulationEnabled", enabled=True)
    b.size(375, 667)
    b.open(w.file)

    def tap(position, seconds=0.05):
        x, y = b.js("const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.x + 40, r.y + 40]", f"#tile-{position}")
        b.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        time.sleep(seconds)
        b.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    tap(0, 0.6)
    b.until(lambda: b.selected() == 1, "one is selected")
    tap(1)
    b.until(lambda: b.selected() == 2, "two are selected")
    b.js("document.querySelector('.chosen button:last-child').click()")
    tap(1)
    b.until(lambda: b.one("#detail").is_displayed(), "the details are open")
    b.command("Emulation.setTouchEmulationEnabled", enabled=False)
    b.size(1280, 800)


@check("Nothing to review, two classes, 1000 classes, texts and no pictures each have a page that says what there is")
def _(w):
    b = w.browser
    empty = make_data(count=0, key="empty", partners=0)
    b.open(w.write("empty.html", empty))
    same("no label for review" in b.text("#empty"), True, "the sentence without suspects")
    b.click("#tab-duplicates")
    same("twice" in b.text("#empty"), True, "the sentence without duplicates")
    b.open(w.write("two.html", make_data(count=20, classes=["cat", "dog"], key="two", pictures=False)))
    same("no picture" in b.text("#tile-0"), True, "a tile without a picture")
    b.press("1", "2")
    b.open(w.write("many.html", make_data(count=200, classes=[f"class {i}" for i in range(1000)], key="many", pictures=False, text=True)))
    same("I have not received" in b.text("#tile-0"), True, "a tile with a text")
    b.click("#tab-classes")
    b.until(lambda: b.all(".pairs li"), "the worst pairs are listed")


@check("Served, decisions arrive as they are made, and are there after a reload")
def _(w):
    w.server = FakeServer(w.data)
    b = w.browser
    b.open(w.server.address)
    b.until(lambda: b.js("return document.querySelector('#tile-0 img')?.naturalWidth > 0"), "the first picture is loaded")
    b.press("a", "k", "n")
    ids, given = w.data["samples"]["id"], w.data["samples"]["given"]
    w.wanted = {ids[0]: suggestion(w.data, 0), ids[1]: given[1], ids[2]: -1}
    b.until(lambda: w.server.decided() == w.wanted, "the server has them")
    b.until(lambda: b.text("#saved") == "saved", "the page says saved")
    b.reload()
    same([b.state(i) for i in range(4)], ["changed", "kept", "none", "undecided"], "states")


@check("While the server is away decisions are kept, also over closing, and sent when it is back")
def _(w):
    b = w.browser
    w.server.stop()
    b.press("a", "a")
    b.until(lambda: "The server does not answer; 2 decisions are kept here and sent when it is back" in b.text("#away"), "the page says so")
    b.driver.switch_to.new_window("tab")
    other = b.driver.current_window_handle
    b.driver.switch_to.window(b.driver.window_handles[0])
    b.driver.close()
    b.driver.switch_to.window(other)
    w.server.start()
    b.open(w.server.address)
    w.wanted |= {w.data["samples"]["id"][i]: suggestion(w.data, i) for i in (3, 4)}
    b.until(lambda: w.server.decided() == w.wanted, "the server has them")
    w.server.stop()
    b.press("a")
    b.until(lambda: "1 decision is kept" in b.text("#away"), "the page says so")
    w.server.start()
    w.wanted |= {w.data["samples"]["id"][5]: suggestion(w.data, 5)}
    b.until(lambda: w.server.decided() == w.wanted, "the server has it without a reload")
    b.until(lambda: b.text("#saved") == "saved", "the page says saved")


@check("A second window sees the decisions of the first, and undo in it leaves them alone")
def _(w):
    b = w.browser
    first = b.driver.current_window_handle
    b.driver.switch_to.new_window("window")
    b.size(1280, 800)
    b.open(w.server.address)
    same(b.state(0), "changed", "an earlier decision")
    second = b.driver.current_window_handle
    b.press("k")
    b.driver.switch_to.window(first)
    b.until(lambda: b.state(6) == "kept", "the first window sees it", 5)
    b.press("u")
    same(b.state(6), "kept", "the decision of the other window")
    b.driver.switch_to.window(second)
    b.driver.close()
    b.driver.switch_to.window(first)
    w.server.stop()


@check("Nothing was reported to the browser's console")
def _(w):
    bad = [entry["message"] for entry in w.browser.driver.get_log("browser")
           if entry["level"] == "SEVERE" and not re.search("ERR_CONNECTION|Blocked attempt to show", entry["message"])]
    same(bad, [], "messages")


def run_checks():
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        world = World(pathlib.Path(folder))
        try:
            for sentence, function in CHECKS:
                start = time.monotonic()
                try:
                    function(world)
                except Exception as problem:  # noqa: BLE001 - whatever it is, it is told with the sentence that does not hold
                    print(f"FAILED: {sentence}: {str(problem).splitlines()[0] if str(problem) else repr(problem)}")
                    log = world.browser.driver.get_log("browser")
                    for entry in log[-5:]:
                        print(f"  console: {entry['message']}")
                    return 1
                print(f"ok: {sentence} ({time.monotonic() - start:.1f} s)", flush=True)
        finally:
            world.browser.driver.quit()
    print(f"{len(CHECKS)} checks in {time.monotonic() - begin:.0f} s")
    return 0


def main():
    parser = argparse.ArgumentParser(description="Uses the review page as a person does, in a real browser.")
    parser.add_argument("--pictures", type=pathlib.Path, metavar="DIR", help="save screenshots instead")
    parser.add_argument("--photos", type=pathlib.Path, metavar="DIR", help="photos for the screenshots, DIR/CLASS/*.jpg")
    parser.add_argument("--measure", action="store_true", help="print the longest frame while 100,000 labels scroll past")
    arguments = parser.parse_args()
    if arguments.pictures:
        return take_pictures(arguments.pictures, arguments.photos)
    return measure() if arguments.measure else run_checks()


if __name__ == "__main__":
    sys.exit(main())
