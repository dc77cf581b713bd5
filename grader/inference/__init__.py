"""From a model behind a server to a prediction file: every sample is asked for once, and none is lost or invented.

`plan` says what is asked, `log` keeps every reply the moment it comes, `engine` asks what is missing, `output` makes
the prediction file from the log, `batch` does the asking through files instead of a connection.
"""
