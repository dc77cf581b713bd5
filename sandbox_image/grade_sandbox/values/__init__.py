"""How values are serialized between a candidate and its tests; both sides use these modules."""
