"""The parts of the HTML report: its data, their packing, and the page that unpacks them."""
