"""Predictions from a model on a server. Every sample is requested once, and no reply is lost.

`conversations` makes the `plan` of all requests, `log` writes every outcome at once, `asking` sends the requests that
have no reply, and `output` builds the prediction file from the log.
"""
