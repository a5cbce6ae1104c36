"""Speed and memory, as ratios to peers measured in the same run.

    python -m benchmarks [main_job|softmax|predict|…|all] [--quick] [--full]

One file a comparison; each prints tables, and lines that say whether a promise is met, not met, or whether
the peer wins. Nothing here is a test: figures depend on the machine, and no figure fails a build.
"""
