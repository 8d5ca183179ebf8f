"""The sound specifications reach every field, and nearly all of them plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from pydantic import BaseModel

from constructs_pd import DeploymentSpec, PlanError, plan
from support.strategies_rows import CATALOG
from support.strategies_runs import examples
from support.strategies_sound import sound_specifications

# A field of which the catalogue has one value only can have no other.
SINGLE_VALUED = {"kuberay_version"} if len(CATALOG.kuberay) == 1 else set()
FEWEST_PLANNED = 0.9


def leaves(model: type[BaseModel], path: str = "") -> Iterator[str]:
    """Yield the path of every field that holds no model, and each value where it has a list of them."""
    for name, field in model.model_fields.items():
        yield from _leaves(field.annotation, f"{path}{name}")


def _leaves(annotation: Any, path: str) -> Iterator[str]:
    models = [part for part in _parts(annotation) if isinstance(part, type) and issubclass(part, BaseModel)]
    values = [value for part in _parts(annotation) if get_origin(part) is Literal for value in get_args(part)]
    for model in models:
        yield from leaves(model, f"{path}.")
    yield from (f"{path}={value}" for value in values)
    if not models and not values:
        yield path


def _parts(annotation: Any) -> list[Any]:
    """Return what an annotation is made of: the members of a union, the items of a tuple, the values of a mapping."""
    if get_origin(annotation) is Literal or not get_args(annotation):
        return [annotation]
    return [part for argument in get_args(annotation) for part in _parts(argument)]


def reached(model: BaseModel, path: str = "") -> Iterator[str]:
    """Yield the paths of the leaves that a specification states: not by a default, or by one of the listed values."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        below = [inner for inner in _inside(value) if isinstance(inner, BaseModel)]
        for inner in below:
            yield from reached(inner, f"{path}{name}.")
        if not below and name in model.model_fields_set and value is not None:
            yield from (f"{path}{name}={listed}" for listed in _listed(value))
            if field.is_required() or value != field.default:
                yield f"{path}{name}"


def _listed(value: Any) -> list[Any]:
    """Return the items of a tuple or the keys of a mapping, else the value itself."""
    return list(value) if isinstance(value, tuple | dict) else [value]


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, tuple) else [value]


@pytest.fixture(scope="module")
def run() -> tuple[set[str], Counter[str]]:
    """What a run of sound specifications reaches, and the outcomes of planning them."""
    paths: set[str] = set()
    outcomes: Counter[str] = Counter()

    @examples(600)
    @given(sound_specifications())
    def collect(data: dict[str, Any]) -> None:
        spec = DeploymentSpec.model_validate(data)
        try:
            plan(spec)
        except PlanError as error:
            outcomes[str(error)] += 1
        else:
            outcomes["planned"] += 1
            paths.update(reached(spec))

    collect()
    return paths, outcomes


def test_every_field_occurs_in_a_specification_that_plans(run: tuple[set[str], Counter[str]]) -> None:
    every = set(leaves(DeploymentSpec))
    assert len(every) > 100
    assert every - run[0] - SINGLE_VALUED == set()


def test_nearly_all_of_them_plan(run: tuple[set[str], Counter[str]]) -> None:
    outcomes = run[1]
    assert outcomes["planned"] >= FEWEST_PLANNED * outcomes.total(), outcomes.most_common(5)
