package io.spindle.protocol;

import io.spindle.Name;
import java.util.Arrays;

/** Frames as they are written: bytes that grow. */
public class Output {
  public static final int HEAD_BYTES = 4;

  public byte[] bytes;
  public int size;

  public Output() {
    this(new byte[0]);
  }

  public Output(byte[] bytes) {
    this.bytes = bytes;
  }

  public void ensure(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, Math.max(256, bytes.length + (bytes.length >> 1))));
    }
  }

  public void u8(int value) {
    ensure(1);
    bytes[size++] = (byte) value;
  }

  private void fixed(long value, int count) {
    ensure(count);
    for (int i = 0; i < count; i++) {
      bytes[size + i] = (byte) (value >> (8 * i));
    }
    size += count;
  }

  public void u16(int value) {
    fixed(value, 2);
  }

  public void u32(int value) {
    fixed(value, 4);
  }

  public void u64(long value) {
    fixed(value, 8);
  }

  public void varint(long value) {
    ensure(10);
    while ((value & ~0x7fL) != 0) {
      bytes[size++] = (byte) (value | 0x80);
      value >>>= 7;
    }
    bytes[size++] = (byte) value;
  }

  /** Of 32 bits without a sign. */
  public void varint32(int value) {
    varint(value & 0xffffffffL);
  }

  public void bytes(byte[] from, int at, int count) {
    ensure(count);
    System.arraycopy(from, at, bytes, size, count);
    size += count;
  }

  public void bytes(byte[] all) {
    bytes(all, 0, all.length);
  }

  public void name(Name name) {
    ensure(1 + name.size());
    bytes[size] = (byte) name.size();
    name.copyTo(bytes, size + 1);
    size += 1 + name.size();
  }

  /** Room for the head of a frame, which `endFrame` fills in. Gives where it is. */
  public int beginFrame(int type) {
    ensure(HEAD_BYTES);
    bytes[size + 3] = (byte) type;
    size += HEAD_BYTES;
    return size - HEAD_BYTES;
  }

  public void endFrame(int head) {
    putLength(head, size - head - HEAD_BYTES);
  }

  public void putLength(int head, int length) {
    bytes[head] = (byte) length;
    bytes[head + 1] = (byte) (length >> 8);
    bytes[head + 2] = (byte) (length >> 16);
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  public static int frameLength(byte[] bytes, int at) {
    return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16;
  }
}
