"""Rewards for trainers (TRL, verl, OpenRLHF), with one `Pool` per node."""
