"""Record the calls of tests, replay answers, compare them. No program whose verdict is open runs here."""
