"""The paper's study (sections V and VI): its runs, their results, figures, a verdict per claim."""
