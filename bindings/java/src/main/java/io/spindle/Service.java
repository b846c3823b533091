package io.spindle;

/** What is promised for a message; each service includes what those before it promise. The ordinal goes over the wire. */
public enum Service {
  /** May be lost. */
  UNRELIABLE,
  /** Delivered to all members that stay connected, in no particular order. */
  RELIABLE,
  /** A sender's messages in the order sent. */
  FIFO,
  /** After every message that its sender had seen. */
  CAUSAL,
  /** In one order everywhere. */
  AGREED,
  /** Delivered only when every daemon concerned has it. */
  SAFE
}
