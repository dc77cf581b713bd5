"""Rewards for trainers (TRL, verl, OpenRLHF), with one `Pool` per node, and exports of results to other tools."""
