"""A client for servers with OpenAI's chat completions API, used by the judge and by `grade infer`.

`endpoint` sends one request, `client` repeats it after temporary failures, `pace` limits the number of concurrent
requests, and `workers` sends many requests from threads.
"""
