"""Predictions from a model on a server. Every sample is requested once, and no reply is lost.

`plan` lists the requests, `log` writes every reply at once, `engine` sends the missing requests, and `output` builds
the prediction file from the log.
"""
