"""What the tests of `grade infer` share."""

from tests.conftest import ROOT

SAMPLES = ROOT / "benchmarks"
KEY = "sk-secret-0123456789abcdef"
VSTAR = ["-b", "vstar", "--data", SAMPLES / "vstar" / "sample" / "questions.jsonl"]
