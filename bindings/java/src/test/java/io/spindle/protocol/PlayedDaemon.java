package io.spindle.protocol;

import io.spindle.Code;
import io.spindle.Name;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;

/** What a daemon that a test plays says, and hears. */
public final class PlayedDaemon {
  private PlayedDaemon() {}

  public static Output welcome(Name name) {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.WELCOME);
    frame.u16(Frames.VERSION);
    frame.name(name);
    frame.endFrame(head);
    return frame;
  }

  /** It holds so much for the client. */
  public static Output warning(int percent) {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.WARNING);
    frame.u8(percent);
    frame.varint(percent);
    frame.varint(100);
    frame.endFrame(head);
    return frame;
  }

  /** Its last word; it has taken nothing. */
  public static Output close(Code reason) {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.CLOSE);
    frame.u16(reason.number());
    frame.u16(0);
    frame.varint(0);
    frame.endFrame(head);
    return frame;
  }

  /** Takes a frame, and gives its type. */
  private static int takeFrame(DataInputStream from, byte[][] content) throws IOException {
    int length = from.readUnsignedByte() | from.readUnsignedByte() << 8 | from.readUnsignedByte() << 16;
    final int type = from.readUnsignedByte();
    content[0] = new byte[length];
    from.readFully(content[0]);
    return type;
  }

  /** Takes a frame of that type, past all others, and gives its content. */
  static byte[] awaitFrame(DataInputStream from, int wanted) throws IOException {
    byte[][] content = new byte[1][];
    while (takeFrame(from, content) != wanted) {
      continue;
    }
    return content[0];
  }

  /** Welcomes a client, and shows it that the daemon is there until a message comes: its last byte. */
  public static byte awaitMessage(Socket client, Name name) throws IOException {
    client.getOutputStream().write(welcome(name).toBytes());
    DataInputStream from = new DataInputStream(client.getInputStream());
    byte[][] content = new byte[1][];
    for (int type = takeFrame(from, content); type != Frames.SEND; type = takeFrame(from, content)) {
      if (type == Frames.PING) {
        Output pong = new Output();
        int head = pong.beginFrame(Frames.PONG);
        pong.bytes(content[0], 0, content[0].length);
        pong.endFrame(head);
        client.getOutputStream().write(pong.toBytes());
      }
    }
    return content[0][content[0].length - 1];
  }
}
