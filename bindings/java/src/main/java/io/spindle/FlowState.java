package io.spindle;

import java.time.Duration;

/**
 * How a flow fares, that is, this client's messages to one set of destinations: what {@link Connection#requestFlow} asked
 * for. A flow earns a salary and pays a price for every packet; one that cannot pay is blocked until it can.
 *
 * @param groups as they were given
 * @param price of a packet now, in dollars
 * @param budget in dollars; negative after a message of several packets
 * @param rate packets a second that entered the network of late
 * @param salaryPeriod in which a salary is earned
 * @param blockedShare 0 to 1: of its life, while a message waited to enter
 * @param limitedBy the link or the receivers that cost most; empty where nothing holds it up
 */
public record FlowState(
    Destinations groups,
    double price,
    double budget,
    double rate,
    Duration salaryPeriod,
    double blockedShare,
    String limitedBy)
    implements Event {}
