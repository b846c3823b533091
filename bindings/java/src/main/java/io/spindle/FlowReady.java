package io.spindle;

/**
 * Independent flows only: a flow for which {@link Connection#tryMulticast} has given false has room again.
 *
 * @param groups as they were given
 */
public record FlowReady(Destinations groups) implements Event {}
