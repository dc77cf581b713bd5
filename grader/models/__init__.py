"""Asking a model on a server with OpenAI's chat completions API, for the judge and for `grade infer`.

`model` asks one request with the SDK's own retries, over the HTTP client of `transport`; `workers` asks many in
threads; `replies` reads what comes back.
"""
