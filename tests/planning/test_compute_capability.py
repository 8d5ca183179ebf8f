from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.compute_capability import capability


def test_reads_both_numbers() -> None:
    assert capability("8.9") == (8, 9)
    assert capability("12.0") == (12, 0)


def test_compares_as_numbers() -> None:
    assert capability("8.9") < capability("9.0") < capability("10.3") < capability("12.0")


def test_reads_every_row() -> None:
    assert all(capability(row.gpu.compute_capability) >= (8, 0) for row in load_catalog().instances.values())
