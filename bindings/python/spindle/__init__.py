"""Spindle: ordered, reliable messages to groups. docs/python.md is the guide.

    async with spindle.connect(name="reader") as connection:
        await connection.join("news", timeout=5)
        async for event in connection:
            if isinstance(event, spindle.Message):
                print(event.sender, event.payload)
"""
from . import _engine, _events
from ._bulk import Bulk, BulkSink, BulkSource
from ._codes import Code, code_of
from ._connection import ALL, Connecting, Connection, Feed, Group, connect
from ._engine import Message
from ._errors import AccessDenied, BadArgument, Error, NotConnected, NotTakenError, TimedOut, WouldBlock, error_of
from ._events import (Answers, BulkComplete, BulkEnded, BulkEndedCause, BulkGone, BulkOffered, BulkProgress,
                      BulkReceived, BulkReturned, BulkStalled, ChannelId, ContentKind, Disconnected, FeedClosed,
                      FeedClosedWhy, FeedFlow, FeedGap, FeedGapCause, FeedLimit, FeedOpened, FeedPacket, FeedWritable,
                      FlowReady, FlowState, FlushRequest, Gap, GroupView, GroupViewId, NotTaken, OtherEvent,
                      QueueWarning, Reconnected, Request, RequestFailed, Service, SlowPolicy, Transitional, ViewCause,
                      ViewForm)
from ._membership import Membership, MembershipOutcome
from ._options import BulkOptions

__version__ = _engine.version

_engine.register({**vars(_events), "code": code_of, "error": error_of})

__all__ = [
    "ALL", "AccessDenied", "Answers", "BadArgument", "Bulk", "BulkComplete", "BulkEnded", "BulkEndedCause", "BulkGone",
    "BulkOffered", "BulkOptions", "BulkProgress", "BulkReceived", "BulkReturned", "BulkSink", "BulkSource",
    "BulkStalled", "ChannelId", "Code", "Connecting", "Connection", "ContentKind", "Disconnected", "Error",
    "Feed", "FeedClosed", "FeedClosedWhy", "FeedFlow", "FeedGap", "FeedGapCause", "FeedLimit", "FeedOpened",
    "FeedPacket", "FeedWritable", "FlowReady", "FlowState", "FlushRequest", "Gap", "Group", "GroupView", "GroupViewId",
    "Membership", "MembershipOutcome", "Message", "NotConnected", "NotTaken", "NotTakenError", "OtherEvent",
    "QueueWarning", "Reconnected", "Request", "RequestFailed", "Service", "SlowPolicy", "TimedOut", "Transitional",
    "ViewCause", "ViewForm", "WouldBlock", "connect",
]
