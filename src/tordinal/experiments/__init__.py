"""The paper's study (sections V and VI): cells, a table of results on disk, figures and a verdict on every claim."""
