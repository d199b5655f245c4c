"""The report: one HTML file about how a table was rated."""

from tordinal.report.page import render_report

__all__ = ["render_report"]
