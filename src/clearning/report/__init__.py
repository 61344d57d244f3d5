"""The report: one page about a model that someone who was not there can act on."""

from clearning.report.measures import summary_facts
from clearning.report.page import render_report, write_report

__all__ = ["render_report", "summary_facts", "write_report"]
