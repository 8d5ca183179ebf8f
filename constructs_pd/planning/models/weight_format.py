"""How many bytes a matrix takes in a number format, its scales included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class WeightFormat:
    """A number format of weights.

    Attributes:
        name: Its name, such as fp8 or mxfp4.
        bits: Bits of an element.
        scale_bits: Bits that come with each block of elements: its scale and, where it has one, its zero point.
        block_rows: Rows of a block, or none for all.
        block_columns: Columns of a block, or none for all.
        whole_blocks: Whether vLLM loads whole blocks alone, so that tensor parallel may not cut one.
    """

    name: str
    bits: int
    scale_bits: int = 0
    block_rows: int | None = None
    block_columns: int | None = None
    whole_blocks: bool = False

    def size_bytes(self, rows: int, columns: int) -> int:
        """Return the bytes of a matrix of so many rows and columns."""
        bits = rows * columns * self.bits
        if self.scale_bits:
            block_rows = -(-rows // self.block_rows) if self.block_rows else 1
            block_columns = -(-columns // self.block_columns) if self.block_columns else 1
            bits += block_rows * block_columns * self.scale_bits
        return -(-bits // 8)


PLAIN: Final = {
    "bfloat16": WeightFormat("bfloat16", 16),
    "float16": WeightFormat("float16", 16),
    "float32": WeightFormat("float32", 32),
}
FP8: Final = WeightFormat("fp8", 8, 32)
FP8_CHANNEL: Final = WeightFormat("fp8 per channel", 8, 32, block_rows=1)
# OCP microscaling: 32 elements share a scale of 8 bits. NVFP4: 16 elements share one.
MXFP4: Final = WeightFormat("mxfp4", 4, 8, block_rows=1, block_columns=32)
MXFP8: Final = WeightFormat("mxfp8", 8, 8, block_rows=1, block_columns=32)
NVFP4: Final = WeightFormat("nvfp4", 4, 8, block_rows=1, block_columns=16)


def fp8_blocks(rows: int, columns: int) -> WeightFormat:
    """Return fp8 with a scale of 32 bits for each block."""
    return WeightFormat(f"fp8 in blocks of {rows} x {columns}", 8, 32, rows, columns, whole_blocks=True)


def integers(bits: int, group_columns: int | None, *, zero_point: bool) -> WeightFormat:
    """Return integers of 4 or 8 bits with a scale of 16 bits, and a zero point where asymmetric, for each group."""
    return WeightFormat(f"int{bits}", bits, 16 + (bits if zero_point else 0), 1, group_columns)
