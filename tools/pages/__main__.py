"""Write every page, and the data that only some of them are made from."""

from __future__ import annotations

from benchmarks.errors import FILE, as_file, fresh_errors
from constructs_pd.planning.catalog import load_catalog
from tools.pages import PAGES
from tools.pages.table import DOCS

# The catalogue's own errors come first: pages are written from them.
FILE.write_text(as_file(fresh_errors()), encoding="utf-8")
load_catalog.cache_clear()
print(f"wrote {FILE.name}")

for name, page in PAGES.items():
    (DOCS / name).write_text(page(), encoding="utf-8")
    print(f"wrote docs/{name}")
