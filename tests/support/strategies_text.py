"""Text as Kubernetes, a shell or a registry accepts it, in the lengths that they allow."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import strategies as st

from constructs_pd.planning.owned import ENVIRONMENT, METADATA_KEYS, METADATA_PREFIXES
from constructs_pd.planning.rules.pd101_name import RESERVED
from constructs_pd.planning.rules.pd110_secret_environment import SECRET_NAME
from constructs_pd.planning.rules.pd125_tags import AWS_PREFIXES, OWNED_TAGS

_LOWER = string.ascii_lowercase
_LOWER_DIGITS = _LOWER + string.digits
_ALPHANUMERIC = string.ascii_letters + string.digits


def word(first: str, middle: str, last: str, max_size: int) -> st.SearchStrategy[str]:
    """Return words of at least one character, whose ends are narrower than their middle."""
    longer = st.tuples(
        st.sampled_from(first), st.text(st.sampled_from(middle), max_size=max_size - 2), st.sampled_from(last)
    )
    return st.sampled_from(first) | longer.map("".join)


deployment_names = word(_LOWER, _LOWER_DIGITS + "-", _LOWER_DIGITS, 47).filter(lambda name: name not in RESERVED)
namespaces = word(_LOWER_DIGITS, _LOWER_DIGITS + "-", _LOWER_DIGITS, 63).filter(lambda name: name[:5] != "kube-")
_dns_labels = word(_LOWER_DIGITS, _LOWER_DIGITS + "-", _LOWER_DIGITS, 63)
object_names = st.lists(_dns_labels, min_size=1, max_size=3).map(".".join)
label_names = word(_ALPHANUMERIC, _ALPHANUMERIC + "-_.", _ALPHANUMERIC, 63)
label_values = st.just("") | label_names
secret_keys = st.text(st.sampled_from(_ALPHANUMERIC + "-._"), min_size=1, max_size=253).filter(
    lambda key: key != "." and not key.startswith("..")
)
# Below folders that an image leaves to volumes.
paths = st.tuples(
    st.sampled_from(["/models", "/mnt", "/data/weights"]),
    st.lists(word(_ALPHANUMERIC, _ALPHANUMERIC + "._-", _ALPHANUMERIC, 20), max_size=3),
).map(lambda parts: "/".join([parts[0], *parts[1]]))
served_names = st.tuples(
    st.sampled_from(_ALPHANUMERIC), st.text(st.sampled_from(_ALPHANUMERIC + "._/-"), max_size=127)
).map("".join)
digests = st.text(st.sampled_from("0123456789abcdef"), min_size=64, max_size=64).map("sha256:{}".format)
subnet_ids = (
    st.integers(0, 16**8 - 1).map("subnet-{:08x}".format) | st.integers(0, 16**17 - 1).map("subnet-{:017x}".format)
)  # fmt: skip
ami_ids = st.integers(0, 16**8 - 1).map("ami-{:08x}".format) | st.integers(0, 16**17 - 1).map("ami-{:017x}".format)
_TAG_CHARACTERS = _ALPHANUMERIC + " _.:/=+@-"
# cfn-lint takes the keys False and True for 0 and 1, and says of two such tags that they are the same.
_ALIKE_TO_CFN_LINT = ("false", "true")
tag_keys = st.text(st.sampled_from(_TAG_CHARACTERS), min_size=1, max_size=128).filter(
    lambda key: key.lower() not in (*OWNED_TAGS, *_ALIKE_TO_CFN_LINT) and not key.lower().startswith(AWS_PREFIXES)
)
cluster_names = st.tuples(
    st.sampled_from(_ALPHANUMERIC), st.text(st.sampled_from(_ALPHANUMERIC + "_-"), max_size=99)
).map("".join)
tag_values = st.text(st.sampled_from(_TAG_CHARACTERS), max_size=256)
placement_groups = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=255)
# Any text that has an encoding: quotes, line breaks, control characters and other scripts among it.
free_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def _is_free(key: str) -> bool:
    return key not in METADATA_KEYS and not key.startswith(tuple(METADATA_PREFIXES))


label_keys = (label_names | st.tuples(object_names, label_names).map("/".join)).filter(_is_free)

_variable_names = st.tuples(
    st.sampled_from(string.ascii_letters + "_"), st.text(st.sampled_from(_ALPHANUMERIC + "_"), max_size=30)
).map("".join)
variables = (
    st.sampled_from(["VLLM_LOGGING_LEVEL", "NCCL_DEBUG", "RAY_LOG_TO_STDERR", "http_proxy"]) | _variable_names
).filter(lambda name: name not in ENVIRONMENT and not SECRET_NAME.search(name))
secret_variables = (st.sampled_from(["WANDB_API_KEY", "MLFLOW_TRACKING_TOKEN"]) | _variable_names).filter(
    lambda name: name not in ENVIRONMENT
)
secret_references = st.fixed_dictionaries({"secret_name": object_names}, optional={"key": secret_keys})


def few(keys: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return mappings of one to three entries."""
    return st.dictionaries(keys, values, min_size=1, max_size=3)
