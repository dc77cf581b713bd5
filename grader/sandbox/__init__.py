"""Where untrusted code runs: backends behind one interface, a pool of warm supervisors."""
