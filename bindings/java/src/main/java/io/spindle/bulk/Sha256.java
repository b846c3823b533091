package io.spindle.bulk;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 (FIPS 180-4). */
public final class Sha256 {
  public static final int BYTES = 32;

  private Sha256() {}

  private static MessageDigest make() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException none) {
      throw new IllegalStateException(none); // every Java has it
    }
  }

  public static byte[] hash(byte[] bytes, int from, int count) {
    MessageDigest digest = make();
    digest.update(bytes, from, count);
    return digest.digest();
  }
}
