"""What untrusted text says: official scorers' readers, bug for bug, and careful ones beside them."""
