"""The parts of the HTML report: what is gathered, how it is packed, and the page that unpacks it."""
