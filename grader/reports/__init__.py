"""Reports: views make a `Document` of reports, formats write it. See `document.py`."""
