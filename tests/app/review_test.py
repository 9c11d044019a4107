#!/usr/bin/python3
"""review_test.py PROGRAM MAKE_DATA: somebody trains on photos, audits the run, and puts labels right in a browser.

The page by itself is tested by tests/audit/page_check.py; here it is the program that makes and serves it.
"""
import csv
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

PROGRAM, MAKE_DATA = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
WORK = pathlib.Path(tempfile.mkdtemp())
RUN = WORK / "runs/hostile <b>&amp;'quoted'"


def check(holds, sentence):
    if not holds:
        raise SystemExit(f"FAILED: {sentence}")


def regroup(*arguments, status=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=WORK, capture_output=True, text=True, errors="replace", timeout=240)
    check(done.returncode == status, f"regroup {' '.join(map(str, arguments))}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def rows(file):
    with open(file, newline="", encoding="utf-8", errors="surrogateescape") as text:
        return list(csv.DictReader(text))


class Server:
    """regroup review, as a person starts it."""

    def __init__(self, *flags):
        self.process = subprocess.Popen([PROGRAM, "review", str(RUN), *flags], cwd=WORK, stdout=subprocess.PIPE, text=True)
        self.address = None
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)(/\w+/)", line):
                self.address, self.port, self.path = found[0], int(found[1]), found[2]
                break
        check(self.address, "regroup review shows no address")

    def ask(self, method, target, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        own = {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json"} if body is not None else {}
        connection.request(method, target, body, {**own, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def decide(self, **decision):
        status, body = self.ask("POST", self.path + "decisions", json.dumps({"decisions": [decision]}))
        check(status == 200, f"a decision is answered by {status} {body}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        said = self.process.stdout.read()
        check(self.process.wait(timeout=20) == 0, "regroup review does not end well by Ctrl-C")
        return said


def browser():
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,800", "--disable-background-networking"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def has_tiles(driver):
    return WebDriverWait(driver, 20).until(lambda d: d.find_elements(By.CSS_SELECTOR, "[data-sample]"))


def press(driver, key):
    driver.switch_to.active_element.send_keys(key)


def complaints(driver):
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def main():
    subprocess.run([MAKE_DATA, "photos", WORK / "photos", "12"], check=True)
    hostile = WORK / "photos/<img src=x onerror=alert(1)>"
    shutil.move(WORK / "photos/hat", hostile)
    # A file in a wrong folder, under a name that a spreadsheet would run.
    (WORK / "photos/dress/photo 0.JPG").rename(WORK / "photos/shoes/=cmd.JPG")
    regroup("train", "--data", "folder:photos", "--recipe", "fast", "--epochs", "2", "--image-size", "32", "--output", RUN, "-q")
    said = regroup("review", RUN, status=2)
    check("no findings to review; make them by: regroup audit" in said, f"a review without an audit says: {said}")
    said = regroup("audit", RUN)
    check("report.html" in said and "regroup review" in said, f"the audit does not say how to look at its pictures: {said}")
    findings = RUN / "audit"
    check((findings / "report.html").stat().st_size < 20_000_000, "report.html is larger than 20 MB")

    driver = browser()
    try:
        driver.get((findings / "report.html").as_uri())
        has_tiles(driver)
        check(not complaints(driver), f"report.html: {complaints(driver)}")

        server = Server()
        status, _ = server.ask("GET", "/")
        check(status == 403, f"without the secret of the address the answer is {status}")
        status, _ = server.ask("GET", server.path, Host="example.org")
        check(status == 403, f"under a foreign name the answer is {status}")
        data = json.loads(server.ask("GET", server.path + "data.json")[1])
        first = data["samples"]["id"][0]
        status, picture = server.ask("GET", f"{server.path}thumb/{first}")
        check(status == 200 and picture[:2] == b"\xff\xd8", f"a thumbnail is answered by {status}")
        for target in ("../config.toml", "%2e%2e/config.toml", "thumb/../../config.toml", "image/-1", "thumb/999999"):
            status, _ = server.ask("GET", server.path + target)
            check(status in (400, 404), f"{target} is answered by {status}")

        driver.get(server.address)
        has_tiles(driver)
        press(driver, "a")
        WebDriverWait(driver, 20).until(lambda d: len(rows(findings / "decisions.csv")) == 1)
        decided = rows(findings / "decisions.csv")[0]
        check(decided["decision"] == "label", f"the key A decides {decided}")
        check(not complaints(driver), f"the served page: {complaints(driver)}")

        # Somebody else confirms the last label of all; then the program is killed.
        confirmed = data["samples"]["id"][data["listed"] - 1]
        given = data["samples"]["given"][data["listed"] - 1]
        server.decide(id=confirmed, decision="label", label=given)
        address = server.address
        server.kill()
        server = Server()
        check(server.address == address, "a window that is open does not find the program when it is started again")
        check((findings / "review-address").stat().st_mode & 0o077 == 0, "others may read the secret of the address")
        driver.get(server.address)
        has_tiles(driver)
        check(len(rows(findings / "decisions.csv")) == 2, "a kill has lost a decision")
        for again in (("review", RUN), ("audit", RUN, "--overwrite")):
            said = regroup(*again, status=2)
            check("another program" in said, f"regroup {again[0]} beside it says: {said}")
        none = data["samples"]["id"][1]
        server.decide(id=none, decision="none")
        said = server.end()
        check("3 labels are decided" in said, f"at its end it says: {said}")
    finally:
        driver.quit()

    said = regroup("review", RUN, "--images", WORK / "gone", status=2)
    check("say by --images where they are now" in said, f"where all images are gone it says: {said}")

    # What was decided is in the lists, also after another audit.
    corrected = {row["index"]: row for row in rows(findings / "corrected.csv")}
    trusted = {row["index"] for row in rows(findings / "trusted.csv")}
    names = data["classes"]
    if decided["part"] in ("train", "val"):
        check(names[int(corrected[decided["index"]]["label"])] == decided["label"], "corrected.csv does not follow a decision")
        check(decided["index"] in trusted, "a label that somebody gave is not trusted")
    journal = (findings / "decisions.csv").read_bytes()
    for again in range(2):
        said = regroup("audit", RUN, "--overwrite", "--decisions", findings / "decisions.csv")
        check("3 decisions of people are taken into account" in said, f"an audit with decisions says: {said}")
        check((findings / "decisions.csv").read_bytes() == journal, "decisions that are known were added again")
    by_place = {(row["part"], row["index"]): row for row in rows(findings / "issues.csv")}
    for place in rows(findings / "decisions.csv"):
        row = by_place[(place["part"], place["index"])]
        is_issue = place["decision"] == "none" or place["label"] != row["given_label"]
        check(row["is_label_issue"] == str(is_issue), f"what was decided is not in issues.csv: {place} {row}")
    check(all(not field.startswith(("=", "+", "-", "@")) for row in by_place.values() for field in row.values()), "a field of issues.csv is a formula")
    regroup("train", "--config", RUN / "config.toml", "--labels", findings / "corrected.csv", "--trusted", findings / "trusted.csv",
            "--noise", "none", "--epochs", "1", "--output", WORK / "again", "-q")
    said = regroup("audit", RUN, "--overwrite", "--decisions", RUN / "labels.csv", status=2)
    check(said.startswith("regroup: ") and "labels.csv: line 1: no column 'part'" in said, f"a file of something else is refused so: {said}")


try:
    main()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
