from logsieve.records import Record, read
from logsieve.summary import RouteSummary, summarise

__all__ = ["Record", "RouteSummary", "read", "summarise"]
