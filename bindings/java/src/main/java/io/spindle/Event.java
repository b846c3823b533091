package io.spindle;

/**
 * What a program receives: messages, and all else that a connection has to tell. Later versions may add kinds, so a
 * {@code switch} over them has a {@code default}.
 */
public sealed interface Event
    permits Message,
        GroupView,
        Transitional,
        RequestFailed,
        FlushRequest,
        FlowReady,
        FlowState,
        Gap,
        QueueWarning,
        Reconnected,
        Disconnected,
        FeedEvent,
        BulkEvent {}
