package io.spindle.bulk;

import io.spindle.protocol.ByteReader;
import io.spindle.protocol.ContentTerms;
import io.spindle.protocol.Output;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The list of files at the head of a content that is a directory: the content is the list, and behind it the files of
 * the list one behind the other. What is directly behind a directory is in it. Entries of one directory are in rising
 * order of their names, byte by byte: a list has one form, and no two entries of one name.
 */
public record FileList(List<Entry> entries) {
  public static final int ENTRIES_MAX = 1_000_000;
  public static final int DEPTH_MAX = 128;
  public static final int BYTES_MAX = 64 << 20;
  /** Of the list before its entries: what tells how long it is. */
  public static final int HEAD_BYTES = 5;
  private static final int VERSION = 1;
  private static final int NAME_BYTES_MAX = 255;

  /** What an entry is. */
  public enum Kind {
    DIRECTORY,
    FILE,
    EXECUTABLE
  }

  private static final Kind[] KINDS = Kind.values();

  /**
   * A file or directory by the last part of its name.
   *
   * @param depth directories around it within the content: it is in the last directory before it in the list that has
   *     one less
   * @param size of a file
   */
  public record Entry(Kind kind, int depth, String name, long size) {
    public boolean isDirectory() {
      return kind == Kind.DIRECTORY;
    }
  }

  /** What is no list, in words. */
  public static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String text) {
      super(text);
    }
  }

  /**
   * Whether a file may have the name, which others have given to it: UTF-8 of 1 to 255 bytes, without '/' and control
   * characters, and neither "." nor "..".
   */
  public static boolean isEntryName(String name) {
    boolean isText = StandardCharsets.UTF_8.newEncoder().canEncode(name);
    if (!isText || name.isEmpty() || name.equals(".") || name.equals("..")) {
      return false;
    }
    return name.getBytes(StandardCharsets.UTF_8).length <= NAME_BYTES_MAX
        && name.chars().noneMatch(each -> each < 0x20 || each == 0x7f || each == '/');
  }

  /**
   * u8 version, u32 bytes that follow; of each entry u8 kind, varint depth, the name as a short string, and of a file
   * its size as a varint.
   */
  public byte[] encode() {
    Output out = new Output(new byte[HEAD_BYTES + 32 * entries.size()]);
    out.u8(VERSION);
    out.u32(0);
    for (Entry entry : entries) {
      byte[] name = entry.name.getBytes(StandardCharsets.UTF_8);
      out.u8(entry.kind.ordinal());
      out.varint(entry.depth);
      out.u8(name.length);
      out.bytes(name);
      if (!entry.isDirectory()) {
        out.varint(entry.size);
      }
    }
    int end = out.size;
    out.size = 1;
    out.u32(end - HEAD_BYTES);
    out.size = end;
    return out.toBytes();
  }

  /** What it takes in all, as its head says. -1 where that is not the head of a list, or one of too many bytes. */
  public static long sizeOf(byte[] head) {
    ByteReader reader = new ByteReader(head, 0, head.length);
    int version = reader.u8();
    long size = HEAD_BYTES + (reader.u32() & 0xffffffffL);
    return !reader.isOk() || version != VERSION || size > BYTES_MAX ? -1 : size;
  }

  /**
   * Where the bytes are not exactly one list whose files fit behind it into a content of `contentBytes`, to its end, it
   * throws the reason.
   */
  public static FileList decode(byte[] bytes, long contentBytes) throws Malformed {
    String malformed = "the content does not begin with a list of files";
    long size = sizeOf(Arrays.copyOf(bytes, Math.min(bytes.length, HEAD_BYTES)));
    if (size != bytes.length || size > contentBytes) {
      throw new Malformed(malformed);
    }
    ByteReader reader = new ByteReader(bytes, HEAD_BYTES, bytes.length);
    List<Entry> entries = new ArrayList<>();
    Checker checker = new Checker();
    long left = contentBytes - size;
    while (reader.remaining() > 0) {
      if (entries.size() == ENTRIES_MAX) {
        throw new Malformed("the list of files is too long");
      }
      int kind = reader.u8();
      long depth = reader.varint();
      byte[] name = reader.bytes(reader.u8());
      long bytesOfIt = kind == Kind.DIRECTORY.ordinal() ? 0 : reader.varint();
      if (!reader.isOk() || kind >= KINDS.length) {
        throw new Malformed(malformed);
      }
      String text = ContentTerms.utf8(name);
      checker.check(kind, depth, text, name);
      if (bytesOfIt < 0 || bytesOfIt > left) {
        throw new Malformed("the files of the list are not what is in the content");
      }
      left -= bytesOfIt;
      entries.add(new Entry(KINDS[kind], (int) depth, text, bytesOfIt));
    }
    if (left != 0) {
      throw new Malformed("the files of the list are not what is in the content");
    }
    return new FileList(entries);
  }

  /** Looks at one entry behind the other. */
  private static final class Checker {
    private static final byte[] NONE = new byte[0];

    private final List<byte[]> open = new ArrayList<>(List.of(NONE)); // by depth: the last name there

    void check(int kind, long depth, String text, byte[] name) throws Malformed {
      if (text == null || !isEntryName(text)) {
        throw new Malformed("a name in the list of files cannot be one");
      }
      if (depth < 0 || depth > DEPTH_MAX) {
        throw new Malformed("the list of files has too many directories in each other");
      }
      // Names above it, and the one before it in the same directory, if it has one.
      if (depth >= open.size()) {
        throw new Malformed("the list of files has a file in what is no directory");
      }
      int at = (int) depth;
      int order = Arrays.compareUnsigned(open.get(at), name);
      if (order == 0) {
        throw new Malformed("the list of files has a name twice");
      }
      if (order > 0) {
        throw new Malformed("the list of files is not in order");
      }
      open.set(at, name);
      open.subList(at + 1, open.size()).clear();
      if (kind == Kind.DIRECTORY.ordinal()) {
        open.add(NONE);
      }
    }
  }
}
