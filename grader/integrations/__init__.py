"""Rewards for trainers, over one `Pool` a node (TRL, verl, OpenRLHF), and exports of results to others' tools."""
