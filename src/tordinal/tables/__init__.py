"""Rating the unrated rows of a table: files, columns, target, saved models.

The modules by what they are about; a run of ``tordinal label`` uses them in this order.

Files
    `table` is a table in memory, `formats` the definition of a format, `files` the list of formats.
    Formats: `delimited`, `jsonlines`, `parquet`, `workbooks`; data frames: `frames`; arrays beside
    a table: `vectors`. Single cells: `values`. Outputs: `outputs`, `file_lock`.
Ratings
    `target` finds the ratings in a column, `rating_order` and `scales` their order, `totals` rows
    that are not to be rated. `collected` adds ratings from elsewhere: from forms (`filled`) and
    from the log of a rater (`ratings_log`, its lines `rating_events`, its rows `fingerprints` and
    `logged_ratings`, other tools `ratings_exchange`, several raters `raters`). `selection` weighs
    ratings by how their rows were drawn; `preparation` does all of this for a table.
Columns
    `roles` infers what each column is, from `cells`; `reading` reads it as planned, `features`
    makes features of it, and `columns` has the encoder that does all this. `sentences` are the
    features of a sentence encoder, `hints` those of noisy ratings; `groups` finds columns that do
    harm.
Models
    `settings` makes the estimator, `rating` fits it and rates the rows, `results` is what comes of
    it, `answers` the columns to add. `table_model` is what `models` saves, with `archive` and
    `model_checks`; `drift` and `compared` compare new tables with that of training. `costs` reads
    costs of errors. `many`, `worker` and `rate_files` do the same for many files on a cluster.
Answers
    How far off: `expected_error`, `curve`, `abstaining`, `finished`. Averages and shares:
    `estimates`, `group_names`. Reasons: `reasons`, `importance`, `surrogate`, `terms`. Rows to
    check first: `check_first`.
Which rows to rate next
    `suggest` draws them, `next_rows` writes a form. `assessment` and `stopping` say when to stop,
    `simulate` when one could have stopped.
"""
