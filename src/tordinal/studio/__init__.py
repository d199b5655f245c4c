"""The studio: rate the rows of a table in the browser, where each rating helps most.

``tordinal studio reviews.csv --target stars`` starts it. From the bottom to the top:

- `project`: the table, its scale and the log of ratings beside it;
- `session`: one rater's session: which row is asked, and what happens to it;
- `assessor`: the model and the estimates, in the background;
- `finishing`: the rated table is written;
- `view`: all of that as JSON;
- `guard`, `server`: who may ask, and the pages.

Statistics are in `tordinal.tables` and `tordinal.active`.
"""

__all__: list[str] = []
