"""Screenshots of the review page in all its looks, and how fluent it is; page_check.py calls them."""
import pathlib
import sys
import tempfile
import time

from selenium.webdriver.common.keys import Keys

from page_world import assemble, Browser, CLASSES, FakeServer, HOSTILE, hostile_name, make_data

LOOKS = {"light": (1440, 900, "light"), "dark": (1440, 900, "dark"), "laptop": (1100, 700, "light"),
         "phone": (375, 740, "dark")}


def take_pictures(target, photos):
    target.mkdir(parents=True, exist_ok=True)
    files, classes = None, CLASSES
    if photos:
        classes = sorted(path.name for path in photos.iterdir() if path.is_dir())
        files = [sorted((photos / name).glob("*.jpg")) for name in classes]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "downloads").mkdir()
        browser = Browser(folder / "downloads", 1440, 900)
        pages = {"large": make_data(count=600, classes=classes, key="large", photos=files, side=96),
                 "small": make_data(count=600, classes=classes, key="small", photos=files, side=32),
                 "texts": make_data(count=200, classes=[f"class {i}" for i in range(77)], key="texts", pictures=False, text=True),
                 "hostile": make_data(count=60, classes=HOSTILE, key="hostile", names=hostile_name)}
        try:
            for name, data in pages.items():
                path = folder / f"{name}.html"
                path.write_bytes(assemble(data))
                for look, (width, height, theme) in LOOKS.items():
                    if look == "laptop" and name != "large":
                        continue
                    browser.size(width, height)
                    browser.theme(theme)
                    browser.open(path.as_uri())
                    browser.press("a", "a", "k", "a", "n", "a", "a", "k", "a", "a")
                    for tab in ("wrong", "none", "duplicates", "classes", "run"):
                        if name != "large" and tab in ("none", "run"):
                            continue
                        browser.click(f"#tab-{tab}")
                        time.sleep(0.25)
                        browser.driver.save_screenshot(str(target / f"{name}-{look}-{tab}.png"))
                    browser.click("#tab-wrong")
                    if look == "phone":
                        browser.press(Keys.HOME)
                        browser.click_tile(1)
                        time.sleep(0.25)
                        browser.driver.save_screenshot(str(target / f"{name}-{look}-details.png"))
                    elif name == "large":
                        browser.press("?")
                        browser.driver.save_screenshot(str(target / f"{name}-{look}-keys.png"))
                        browser.press(Keys.ESCAPE)
                        browser.click("#accept-all")
                        browser.driver.save_screenshot(str(target / f"{name}-{look}-ask.png"))
                        browser.press(Keys.ESCAPE)
                    browser.js("localStorage.clear()")
        finally:
            browser.driver.quit()
    print(f"screenshots are in {target}")
    return 0


def review_quickly(browser, data, count):
    """Somebody who knows at once: accepts where the label is more probably wrong, keeps it elsewhere, and gives each tenth one another class."""
    browser.press(Keys.HOME)
    keys, begin = 0, time.monotonic()
    for position in range(count):
        browser.press("3" if position % 10 == 9 else "a" if data["samples"]["right"][position] < 0.5 else "k")
        keys += 1
    return time.monotonic() - begin, keys


def measure():
    """Scrolls through 100,000 listed labels as a held key and as a dragged scroll bar do; then decides about a hundred."""
    data = make_data(count=100000, key="measure", pictures=False)
    data["samples"]["width"] = data["samples"]["height"] = [96] * len(data["samples"]["id"])
    data["evidence"] = {}
    server = FakeServer(data)
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(pathlib.Path(folder))
        try:
            browser.driver.set_script_timeout(60)
            browser.driver.get(server.address)
            browser.until(lambda: browser.js("return document.body.classList.contains('ready')"), "the page is there", 30)
            time.sleep(1)
            longest, frames = browser.driver.execute_async_script("""
                const done = arguments[0], grid = document.getElementById('grid'), end = grid.scrollHeight - grid.clientHeight;
                const deltas = [];
                let last = performance.now(), frame = 0;
                const step = (now) => {
                  deltas.push(now - last);
                  last = now;
                  ++frame;
                  // Steady at first, in jumps afterwards.
                  grid.scrollTop = frame < 200 ? frame * 60 : end * (((frame * 7919) % 200) / 200);
                  if (frame < 400) requestAnimationFrame(step);
                  else done([Math.max(...deltas.slice(1)), deltas.length]);
                };
                requestAnimationFrame(step);""")
            tiles = len(browser.all(".tile"))
            browser.js("document.getElementById('grid').scrollTop = 0")
            time.sleep(0.5)
            browser.click_tile(0)
            seconds, keys = review_quickly(browser, data, 100)
            browser.until(lambda: len(server.decided()) == 100, "the server has the decisions")
        finally:
            browser.driver.quit()
            server.stop()
    print(f"{frames} frames through {data['listed']} labels, {tiles} tiles in the document", file=sys.stderr)
    print(f"review_longest_frame_ms {longest:.1f}")
    print(f"review_100_decisions keys {keys} seconds {seconds:.1f}")
    return 0
