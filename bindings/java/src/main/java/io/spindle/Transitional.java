package io.spindle;

/**
 * From here to the group's next view of cause NETWORK, messages reach those of the former view that are still together,
 * and the promises of their services hold among those only.
 *
 * @param group the group
 */
public record Transitional(Name group) implements Event {}
