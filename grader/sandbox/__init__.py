"""The sandboxes for untrusted code: backends behind one interface, and a pool of warm supervisors."""
