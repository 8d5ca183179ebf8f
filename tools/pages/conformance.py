"""The page of the conformance checks."""

from __future__ import annotations

from constructs_pd.conformance.check import SPECIFICATION
from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.deviations import known_deviations
from constructs_pd.conformance.problems import PROBLEMS
from tools.pages.table import NOTE, table

CONFORMANCE = """# Conformance of an endpoint

`constructs-pd conformance` asks a live endpoint what OpenAI's clients ask, with OpenAI's own client and with raw HTTP,
and says of each check whether it passed. It takes any endpoint of the API, whatever serves it.

```sh
pip install 'constructs-pd[cli,conformance]'
constructs-pd conformance --base-url http://127.0.0.1:8000/v1 --model qwen3.5-9b --ray 2.58.0 --vllm 0.26.0
```

`--base-url` says where the API begins; an endpoint inside the cluster is reached through
`kubectl -n inference port-forward service/qwen35-9b-serve-svc 8000`. A key is taken from the environment variable that
`--api-key-env` names, and never shown. An address with a query, a fragment or a password is refused, since it is shown.
For a certificate of your own let `SSL_CERT_FILE` name its issuer's. The proxies that the environment names are asked
for the endpoint and the reference, and not for pages of metrics.

| a check | means |
|---|---|
| passed | the endpoint does what OpenAI's API says |
| failed | it does not: expected and actual are shown |
| known | it does not, in the way in which the stated version is known not to |
| unsupported | it refuses what an endpoint may lack, or nothing can be told: the reason is shown |

The status is 0 where no check failed, 1 where one did, 2 where the endpoint could not be checked at all. `--json`
prints the same for programs, `--junit FILE` writes it for a CI system, `--only 'CF3*'` runs a part, `--list` lists the
checks. A request ends after `--timeout` (120 s: the first request for several choices or log probabilities is slow),
the run after `--deadline` (900 s), also where the endpoint sends a byte now and then. Neither may be more than a week.
At most `--concurrency` (4) requests are under way at once.

Most checks compare greedy answers with each other and need no particular model: a tiny one with random weights does.
Where greedy answers vary from one request to the next, what would be compared is unsupported, and so is what is refused
where the context is shorter than 512 tokens. An alias may be answered with its dated name, as OpenAI answers for
`gpt-4o` as `gpt-4o-2024-08-06`; another model's name is a failure. Where chat refuses `max_tokens` and names
`max_completion_tokens`, that is sent instead.

## The corruption canary

A hand-over that loses blocks of the KV cache may be answered with status 200 all the same, by other tokens. CF901 has
prompts answered that fill up to some 300 blocks of 16 tokens and compares, token by token, with what an engine without
a hand-over answers with the same model:

```sh
constructs-pd conformance --base-url http://127.0.0.1:8001/v1 --model qwen3.5-9b --store-answers answers.json
constructs-pd conformance --base-url http://127.0.0.1:8000/v1 --model qwen3.5-9b --answers answers.json
```

or, with both running, `--reference-url http://127.0.0.1:8001/v1`. The reference is never shown the endpoint's key: for
one that wants a key, store its answers. Where the model has another name there, say it with `--reference-model`. The
endpoint itself is refused as its own reference.
Rounding is forgiven: where the right token was less than 0.5 (in natural logarithms) likelier than the next, the
answers may part, and the rest is not compared; a token's own log probability may differ by as much. Where the right
answer does not tell how likely the next token was, every token must be the same; where an endpoint tells no log
probabilities, the texts must be equal. Prompts that exceed a model's context are left out. CF902 needs
no reference, and finds a hand-over that is lost as a whole.

Each canary is asked with a fresh `cache_salt`, where the endpoint takes vLLM's field: blocks that decode kept of an
earlier run would hide those that are lost in this one. Elsewhere ask right after the start, or without a prefix cache.

## The bytes of the hand-over

Where the hand-over fails, decode may compute the prompt again and answer rightly. CF903 therefore reads how many bytes
decode received, `nixl_bytes_transferred_sum`, before and after long prompts that nobody asked before: from the
Prometheus page that `--metrics-url` names, at every address of its host: the IPv4 ones, or the IPv6 ones where no IPv4
one answers, since a pod may have both; one that refuses the connection is left out where another answers. That is Ray's
page of a decode pod, port 8080, or vLLM's own; a page of neither fails at once. Ray reports every 10 s, so that the
check waits up to 60 s. Without the option it is unsupported.

The bytes are a sign that something was handed over, not a measure of it: Ray sums a histogram from the middles of its
buckets, and what other requests move at the same time, or moved in the 10 s before, counts too.

## In the cluster

`endpoint: {conformance_job: true}` runs this in the cluster: see [OpenAIEndpoint](openai_endpoint.md). Of the hand-over
the Job checks that bytes arrive (CF903) and that parts of a prompt have an effect on the answers, which are compared
with each other (CF902). It has no stored answers and no reference, so CF901 is unsupported there: blocks that arrive
damaged are found only by CF901, with an engine without a hand-over to compare with.

## What was measured

The real Serve application (Ray 2.58.0, vLLM 0.26.0, NIXL 1.3.1) with one prefill engine and one decode engine on a
CPU, and a model of two layers with random weights: 66 checks pass, none fails, 7 known deviations, 4 unsupported, in
34 s (2026-11-30). Its answers equal those of vLLM's own server without a hand-over. With decode changed to zero what it
received, CF901 failed each time: one block of 128 tokens, all blocks of one layer, the later half, all. CF902 failed
for the last two. The two shorter prompts fit the model, of up to 12 such blocks. No GPU and no other model was used.
CF315 came later and was tried with test servers only.
"""


def conformance_page() -> str:
    """Return every check of a live endpoint, and what versions are known to do otherwise."""
    checks = [(check.id, check.title, f"`{check.source}`") for check in CHECKS]
    deviations = [
        (row.check, f"{row.product} {_versions(row.first, row.last)}", row.what, row.source, str(row.date))
        for row in known_deviations()
    ]
    problems = [(problem.code, problem.title, problem.remedy) for problem in PROBLEMS]
    return (
        NOTE
        + CONFORMANCE
        + f"\n## Checks\n\nSources are schemas and paths of {SPECIFICATION}, or what they name.\n\n"
        + table(("id", "what must hold", "source"), checks)
        + "\n## Known deviations\n\nOf versions that are stated with `--ray` and `--vllm`, and of no others: "
        + "a newer one has to be looked at again.\nAny other answer to the same check is a failure.\n\n"
        + table(("check", "of", "what it does", "source", "date"), deviations)
        + "\n## Endpoints that cannot be checked\n\n"
        + table(("code", "what must hold", "otherwise"), problems)
    )


def _versions(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"
