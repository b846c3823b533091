package io.spindle;

/**
 * How those stand that were members where a content was offered, and are no longer: they have left, or were lost, or
 * the network has taken them away.
 *
 * @param done they have it
 * @param failed they could not receive it
 * @param refused they did not want it
 * @param missing they went before they had all of it
 */
public record BulkGone(long done, long failed, long refused, long missing) {}
