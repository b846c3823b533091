package io.spindle;

import java.util.Locale;

/**
 * Everything that can go wrong, for calls that fail and connections that end. The table is that of all languages; its
 * numbers go over the wire.
 */
public enum Code {
  /** The message cannot enter the network now. */
  WOULD_BLOCK(1, "the message cannot enter the network now"),
  /** The operation timed out. */
  TIMED_OUT(2, "the operation timed out"),
  /** The connection is not open. */
  NOT_CONNECTED(3, "the connection is not open"),
  /** The daemon cannot be reached. */
  CONNECT_FAILED(4, "the daemon cannot be reached"),
  /** The connection was lost. */
  CONNECTION_LOST(5, "the connection was lost"),
  /** The client closed the connection. */
  CLOSED_BY_CLIENT(6, "the client closed the connection"),
  /** The daemon is stopping. */
  DAEMON_STOPPING(7, "the daemon is stopping"),
  /** The message is larger than 16 MiB. */
  MESSAGE_TOO_LARGE(8, "the message is larger than 16 MiB"),
  /** A message goes to 1 to 1,000 groups. */
  TOO_MANY_GROUPS(9, "a message goes to 1 to 1,000 groups"),
  /** A group name has 1 to 255 bytes and does not start with '#'. */
  BAD_GROUP_NAME(10, "a group name has 1 to 255 bytes and does not start with '#'"),
  /** A client name has 1 to 64 printable characters other than '#' and space. */
  BAD_CLIENT_NAME(11, "a client name has 1 to 64 printable characters other than '#' and space"),
  /** Another client of this daemon has that name. */
  NAME_IN_USE(12, "another client of this daemon has that name"),
  /** No protocol version in common. */
  VERSION_MISMATCH(13, "no protocol version in common"),
  /** A frame could not be parsed. */
  MALFORMED_FRAME(14, "a frame could not be parsed"),
  /** A frame exceeds the size limit. */
  FRAME_TOO_LARGE(15, "a frame exceeds the size limit"),
  /** A frame came at the wrong time. */
  UNEXPECTED_FRAME(16, "a frame came at the wrong time"),
  /** The handshake was not completed in time. */
  HANDSHAKE_TIMEOUT(17, "the handshake was not completed in time"),
  /** The client did not read its messages in time. */
  SLOW_RECEIVER(18, "the client did not read its messages in time"),
  /** The daemon has reached its limit of clients. */
  TOO_MANY_SESSIONS(19, "the daemon has reached its limit of clients"),
  /** The client has joined as many groups as the daemon allows. */
  TOO_MANY_MEMBERSHIPS(20, "the client has joined as many groups as the daemon allows"),
  /** The client is not a member of the group. */
  NOT_A_MEMBER(21, "the client is not a member of the group"),
  /** The client is already a member of the group. */
  ALREADY_A_MEMBER(22, "the client is already a member of the group"),
  /** The daemons belong to different clusters. */
  CLUSTER_MISMATCH(23, "the daemons belong to different clusters"),
  /** Settings that must agree differ between the daemons. */
  SETTINGS_MISMATCH(24, "settings that must agree differ between the daemons"),
  /** Two daemons use the same name. */
  NAME_CONFLICT(25, "two daemons use the same name"),
  /** Another connection to the same neighbour is kept. */
  DUPLICATE_LINK(26, "another connection to the same neighbour is kept"),
  /** Nothing was heard from the peer within its liveness time. */
  SILENT_PEER(27, "nothing was heard from the peer within its liveness time"),
  /** An address is not valid. */
  BAD_ADDRESS(28, "an address is not valid"),
  /** The configuration is not valid. */
  BAD_CONFIGURATION(29, "the configuration is not valid"),
  /** A limit of the daemon was exceeded. */
  LIMIT_EXCEEDED(30, "a limit of the daemon was exceeded"),
  /** The connection to the neighbour failed. */
  LINK_FAILED(31, "the connection to the neighbour failed"),
  /** An internal error occurred. */
  INTERNAL_ERROR(32, "an internal error occurred"),
  /** The request is not known. */
  UNKNOWN_REQUEST(33, "the request is not known"),
  /** An argument is not valid. */
  BAD_ARGUMENT(34, "an argument is not valid"),
  /** A partition imposed for a field test holds the daemons apart. */
  PARTITIONED(35, "a partition imposed for a field test holds the daemons apart"),
  /** The daemons have as many groups as they may, and this would be another. */
  GROUP_TABLE_FULL(36, "the daemons have as many groups as they may, and this would be another"),
  /** The peer's certificate is that of somebody else. */
  IDENTITY_MISMATCH(37, "the peer's certificate is that of somebody else"),
  /** The connection could not be protected by TLS. */
  TLS_FAILED(38, "the connection could not be protected by TLS"),
  /** The daemon's access rules do not allow it. */
  ACCESS_DENIED(39, "the daemon's access rules do not allow it"),
  /** The token is not known to the daemon. */
  TOKEN_UNKNOWN(40, "the token is not known to the daemon"),
  /** The token has expired. */
  TOKEN_EXPIRED(41, "the token has expired"),
  /** A client without a certificate has to send a token. */
  TOKEN_MISSING(42, "a client without a certificate has to send a token"),
  /** A token goes only over TLS or a unix socket. */
  TOKEN_EXPOSED(43, "a token goes only over TLS or a unix socket"),
  /** The group is synchronous and this is not, or the other way round. */
  MODE_MISMATCH(44, "the group is synchronous and this is not, or the other way round"),
  /** The client has answered a flush request of the group, and its view is to come. */
  FLUSHING(45, "the client has answered a flush request of the group, and its view is to come"),
  /** The client did not answer a flush request of the group in time. */
  FLUSH_TIMEOUT(46, "the client did not answer a flush request of the group in time"),
  /** A header has a key of 1 to 255 bytes without '$' in front; all take 4 KiB at most. */
  BAD_HEADERS(48, "a header has a key of 1 to 255 bytes without '$' in front; all take 4 KiB at most"),
  /** There is not enough memory. */
  OUT_OF_MEMORY(56, "there is not enough memory"),
  /** The program has cancelled the call. */
  CANCELLED(57, "the program has cancelled the call"),
  /** There are as many bulk channels as there may be, or as the client may offer. */
  TOO_MANY_CHANNELS(58, "there are as many bulk channels as there may be, or as the client may offer"),
  /** There is no such bulk channel, or it has ended. */
  UNKNOWN_CHANNEL(59, "there is no such bulk channel, or it has ended"),
  /** There is no room for the content where it is to be stored. */
  NO_SPACE(60, "there is no room for the content where it is to be stored"),
  /** A file of the content cannot be read or written. */
  FILE_FAILED(61, "a file of the content cannot be read or written"),
  /** There is a file of that name already, or it is being received. */
  FILE_EXISTS(62, "there is a file of that name already, or it is being received"),
  /** The name of the content is not one that a file can have here. */
  BAD_CONTENT_NAME(63, "the name of the content is not one that a file can have here"),
  /** There is no such feed, or it has ended. */
  UNKNOWN_FEED(64, "there is no such feed, or it has ended"),
  /** The client has as many feeds open as it may. */
  TOO_MANY_FEEDS(65, "the client has as many feeds open as it may"),
  /** The client sent more than it had room for. */
  FLOW_EXCEEDED(66, "the client sent more than it had room for"),
  /** A code that this version of the library does not know. */
  UNKNOWN_ERROR(0, "an unknown error occurred");

  private static final Code[] BY_NUMBER = new Code[128];

  static {
    for (Code code : values()) {
      BY_NUMBER[code.number] = code;
    }
  }

  private final int number;
  private final String text;

  Code(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /**
   * Its number on the wire.
   *
   * @return a number of 16 bits; 0 of {@link #UNKNOWN_ERROR}
   */
  public int number() {
    return number;
  }

  /**
   * The sentence that explains it.
   *
   * @return words for people
   */
  public String text() {
    return text;
  }

  /**
   * Its name in all languages.
   *
   * @return such as "slow_receiver"
   */
  public String identifier() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The code of a number on the wire.
   *
   * @param number as the daemon has said it
   * @return {@link #UNKNOWN_ERROR} for one that this version does not know
   */
  public static Code of(int number) {
    Code found = number > 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    return found == null ? UNKNOWN_ERROR : found;
  }
}
