"""One client for every server that speaks OpenAI's chat completions; the judge and `grade infer` use it.

`endpoint` sends one request, `client` repeats it while that makes sense, `pace` decides how many are under way at
once, `workers` asks many questions from threads.
"""
