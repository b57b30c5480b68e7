from timesheet.entry import Entry
from timesheet.parser import ParseError, parse_entries
from timesheet.report import weekly_report

__all__ = ["Entry", "ParseError", "parse_entries", "weekly_report"]
