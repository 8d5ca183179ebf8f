"""Write every page."""

from __future__ import annotations

from tools.pages import PAGES
from tools.pages.table import DOCS

for name, page in PAGES.items():
    (DOCS / name).write_text(page(), encoding="utf-8")
    print(f"wrote docs/{name}")
