"""The parts of the questions that need no device: python3 -m unittest questions_test."""

import io
import os
import select
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

from ask import Report
from equality import refusal, together, verdict
from loads import Load, LoadFailed, rates
from overhead import overhead_line
from quota import judged
from running import Clock, Outcome, error_line, run
from sharing import Beside, shares_line

# Serves requests as the workloads do: ten rounds a second of a window.
SERVES = """
import json, sys
for line in open(sys.argv[2]):
    words = line.split()
    if words[0] == "window":
        print(json.dumps({"rounds": round(10 * float(words[2])), "seconds": float(words[2])}), flush=True)
    else:
        print("a line of something else", flush=True)
        print(json.dumps({"rounds": int(words[1]), "seconds": int(words[1]) * 0.01}), flush=True)
"""
LONG = 60  # seconds that nothing here takes


def ended(output="", status=0, errors=""):
    return Outcome(status, output, errors, 1.0)


class AnErrorLine(unittest.TestCase):
    def test_is_the_exception_of_the_last_traceback(self):
        text = "a warning\nTraceback (most recent call last):\n  File x\n    line\nRuntimeError: CUDA error\nmore\n"
        self.assertEqual(error_line(text), "RuntimeError: CUDA error")

    def test_has_what_fairgv_said_before_it(self):
        text = "noise\nfairgv: no daemon\nTraceback (most recent call last):\n  File x\nRuntimeError: no device\n"
        self.assertEqual(error_line(text), "fairgv: no daemon; RuntimeError: no device")

    def test_is_the_first_line_else(self):
        self.assertEqual(error_line("\nfirst\nsecond\n"), "first")
        self.assertEqual(error_line(""), "")


class AProgram(unittest.TestCase):
    def test_that_does_not_end_is_stopped_with_its_children(self):
        script = "import subprocess, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
        limit = 0.5
        outcome = run([sys.executable, "-c", script], dict(os.environ), "/", limit)
        while not outcome.output.strip():  # a slow machine: the program did not get so far
            limit *= 2
            outcome = run([sys.executable, "-c", script], dict(os.environ), "/", limit)
        self.assertIsNone(outcome.status)
        self.assertIn("no end within", outcome.trouble())
        try:
            child = os.pidfd_open(int(outcome.output))
        except ProcessLookupError:
            return
        self.addCleanup(os.close, child)
        self.assertTrue(select.select([child], [], [], LONG)[0], "the child goes on")

    def test_that_its_daemon_ended_is_told_with_the_reason(self):
        outcome = ended(status=-9)
        outcome.daemon_said = "warning: session 1 is ended"
        self.assertEqual(outcome.trouble(), "ended by signal 9; the daemon's log: warning: session 1 is ended")

    def test_is_told_by_its_signal_if_it_says_nothing(self):
        outcome = run(["/bin/sh", "-c", "kill -SEGV $$"], dict(os.environ), "/", LONG)
        self.assertEqual(outcome.trouble(), "ended by signal 11")


class TimeThatIsLeft(unittest.TestCase):
    def test_is_never_more_than_that_of_the_whole(self):
        whole = Clock(5)
        self.assertLessEqual(Clock(100, whole).left(), 5)
        self.assertEqual(Clock(0, whole).part(10), 0)

    def test_is_longer_with_patience_within_the_whole(self):
        whole = Clock(1000, patience=10)
        self.assertGreater(Clock(10, whole).left(), 50)
        self.assertLessEqual(Clock(10, whole).part(3), 30)
        self.assertLessEqual(Clock(500, whole).left(), 1000)
        self.assertTrue(whole.has(50))
        self.assertFalse(whole.has(101))


class AVerdict(unittest.TestCase):
    def of(self, bare, tenant):
        return verdict(bare, lambda: tenant)

    def test_is_equal_for_the_same_output_only(self):
        self.assertTrue(self.of(ended("a\nb\n"), ended("a\nb\n")).startswith("equal, 2 lines"))
        self.assertEqual(self.of(ended("a\nb\n"), ended("a\nc\n")), "different: 'c' is 'b' bare")
        self.assertEqual(self.of(ended("a\nb\n"), ended("a\n")), "different: 1 lines, 2 bare")

    def test_is_not_asked_of_the_tenant_where_bare_does_not_run(self):
        def never():
            self.fail("the tenant was started")

        self.assertEqual(verdict(ended("absent: no torch\n", 77), never), "absent: no torch")
        self.assertEqual(verdict(ended(status=1, errors="no GPU\n"), never), "unknown: fails without FairGV: no GPU")

    def test_names_the_failure_of_the_tenant(self):
        self.assertEqual(self.of(ended("a\n"), ended("a\n", 1, "fairgv: no\n")), "failed: fairgv: no")
        self.assertTrue(self.of(ended("a\n"), ended("a\n", None)).startswith("failed: no end within"))
        self.assertTrue(self.of(ended("a\n"), ended("absent: no device\n", 77)).startswith("different: bare runs"))

    def test_is_a_refusal_only_if_the_program_failed(self):
        told = "a warning\nfairgv: not served\n"
        self.assertEqual(refusal(ended(status=1, errors=told)), "fairgv: not served")
        self.assertIsNone(refusal(ended(status=0, errors=told)))
        self.assertIsNone(refusal(ended(status=1, errors="segmentation fault\n")))

    def test_of_many_programs_names_each_that_is_not_equal(self):
        self.assertEqual(together([("a", "equal, 1 lines"), ("b", "equal, 2 lines")]), "equal, all 2 programs")
        line = together([("a", "equal, 1 lines"), ("b", "refused: fairgv: no"), ("c", "different: x")])
        self.assertEqual(line, "different: 1 of 3 equal; b: refused: fairgv: no; c: different: x")
        self.assertTrue(together([("a", "equal"), ("b", "refused: fairgv: no")]).startswith("refused: 1 of 2 equal"))
        self.assertTrue(together([("b", "refused: fairgv: no")]).startswith("failed: 0 of 1 equal"))
        self.assertTrue(together([("a", "equal"), ("b", "not asked: x")]).startswith("not asked: 1 of 2 equal"))


class Shares(unittest.TestCase):
    def test_are_exact_within_a_hundredth(self):
        self.assertTrue(Beside((30, 70), [0.309, 0.691], [0.3, 0.7], 1.0).is_exact())
        self.assertFalse(Beside((30, 70), [0.311, 0.689], [0.3, 0.7], 1.0).is_exact())

    def test_have_the_least_over_the_most_by_weight_as_their_ratio(self):
        window = Beside((1, 2, 3), [0.2, 0.3, 0.5], [0.2, 0.3, 0.5], 1.0)
        self.assertAlmostEqual(window.min_max_ratio(), 0.75)

    def test_are_missed_by_one_window_and_judged_only_if_they_are_long(self):
        good, poor = Beside((1, 1), [0.5, 0.5], [0.5, 0.5], 0.995), Beside((1, 1), [0.5, 0.5], [0.5, 0.5], 0.98)
        self.assertTrue(shares_line([good], True).endswith("kept"))
        self.assertTrue(shares_line([good, poor], True).endswith("MISSED"))
        self.assertTrue(shares_line([poor], False).endswith("(short windows)"))

    def test_the_overhead_is_a_median(self):
        self.assertTrue(overhead_line([1.5, 1.005, 1.004], 22.0, "direct", True).endswith("kept"))
        self.assertTrue(overhead_line([1.5, 1.015, 1.004], 22.0, "direct", True).endswith("MISSED"))
        self.assertTrue(overhead_line([1.5, 1.015, 1.004], 22.0, "remoted", True).endswith("kept"))


class AQuota(unittest.TestCase):
    def test_is_kept_only_if_it_was_met_and_never_exceeded(self):
        self.assertTrue(judged(100, 100, 100, 5, 5, True).startswith("kept"))
        for found in ((100, 200, 90, 5, 5, True), (100, 100, 101, 5, 5, True), (100, 100, 90, 5, 0, True),
                      (100, 100, 0, 0, 5, True), (100, 100, 90, 5, 5, False)):
            self.assertTrue(judged(*found).startswith("failed"), found)


class ALoad(unittest.TestCase):
    def load(self, script):
        clock = Clock(LONG)
        load = Load("load", [sys.executable, "-c", script], dict(os.environ), "/", clock)
        self.addCleanup(load.stop)
        return load, clock

    def test_answers_requests_and_ends(self):
        load, clock = self.load(SERVES)
        self.assertAlmostEqual(load.run(3), 0.03)
        self.assertEqual(load.rounds_in(1.0), 100)
        looks = []
        self.assertEqual(rates([load], 2.0, clock, looks.append), [10.0])
        self.assertEqual(looks, [True, False])
        load.end()

    def test_that_fails_says_why(self):
        load, _ = self.load("import sys; sys.exit('fairgv: no device')")
        with self.assertRaisesRegex(LoadFailed, "load: fairgv: no device"):
            load.run(1)

    def test_that_ends_badly_is_no_success(self):
        load, _ = self.load(SERVES + "\nsys.exit('a wrong result')")
        load.run(1)
        with self.assertRaisesRegex(LoadFailed, "a wrong result"):
            load.end()


class AReport(unittest.TestCase):
    def test_has_each_line_at_once_and_counts_the_wrong_ones(self):
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as printed:
            report = Report(Path(folder), ("failed", "different"))
            report.line("a", "failed: of two\nlines")
            self.assertEqual((Path(folder) / "questions.txt").read_text(), "a: failed: of two lines [0 s]\n")
            report.line("b", "equal")
            report.line("c", "different: x")
            self.assertEqual(report.wrong, 2)
            report.close()
        self.assertEqual(printed.getvalue().count("\n"), 3)


if __name__ == "__main__":
    unittest.main()
