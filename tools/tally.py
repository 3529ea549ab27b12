#!/usr/bin/env python3
"""Adds up the results of a test run: tally.py FOLDER.

The folder holds what the runners wrote:
  *.json     meson's testlog.json: one C test program a line, with the TAP that cmocka printed
  *.xml      pytest's JUnit XML
  *.result   lines "passed NAME", "failed NAME", "skipped NAME" of checks that are no test programs

Prints what failed and what was skipped, then `N passed, N failed[, N skipped]`. Every test case counts; a
program that fails without saying which case did (a crash, a sanitizer's report, a leak) counts as one
failed case. Exit status 1 if anything failed or nothing passed.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

TAP = re.compile(r"^(not )?ok\b[ \d]*-?[ ]*(.*)$", re.MULTILINE)
MESON_SKIP = 77


def from_meson(path):
    """Cases of the test programs in a testlog.json, as (outcome, name)."""
    for line in path.read_text(errors="replace").splitlines():
        program = json.loads(line)
        label = f"{path.stem} {program['name']}"
        code = program["returncode"]
        if code == MESON_SKIP:
            yield "skipped", label
            continue
        cases = []
        for failed, name in TAP.findall(program.get("stdout") or ""):
            outcome = "skipped" if "# skip" in name.lower() else "failed" if failed else "passed"
            cases.append((outcome, f"{label}: {name}"))
        if code != 0 and not any(outcome == "failed" for outcome, _ in cases):
            cases.append(("failed", f"{label}: {program['result']}, exit status {code}"))
        yield from cases or [("passed", label)]


def from_pytest(path):
    """Cases of a JUnit XML file."""
    for case in ElementTree.parse(path).iter("testcase"):
        label = f"{path.stem} {case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            yield "failed", label
        elif skipped is not None:
            yield "skipped", f"{label}: {skipped.get('message')}"
        else:
            yield "passed", label


def from_result(path):
    for line in path.read_text().splitlines():
        outcome, _, name = line.partition(" ")
        yield outcome, name


def main(folder):
    cases = []
    for pattern, reader in (("*.json", from_meson), ("*.xml", from_pytest), ("*.result", from_result)):
        for path in sorted(pathlib.Path(folder).glob(pattern)):
            try:
                cases.extend(reader(path))
            except (ValueError, KeyError, ElementTree.ParseError) as problem:
                cases.append(("failed", f"{path.name} cannot be read: {problem}"))
    count = {outcome: 0 for outcome in ("passed", "failed", "skipped")}
    for outcome, name in cases:
        count[outcome] += 1
        if outcome != "passed":
            print(f"{outcome}: {name}")
    line = f"{count['passed']} passed, {count['failed']} failed"
    if count["skipped"]:
        line += f", {count['skipped']} skipped"
    print(line)
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
