package io.spindle.protocol;

import io.spindle.Name;
import java.util.Arrays;

/** Frames as they are written: bytes that grow. */
class Output {
  static final int HEAD_BYTES = 4;

  byte[] bytes;
  int size;

  Output() {
    this(new byte[0]);
  }

  Output(byte[] bytes) {
    this.bytes = bytes;
  }

  void ensure(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, Math.max(256, bytes.length + (bytes.length >> 1))));
    }
  }

  void u8(int value) {
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

  void u16(int value) {
    fixed(value, 2);
  }

  void u32(int value) {
    fixed(value, 4);
  }

  void u64(long value) {
    fixed(value, 8);
  }

  void varint(long value) {
    ensure(10);
    while ((value & ~0x7fL) != 0) {
      bytes[size++] = (byte) (value | 0x80);
      value >>>= 7;
    }
    bytes[size++] = (byte) value;
  }

  /** Of 32 bits without a sign. */
  void varint32(int value) {
    varint(value & 0xffffffffL);
  }

  void bytes(byte[] from, int at, int count) {
    ensure(count);
    System.arraycopy(from, at, bytes, size, count);
    size += count;
  }

  void bytes(byte[] all) {
    bytes(all, 0, all.length);
  }

  void name(Name name) {
    ensure(1 + name.size());
    bytes[size] = (byte) name.size();
    name.copyTo(bytes, size + 1);
    size += 1 + name.size();
  }

  /** Room for the head of a frame, which `endFrame` fills in. Gives where it is. */
  int beginFrame(int type) {
    ensure(HEAD_BYTES);
    bytes[size + 3] = (byte) type;
    size += HEAD_BYTES;
    return size - HEAD_BYTES;
  }

  void endFrame(int head) {
    putLength(head, size - head - HEAD_BYTES);
  }

  void putLength(int head, int length) {
    bytes[head] = (byte) length;
    bytes[head + 1] = (byte) (length >> 8);
    bytes[head + 2] = (byte) (length >> 16);
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  static int frameLength(byte[] bytes, int at) {
    return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16;
  }
}
